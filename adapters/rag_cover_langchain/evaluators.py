"""rag_cover's measures as LangChain's evaluators: coverage, rating, groundedness, utility, complexity, and any other.

    evaluator = SubQuestionCoverageEvaluator()
    evaluator(inputs={"question": "…"}, outputs=chain.invoke({"question": "…"}))["score"]
    langsmith.evaluate(chain, data=examples, evaluators=[evaluator], upload_results=False)

They judge by small local models by default, and take LangChain's own models wherever they take any.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore

from rag_cover import ComplexityMeasure, CoverageMeasure, GroundednessMeasure, Measure, Models, Passage, UtilityMeasure
from rag_cover.backends import Embedder, Entailer, Generator, Locator, Receiver, Relevance, Retriever, Scorer
from rag_cover.belief import ReferenceSource
from rag_cover.coverage import Decomposer
from rag_cover.integration import (
    ComplexityScoring,
    CoverageScoring,
    GroundednessScoring,
    LazyModels,
    MeasureScoring,
    RatingScoring,
    UtilityScoring,
)
from rag_cover_langchain.models import Writer, models_of
from rag_cover_langchain.trace_evaluators import TraceEvaluator

__all__ = [
    "CoverageRatingEvaluator",
    "GroundednessEvaluator",
    "MeasureEvaluator",
    "RetrievalComplexityEvaluator",
    "RetrievalUtilityEvaluator",
    "SubQuestionCoverageEvaluator",
]


class SubQuestionCoverageEvaluator(TraceEvaluator):
    """Measures which core sub-questions an answer covers, and where each of the others was lost (coverage paper, §3).

    The score is the share of core sub-questions that the answer covers, in [0, 1]; where none is core there is no score. Needs
    an answer; without contexts it is not known where a sub-question was lost. Sub-questions are made where none are given, by
    rules or by the generator; to compare pipelines, give both the same.

    Setup:
        ``pip install 'rag-cover[langchain]'``. No key and no network are needed.

    Instantiate: ::

            evaluator = SubQuestionCoverageEvaluator()

    Invoke: ::

            evaluator(
                inputs={"question": "Why is the sky blue?"},
                outputs={"answer": "Air scatters blue light.", "context": documents},
            )

    Args:
        judge: decides which questions a text answers: the name of a judge, one of rag_cover's, or a chat model.
        locator: finds the fragment that does; the judge, where it can.
        generator: splits questions, unless there is a decomposer.
        decomposer: splits questions; as in `rag_cover.Models`, or a chat model.
        embedder: types sub-questions without a role; the judge, where it can.
        corpus: is searched for what was not retrieved: a retriever or an index of the framework, passages, or a file of them.
        measure: the threshold of the judge, and the rest of how it is measured.
        fail_under: the score below which an answer does not pass; None: the metadata has no ``passing``.

    Raises:
        InvalidValueError: an argument out of range.
    """

    key = "coverage"

    def __init__(
        self,
        *,
        judge: str | Scorer | Writer = "embedded",
        locator: str | Locator | Writer | None = None,
        generator: str | Generator | Writer | None = None,
        decomposer: str | Path | Generator | Decomposer | Writer | None = None,
        embedder: str | Embedder | Embeddings | None = None,
        corpus: VectorStore | BaseRetriever | Retriever | Sequence[Passage] | Path | str | None = None,
        measure: CoverageMeasure | None = None,
        fail_under: float | None = None,
    ) -> None:
        scoring = CoverageScoring(measure or CoverageMeasure(), fail_under)
        named = models_of(
            judge=judge, locator=locator, generator=generator, decomposer=decomposer, embedder=embedder, corpus=corpus
        )
        super().__init__(scoring, LazyModels.of(named, scoring.measure))


class CoverageRatingEvaluator(TraceEvaluator):
    """Rates an answer by what it covers: core sub-questions for it, background ones half, follow-up ones against it.

    The score is the rating of the coverage paper (§4.3, §5), in [-1, 1.5] with its weights; where no sub-question has a role
    there is no score. Needs an answer. Sub-questions are made where none are given, and those made by rules are mostly core:
    ratings of different pipelines need the same sub-questions.

    Args:
        judge: decides which questions a text answers: the name of a judge, one of rag_cover's, or a chat model.
        locator: finds the fragment that does; the judge, where it can.
        generator: splits questions, unless there is a decomposer.
        decomposer: splits questions; as in `rag_cover.Models`, or a chat model.
        embedder: types sub-questions without a role; the judge, where it can.
        measure: the weights of the roles, and the rest of how it is measured.
        fail_under: the score below which an answer does not pass; None: the metadata has no ``passing``.

    Raises:
        InvalidValueError: an argument out of range.
    """

    key = "coverage_rating"

    def __init__(
        self,
        *,
        judge: str | Scorer | Writer = "embedded",
        locator: str | Locator | Writer | None = None,
        generator: str | Generator | Writer | None = None,
        decomposer: str | Path | Generator | Decomposer | Writer | None = None,
        embedder: str | Embedder | Embeddings | None = None,
        measure: CoverageMeasure | None = None,
        fail_under: float | None = None,
    ) -> None:
        scoring = RatingScoring(measure or CoverageMeasure(), fail_under)
        named = models_of(judge=judge, locator=locator, generator=generator, decomposer=decomposer, embedder=embedder)
        super().__init__(scoring, LazyModels.of(named, scoring.measure))


class GroundednessEvaluator(TraceEvaluator):
    """Measures which sentences of an answer its passages entail.

    The score is the share of the answer's sentences that some passage supports, in [0, 1]; an answer that claims nothing has no
    score. Needs an answer and contexts.

    Args:
        entailer: decides whether one text follows from another: the name of a model, or one of rag_cover's.
        measure: the threshold from which a sentence is supported.
        fail_under: the score below which an answer does not pass; None: the metadata has no ``passing``.

    Raises:
        InvalidValueError: an argument out of range.
    """

    key = "groundedness"

    def __init__(
        self,
        *,
        entailer: str | Entailer = "embedded",
        measure: GroundednessMeasure | None = None,
        fail_under: float | None = None,
    ) -> None:
        scoring = GroundednessScoring(measure or GroundednessMeasure(), fail_under)
        super().__init__(scoring, LazyModels.of(models_of(entailer=entailer), scoring.measure))


class RetrievalUtilityEvaluator(TraceEvaluator):
    """Measures the utility of each retrieval step: how far it moved a reader's belief toward a right answer (ΔSePer).

    The score is that of all steps together, in [-1, 1]; below 0 they did harm. Needs contexts, and a gold answer. Without one
    the answer itself stands in for it, which tells self-consistency and not correctness, and the comment says so.

    Args:
        receiver: the model whose belief is measured: the name of a model, one of rag_cover's, or a chat model.
        entailer: decides whether two answers mean the same: the name of a model, or one of rag_cover's.
        references: ``"gold"`` or ``"answer"`` takes nothing else; None: gold answers where there are any.
        measure: how many answers are sampled, and the rest of how it is measured (`rag_cover.belief.step_utilities`).
        fail_under: the score below which retrieval does not pass; None: the metadata has no ``passing``.

    Raises:
        InvalidValueError: an argument out of range.
    """

    key = "delta_seper"

    def __init__(
        self,
        *,
        receiver: str | Receiver | Writer = "embedded",
        entailer: str | Entailer = "embedded",
        references: ReferenceSource | None = None,
        measure: UtilityMeasure | None = None,
        fail_under: float | None = None,
    ) -> None:
        scoring = UtilityScoring(measure or UtilityMeasure(), references, fail_under)
        named = models_of(receiver=receiver, entailer=entailer)
        super().__init__(scoring, LazyModels.of(named, scoring.measure))


class RetrievalComplexityEvaluator(TraceEvaluator):
    """Measures how complex a question is for what was retrieved (RRCP): does one passage answer it, is all of it addressed?

    The score is complexity, in [0, 1], so that **lower is easier**: P(complex) where it was fitted for the judge, as for the
    embedded one, else 1 - P(the best passage answers), and the comment says which. Where nothing was retrieved there is no
    score. Needs contexts; with references a right answer is told by them.

    Args:
        judge: decides whether a passage answers the question: the name of a judge, one of rag_cover's, or a chat model.
        relevance: decides which words of the question a passage is about; the judge, where it can.
        measure: the thresholds, or a calibration of your own.
        fail_over: the score above which a question does not pass; None: the metadata has no ``passing``.

    Raises:
        InvalidValueError: an argument out of range.
    """

    key = "retrieval_complexity"

    def __init__(
        self,
        *,
        judge: str | Scorer | Writer = "embedded",
        relevance: str | Relevance | None = None,
        measure: ComplexityMeasure | None = None,
        fail_over: float | None = None,
    ) -> None:
        scoring = ComplexityScoring(measure or ComplexityMeasure(), fail_over)
        named = models_of(judge=judge, relevance=relevance)
        super().__init__(scoring, LazyModels.of(named, scoring.measure))


class MeasureEvaluator(TraceEvaluator):
    """Evaluates by any measure: one of rag_cover's, one that a plugin brings, or your own.

    The score is the number that stands for the measure's result (`rag_cover.Measure.score`), the comment its reason.

    Args:
        measure: the name of an installed measure, or a measure (`rag_cover.measure_of`).
        models: what it asks, as `rag_cover_langchain.models_of` makes it; the embedded models by default.
        fail_under: the score below which a trace does not pass; None: the metadata has no ``passing``.

    Raises:
        InvalidValueError: there is no such measure.
    """

    def __init__(
        self,
        measure: str | Measure,
        *,
        models: Models | None = None,
        fail_under: float | None = None,
    ) -> None:
        scoring = MeasureScoring.of(measure, fail_under)
        self.key = scoring.measure.name
        super().__init__(scoring, LazyModels.of(models or Models(receiver="embedded"), scoring.measure))
