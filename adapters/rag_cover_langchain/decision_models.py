"""rag_cover's local models as a decision model of LangChain's: typed questions answered offline, with probabilities.

`rag_cover.integration.entailment_shares` explains how the statements of a question are weighed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, cast

from langchain_core.embeddings import Embeddings
from pydantic import ConfigDict, PrivateAttr, SkipValidation

from rag_cover.backends import Embedder, Entailer
from rag_cover.errors import InvalidValueError
from rag_cover.integration import LazyModels, Reconstructible, entailment_probability, entailment_shares
from rag_cover_langchain.decision_inputs import state_text
from rag_cover_langchain.decisions import needs_decision_models
from rag_cover_langchain.models import models_of

with needs_decision_models():
    from langchain_core.decisions import (  # type: ignore[import-not-found, unused-ignore]  # from 1.8 on
        BaseDecisionModel,
        Box,
        Choice,
        ChoiceAnswer,
        ClassifierResponse,
        Noul,
        NoulAnswer,
        Score,
        ScoreAnswer,
    )

__all__ = ["RagCoverDecisionModel"]


class RagCoverDecisionModel(Reconstructible, BaseDecisionModel):  # type: ignore[misc, unused-ignore]  # known from 1.8 on
    """Answers LangChain's typed questions by a local entailer and embedder: deterministic, offline, without tokens.

    - ``Choice``: a probability for each label, by how far its description (the label itself, where it has none) is borne out
      by the state; they sum to 1. ``confidence`` is that of the chosen label.
    - ``Score``: the same over the levels; the score is the expected level, ``confidence`` the likeliest level's probability.
    - ``Noul``: the share of ``criteria.true`` beside ``criteria.false``; with one alone, how far the state bears it out rather
      than contradicts it; with neither, the question with a "Yes." behind it takes its place.
    - ``Box``: refused.

    A state is written as text: messages as what they say, all else as JSON.

    Of 42 choices of our own, in English and not looked at before, the embedded judge got 37 right (majority 13); of 72 yes/no
    questions 45 (majority 36). It tells what a text is about, and hardly whether its writer agrees, hurries or threatens: for
    such questions name a larger ``entailer``, and choose thresholds on your own cases. Run
    ``benchmarks/judge/decisions.py`` for the table.

    Args:
        model: the judge that brings the entailer and the embedder, by name.
        entailer: in place of the judge's, by name or as an object.
        embedder: in place of the judge's, by name or as an object of rag_cover's or LangChain's; a judge that has none, goes
            by entailment alone.

    Raises:
        InvalidValueError: an object that cannot serve as what it is given as.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    model: str = "embedded"
    entailer: Annotated[str | Entailer | None, SkipValidation] = None
    embedder: Annotated[str | Embedder | Embeddings | None, SkipValidation] = None
    _models: LazyModels = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Keep the models, which are opened when they are first asked."""
        super().model_post_init(context)
        given = models_of(judge=self.model, entailer=self.entailer, embedder=self.embedder)
        self._models = LazyModels(given, ["entailer", "embedder"])

    @property
    def _provider(self) -> str:
        return "rag_cover"

    def _classify(self, state: object, questions: Mapping[str, Noul | Choice | Score | Box]) -> ClassifierResponse:
        text = state_text(state)
        answers = {name: self._answer(text, question) for name, question in questions.items()}
        return ClassifierResponse(model=self.model, answers=answers)

    def _answer(self, text: str, question: Noul | Choice | Score | Box) -> NoulAnswer | ChoiceAnswer | ScoreAnswer:
        match question:
            case Noul():
                return NoulAnswer(type="noul", noul=self._probability(text, question))
            case Choice():
                return self._choice(text, question)
            case Score():
                return self._score(text, question)
            case _:
                message = "a Box is found in an image, and rag_cover's judges read text only; ask a Noul, a Choice or a Score"
                raise InvalidValueError(message)

    def _choice(self, text: str, question: Choice) -> ChoiceAnswer:
        labels = list(question.criteria)
        statements = [label if said is None else state_text(said) for label, said in question.criteria.items()]
        shares = self._shares(text, statements)
        best = max(range(len(labels)), key=shares.__getitem__)
        by_label = dict(zip(labels, shares, strict=True))
        return ChoiceAnswer(type="choice", choice=labels[best], probabilities=by_label, confidence=shares[best])

    def _score(self, text: str, question: Score) -> ScoreAnswer:
        shares = self._shares(text, [state_text(level) for level in question.criteria])
        return ScoreAnswer(
            type="score",
            score=sum(level * share for level, share in enumerate(shares)),
            legend=dict(enumerate(question.criteria)),
            probabilities=dict(enumerate(shares)),
            confidence=max(shares),
        )

    def _probability(self, text: str, question: Noul) -> float:
        holds, fails = (None, None) if question.criteria is None else (question.criteria.true, question.criteria.false)
        if holds is not None and fails is not None:
            return self._shares(text, [state_text(holds), state_text(fails)])[0]
        if fails is not None:
            return 1 - entailment_probability(text, state_text(fails), entailer=self._entailer)
        statement = f"{state_text(question.instructions)} Yes." if holds is None else state_text(holds)
        return entailment_probability(text, statement, entailer=self._entailer)

    def _shares(self, text: str, statements: Sequence[str]) -> list[float]:
        embedder = cast("Embedder | None", self._models.get().embedder)
        numbers: list[float] = entailment_shares(text, statements, entailer=self._entailer, embedder=embedder).tolist()
        return numbers

    @property
    def _entailer(self) -> Entailer:
        opened = self._models.get().entailer
        if isinstance(opened, Entailer):
            return opened
        message = f"the judge {self.model!r} brings no entailer; name one, as RagCoverDecisionModel(entailer='embedded')"
        raise InvalidValueError(message)
