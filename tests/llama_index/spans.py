"""Which of LlamaIndex's spans are under which."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.span import BaseSpan
from llama_index_instrumentation.span_handlers import BaseSpanHandler
from pydantic import PrivateAttr

__all__ = ["Parents", "watched_spans"]


class Parents(BaseSpanHandler[BaseSpan]):
    """Remembers every span's parent."""

    _parents: dict[str, str | None] = PrivateAttr(default_factory=dict)

    def new_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        parent_span_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> BaseSpan | None:
        self._parents[id_] = parent_span_id
        return None

    def prepare_to_exit_span(self, *args: Any, **kwargs: Any) -> BaseSpan | None:
        return None

    def prepare_to_drop_span(self, *args: Any, **kwargs: Any) -> BaseSpan | None:
        return None

    def of(self, name: str) -> list[str]:
        """Name the parent of each span of this name."""
        return [str(parent).partition("-")[0] for id_, parent in self._parents.items() if id_.partition("-")[0] == name]


@contextmanager
def watched_spans() -> Iterator[Parents]:
    """Watch the spans that are opened meanwhile."""
    handler, dispatcher = Parents(), get_dispatcher()
    dispatcher.add_span_handler(handler)
    try:
        yield handler
    finally:
        dispatcher.span_handlers.remove(handler)
