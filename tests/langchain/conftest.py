"""What the LangChain adapter's tests share; they are skipped where LangChain is not installed."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable
    from langchain_core.vectorstores import InMemoryVectorStore

    from rag_cover_langchain import RagCoverCallbackHandler
    from tests.langchain.parts import ScriptedChatModel


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run the coroutines of LangChain's own suites, which mark none of them for a plugin to run."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in wanted}))
    return True


@pytest.fixture
def store() -> InMemoryVectorStore:
    """The small corpus, found by shared words."""
    from tests.langchain.parts import corpus_store

    return corpus_store()


@pytest.fixture
def model() -> ScriptedChatModel:
    """A chat model that answers about the sky."""
    from tests.langchain.parts import ScriptedChatModel

    return ScriptedChatModel(script={"sky": "The sky is blue because air scatters blue light."})


@pytest.fixture
def handler() -> Iterator[RagCoverCallbackHandler]:
    """A handler that only records."""
    from tests.langchain.recordings import recorder

    with recorder() as made:
        yield made


@pytest.fixture
def chain(store: InMemoryVectorStore, model: BaseChatModel) -> Runnable[str, str]:
    """The chain that most recordings are of."""
    from tests.langchain.recordings import rag

    return rag(store.as_retriever(search_kwargs={"k": 2}), model)
