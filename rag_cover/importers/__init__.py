"""Files that other tools write, read as traces: `import_traces` knows each format by sight; and people's labels."""

from rag_cover.importers.formats import FORMATS, import_traces
from rag_cover.importers.labels import LABEL_COLUMNS, read_labels

__all__ = ["FORMATS", "LABEL_COLUMNS", "import_traces", "read_labels"]
