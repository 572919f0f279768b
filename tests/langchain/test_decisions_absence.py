"""Decision models where langchain-core has none."""

from __future__ import annotations

import importlib
import sys

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from rag_cover_langchain.decisions import MissingDecisionModelsError, decides, needs_decision_models


@pytest.fixture
def before_1_8(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide LangChain's decision models."""
    monkeypatch.setitem(sys.modules, "langchain_core.decisions", None)
    monkeypatch.delitem(sys.modules, "langchain_core.decisions.base", raising=False)
    monkeypatch.delitem(sys.modules, "rag_cover_langchain.decision_models", raising=False)


@pytest.mark.usefixtures("before_1_8")
def test_before_1_8_the_class_says_what_it_needs() -> None:
    with pytest.raises(MissingDecisionModelsError, match=r"pip install -U 'langchain-core>=1.8'"):
        importlib.import_module("rag_cover_langchain.decision_models")


@pytest.mark.usefixtures("before_1_8")
def test_before_1_8_nothing_decides() -> None:
    assert not decides(object())


def test_other_modules_are_missing_as_ever() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), needs_decision_models():
        importlib.import_module("no_such_module")
