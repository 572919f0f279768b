"""A server that refuses arguments that a tool does not have; the SDK's own ignores them. Needs the extra ``mcp``."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from rag_cover.errors import nearest
from rag_cover.reports.sanitise import clip, visible

__all__ = ["StrictServer"]

_LONGEST_NAME = 60


class StrictServer(MCPServer[Any]):
    """Calls a tool only with arguments that it has: a misspelt one would be left out, and nobody would know."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None) -> Any:
        """Call a tool.

        Raises:
            ToolError: an argument that the tool does not have, or what the SDK refuses.
        """
        known = {tool.name: [*tool.input_schema.get("properties", {})] for tool in await self.list_tools()}
        for argument in arguments:
            if argument not in known.get(name, arguments):
                said = clip(visible(argument), _LONGEST_NAME)
                has = f"Its arguments: {', '.join(known[name])}" if known[name] else "It has no arguments"
                message = f"{name} has no argument {said!r}.{nearest(said, known[name])} {has}"
                raise ToolError(message)
        return await super().call_tool(name, arguments, context)
