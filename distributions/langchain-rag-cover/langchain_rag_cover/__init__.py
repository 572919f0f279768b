"""rag_cover for LangChain, under the name by which integrations of LangChain are found: all of `rag_cover_langchain`.

    from langchain_rag_cover import evaluate_pipeline

    evaluation = evaluate_pipeline(chain, ["What does a heat pump cost?"])

Some parts are imported only when they are asked for.
"""

from typing import TYPE_CHECKING

import rag_cover_langchain
from rag_cover_langchain import __all__ as __all__

if TYPE_CHECKING:
    from rag_cover_langchain import *  # noqa: F403  # for editors and type checkers: these names are all of its own


def __getattr__(name: str) -> object:
    """Return a part of `rag_cover_langchain`, some of which are imported only when they are asked for."""
    return getattr(rag_cover_langchain, name)


def __dir__() -> list[str]:
    """Name all parts."""
    return dir(rag_cover_langchain)
