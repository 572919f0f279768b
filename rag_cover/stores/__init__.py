"""Where traces, results and labels are kept: trace files, corpora, nuggets and labels (JSONL), evaluations (SQLite)."""

from rag_cover.stores.jsonl import read_traces, write_traces
from rag_cover.stores.labels import (
    Correction,
    Label,
    append_labels,
    current_labels,
    cut_torn_line,
    labels_beside,
    read_corrections,
    read_label_file,
)
from rag_cover.stores.nugget_files import read_assignments, read_nuggets, write_assignments, write_nuggets
from rag_cover.stores.origin import Origin
from rag_cover.stores.passages import read_passages
from rag_cover.stores.sqlite import Store, StoredMeta, StoredResults

__all__ = [
    "Correction",
    "Label",
    "Origin",
    "Store",
    "StoredMeta",
    "StoredResults",
    "append_labels",
    "current_labels",
    "cut_torn_line",
    "labels_beside",
    "read_assignments",
    "read_corrections",
    "read_label_file",
    "read_nuggets",
    "read_passages",
    "read_traces",
    "write_assignments",
    "write_nuggets",
    "write_traces",
]
