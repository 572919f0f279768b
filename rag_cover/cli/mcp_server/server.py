"""The tools as a server of the Model Context Protocol, by the protocol's own SDK, over standard input and output."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

from pydantic import BaseModel, Field

from rag_cover.cli.mcp_server.answers import (
    ComparedPipelines,
    EvaluatedTraces,
    ListedFiles,
    RouteOfQuestion,
    WorstQuestions,
)
from rag_cover.cli.mcp_server.folder import OpenFolder
from rag_cover.cli.mcp_server.tools import MOST_QUESTIONS, NOTICE, Toolbox
from rag_cover.cli.versions import version_line
from rag_cover.errors import RagCoverError, needs_extra
from rag_cover.importers.formats import UNKNOWN_FORMAT_HINT
from rag_cover.reports.sanitise import clip, visible

if TYPE_CHECKING:
    from mcp.server import MCPServer

__all__ = ["make_server"]

_INSTRUCTIONS = f"""rag_cover tells what RAG answers leave out and where it was lost. Begin with list_files; evaluate a trace
file or a store, then look at worst_questions. compare holds a change against a baseline. {NOTICE}"""

_LONGEST_ERROR = 1000
_CONVERT = (
    "A tool call can name no format and map no columns: rename its columns, or have it converted on the command line, "
    "'rag-cover convert FILE traces.jsonl --column question=COLUMN'"
)
_Answered = TypeVar("_Answered", bound=BaseModel)
_Tool = Callable[..., _Answered]


class _Decorator(Protocol):
    def __call__(self, tool: _Tool[_Answered], /) -> _Tool[_Answered]: ...


_File = Annotated[str, Field(description="The path of a file in the folder, as list_files gives it.")]
_Count = Annotated[int, Field(ge=1, le=MOST_QUESTIONS)]
_NewFile = Annotated[str | None, Field(description="A file to make in the folder; only where the server may write.")]


def make_server(toolbox: Toolbox) -> MCPServer[Any]:
    """Make the server; `MCPServer.run` serves it.

    Raises:
        MissingExtraError: the package ``mcp`` is not installed.
    """
    with needs_extra("mcp", "mcp"):
        from mcp.server.mcpserver.exceptions import ToolError
        from mcp.types import ToolAnnotations

        from rag_cover.cli.mcp_server.strict import StrictServer
    version = version_line().split()[-1]
    server: MCPServer[Any] = StrictServer("rag_cover", instructions=_INSTRUCTIONS, version=version, log_level="WARNING")
    in_words = _error_teller(ToolError, toolbox.folder)
    reading = ToolAnnotations(read_only_hint=not toolbox.folder.writable, open_world_hint=False)

    @server.tool(annotations=reading)
    @in_words
    def list_files() -> ListedFiles:
        """List the files of the folder that may hold traces, passages or results."""
        return ListedFiles.model_validate(toolbox.list_files())

    @server.tool(annotations=reading)
    @in_words
    def evaluate(file: _File, store: _NewFile = None, report: _NewFile = None) -> EvaluatedTraces:
        """Measure what the answers of a trace file cover, leave out and make up, or read a store (.sqlite) of results.

        Returns the headline, each metric with its 95% interval, and where core sub-questions were lost.
        """
        return EvaluatedTraces.model_validate(toolbox.evaluate(file, store=store, report=report))

    @server.tool(annotations=reading)
    @in_words
    def worst_questions(file: _File, n: _Count = 5) -> WorstQuestions:
        """Tell the questions that leave most unanswered, and at which stage each sub-question was lost."""
        return WorstQuestions.model_validate(toolbox.worst_questions(file, n=n))

    @server.tool(annotations=reading)
    @in_words
    def compare(baseline: _File, candidate: _File) -> ComparedPipelines:
        """Compare two trace files or stores on the questions they share: differences with p-values, questions that changed."""
        return ComparedPipelines.model_validate(toolbox.compare(baseline, candidate))

    @server.tool(annotations=reading)
    @in_words
    def route(question: str, corpus: _File) -> RouteOfQuestion:
        """Tell whether one passage of a corpus (.jsonl) answers a question, several only together, or none, and why."""
        return RouteOfQuestion.model_validate(toolbox.route(question, corpus))

    return server


def _error_teller(kind: type[Exception], folder: OpenFolder) -> _Decorator:
    """Make tools answer with the words of an error, as an error of the protocol's kind, without paths of this machine."""

    def decorate(tool: _Tool[_Answered]) -> _Tool[_Answered]:
        @wraps(tool)
        def run(*args: Any, **options: Any) -> _Answered:
            try:
                return tool(*args, **options)
            except RagCoverError as error:
                said = str(error).replace(UNKNOWN_FORMAT_HINT, _CONVERT)
                raise kind(clip(visible(folder.hide(said)), _LONGEST_ERROR)) from error
            except OSError as error:
                message = f"a file could not be read or written: {error.strerror or type(error).__name__}"
                raise kind(message) from error

        return run

    return decorate
