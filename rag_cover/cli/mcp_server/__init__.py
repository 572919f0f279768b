"""The server of the Model Context Protocol: what a coding agent may ask of rag_cover, below one folder."""

from rag_cover.cli.mcp_server.folder import OpenFolder
from rag_cover.cli.mcp_server.server import make_server
from rag_cover.cli.mcp_server.tools import Toolbox

__all__ = ["OpenFolder", "Toolbox", "make_server"]
