"""Files that other tools write, read as traces: `import_traces` knows each format by sight; people's labels, and outcomes."""

from rag_cover.importers.formats import FORMATS, import_traces
from rag_cover.importers.labels import LABEL_COLUMNS, read_labels
from rag_cover.importers.outcomes import OUTCOME_COLUMNS, read_outcomes
from rag_cover.importers.python_values import read_any, trace_count

__all__ = [
    "FORMATS",
    "LABEL_COLUMNS",
    "OUTCOME_COLUMNS",
    "import_traces",
    "read_any",
    "read_labels",
    "read_outcomes",
    "trace_count",
]
