"""LangChain's decision models (``langchain_core.decisions``, from 1.8 on): any of them as our judge, and ours as one of them.

`RagCoverDecisionModel` is in a module of its own, which before 1.8 says so: there is nothing to derive it from.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from langchain_core.runnables import Runnable, RunnableConfig
from numpy.typing import NDArray

from rag_cover.backends import ScoringItem
from rag_cover.errors import ModelFailedError, RagCoverError
from rag_cover.integration import identity_of
from rag_cover_langchain.generators import inmost
from rag_cover_langchain.tags import INTERNAL

__all__ = ["DecisionJudge", "MissingDecisionModelsError", "decides", "needs_decision_models"]

_CONFIG: RunnableConfig = {"tags": [INTERNAL]}
_ANSWERS = "Does the text contain a correct answer to the question?"
_ANSWERS_AS_GIVEN = "Does the text contain a correct answer to the question, one that agrees with the references?"
_ID = "correct"


class MissingDecisionModelsError(RagCoverError, ImportError):
    """The installed langchain-core is older than 1.8 and has no decision models."""

    def __init__(self) -> None:
        super().__init__(
            "Decision models came with langchain-core 1.8: pip install -U 'langchain-core>=1.8'", name="langchain_core"
        )


@dataclass(frozen=True, slots=True)
class DecisionJudge:
    """Judges by a decision model of LangChain's, one yes/no question for each item (`rag_cover.backends.Scorer`).

    The model is asked about ``{"question": …, "text": …, "references": […]}``, side by side where it answers a batch so; its
    calls are tagged ``rag_cover:internal``.

    Attributes:
        model: any ``BaseDecisionModel``, or one with retries or fallbacks.
        threshold: the probability from which a text counts as covering; decision models come with none.
    """

    model: Runnable[Any, Any]
    threshold: float = 0.5

    @property
    def name(self) -> str:
        """Return the model's name."""
        model = inmost(self.model)
        return str(getattr(model, "model", type(model).__name__))

    @property
    def fingerprint(self) -> str:
        """Return what names this model in caches: its class and its name."""
        model = inmost(self.model)
        return identity_of(model, self.name, framework="langchain")

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        """Return (n,) P(the text contains a correct answer to the question, given the references); they may be empty.

        Raises:
            ModelFailedError: the model failed, or left a question without an answer.
        """
        try:
            responses = self.model.batch([_request(item) for item in items], _CONFIG)
            probabilities = [response.nouls[_ID].noul for response in responses]
        except Exception as broken:  # the plugin boundary
            message = f"the decision model {self.name!r} failed: {broken}"
            raise ModelFailedError(message, kind=type(broken).__name__) from broken
        return np.array(probabilities, dtype=np.float32)


def decides(model: object) -> bool:
    """Return whether an object is a decision model, also one with retries; False where decision models are not imported."""
    decisions = sys.modules.get("langchain_core.decisions.base")
    return decisions is not None and isinstance(inmost(model), decisions.BaseDecisionModel)


@contextmanager
def needs_decision_models() -> Iterator[None]:
    """Turn the absence of LangChain's decision models, and nothing else, into a sentence that says what to install.

    Raises:
        MissingDecisionModelsError: langchain-core has none.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name != "langchain_core.decisions":
            raise
        raise MissingDecisionModelsError from missing


def _request(item: ScoringItem) -> dict[str, Any]:
    from langchain_core.decisions import Noul  # type: ignore[import-not-found, unused-ignore]  # from 1.8 on

    given = {"references": list(item.references)} if item.references else {}
    asked = Noul(instructions=_ANSWERS_AS_GIVEN if item.references else _ANSWERS)
    return {"state": {"question": item.question, "text": item.text} | given, "questions": {_ID: asked}}
