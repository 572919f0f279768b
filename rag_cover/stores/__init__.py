"""Where traces and results are kept: trace files (JSONL) and evaluations (SQLite)."""

from rag_cover.stores.jsonl import read_traces, write_traces
from rag_cover.stores.sqlite import Store, StoredMeta, StoredResults

__all__ = ["Store", "StoredMeta", "StoredResults", "read_traces", "write_traces"]
