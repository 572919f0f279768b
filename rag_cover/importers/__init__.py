"""Files that other tools write, read as traces: `import_traces` knows each format by sight."""

from rag_cover.importers.formats import FORMATS, import_traces

__all__ = ["FORMATS", "import_traces"]
