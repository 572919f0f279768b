"""Where traces, passages and results are kept: trace files and corpora (JSONL), evaluations (SQLite)."""

from rag_cover.stores.jsonl import read_traces, write_traces
from rag_cover.stores.passages import read_passages
from rag_cover.stores.sqlite import Store, StoredMeta, StoredResults

__all__ = ["Store", "StoredMeta", "StoredResults", "read_passages", "read_traces", "write_traces"]
