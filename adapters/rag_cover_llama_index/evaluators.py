"""rag_cover's measures as LlamaIndex's evaluators: coverage, groundedness, utility, complexity, and any other.

    evaluator = SubQuestionCoverageEvaluator()
    result = evaluator.evaluate_response("Is a heat pump worth it, and what does it cost?", response=engine.query(…))
    print(result.score, result.feedback)

They judge by small local models by default, and take LlamaIndex's own models wherever they take any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from llama_index.core import PromptTemplate
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.indices.base import BaseIndex
from llama_index.core.llms import LLM
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.retrievers import BaseRetriever

from rag_cover import (
    ComplexityMeasure,
    CoverageMeasure,
    GroundednessMeasure,
    Measure,
    MeasureResult,
    Models,
    Passage,
    UtilityMeasure,
)
from rag_cover.backends import Embedder, Entailer, Generator, Locator, Receiver, Relevance, Retriever, Scorer
from rag_cover.belief import ReferenceSource, TraceUtility
from rag_cover.complexity import Complexity
from rag_cover.coverage import CoverageResult, Decomposer, DecompositionPrompts, GeneratedDecomposer
from rag_cover.grounding import GroundednessResult
from rag_cover.integration import (
    ComplexityScoring,
    CoverageScoring,
    GroundednessScoring,
    LazyModels,
    MeasureScoring,
    UtilityScoring,
)
from rag_cover_llama_index.host_terms import take_host_term
from rag_cover_llama_index.models import generator_of, models_of
from rag_cover_llama_index.results import (
    ComplexityEvaluationResult,
    CoverageEvaluationResult,
    GroundednessEvaluationResult,
    MeasureEvaluationResult,
    UtilityEvaluationResult,
)
from rag_cover_llama_index.trace_evaluators import TraceEvaluator

__all__ = [
    "GroundednessEvaluator",
    "MeasureEvaluator",
    "RetrievalComplexityEvaluator",
    "RetrievalUtilityEvaluator",
    "SubQuestionCoverageEvaluator",
]


class SubQuestionCoverageEvaluator(TraceEvaluator[CoverageEvaluationResult, CoverageResult]):
    """Measures which core sub-questions an answer covers, and where each of the others was lost (coverage paper, §3).

    The score is the share of core sub-questions that the answer covers, in [0, 1]; where none is core the result is invalid.
    Needs a response; without contexts it is not known where a sub-question was lost. Sub-questions are made where none are
    given, by rules or by the generator; to compare pipelines, give both the same.

    Args:
        judge: decides which questions a text answers: the name of a judge, one of rag_cover's, or a LlamaIndex ``LLM``.
        locator: finds the fragment that does; the judge, where it can.
        generator: splits questions, unless there is a decomposer.
        decomposer: splits questions; as in `rag_cover.Models`, or an ``LLM``.
        embedder: types sub-questions without a role; the judge, where it can.
        corpus: is searched for what was not retrieved: a retriever or an index of the framework, passages, or a file of them.
        measure: the threshold of the judge, and the rest of how it is measured.
        fail_under: the score below which an answer does not pass; None: ``passing`` is None.
        llm: LlamaIndex's word for the ``judge``.
        embed_model: LlamaIndex's word for the ``embedder``.

    Raises:
        InvalidValueError: an argument out of range.
    """

    result_class = CoverageEvaluationResult
    carried = "coverage"

    def __init__(  # noqa: PLR0913  # all by name
        self,
        *,
        judge: str | Scorer | LLM = "embedded",
        locator: str | Locator | LLM | None = None,
        generator: str | Generator | LLM | None = None,
        decomposer: str | Path | Generator | Decomposer | LLM | None = None,
        embedder: str | Embedder | BaseEmbedding | None = None,
        corpus: BaseIndex[Any] | BaseRetriever | Retriever | Sequence[Passage] | Path | str | None = None,
        measure: CoverageMeasure | None = None,
        fail_under: float | None = None,
        llm: LLM | None = None,
        embed_model: BaseEmbedding | None = None,
    ) -> None:
        judge = take_host_term(judge, "judge", "embedded", llm=llm)
        embedder = take_host_term(embedder, "embedder", None, embed_model=embed_model)
        self._named = models_of(
            judge=judge, locator=locator, generator=generator, decomposer=decomposer, embedder=embedder, corpus=corpus
        )
        self._writer = _writer_in(self._named)
        self._prompts = DecompositionPrompts.read()
        super().__init__(CoverageScoring(measure or CoverageMeasure(), fail_under), self._lazy())

    def _lazy(self) -> LazyModels:
        return LazyModels.of(self._named, CoverageMeasure(), complete=self._with_prompts)

    def _with_prompts(self, opened: Models) -> Models:
        if self._writer is None:
            return opened
        embedder = opened.embedder if isinstance(opened.embedder, Embedder) else None
        splits = GeneratedDecomposer(generator_of(self._writer), embedder=embedder, prompts=self._prompts)
        return replace(opened, decomposer=splits)

    def _get_prompts(self) -> PromptDictType:
        """Return the instructions of the generator that splits questions; none where rules or a function do."""
        return {} if self._writer is None else {name: PromptTemplate(text) for name, text in asdict(self._prompts).items()}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        templates = {name: template.get_template() for name, template in prompts.items() if name in self._get_prompts()}
        if templates:
            self._prompts = replace(self._prompts, **templates)
            self._models = self._lazy()


class GroundednessEvaluator(TraceEvaluator[GroundednessEvaluationResult, GroundednessResult]):
    """Measures which sentences of an answer its passages entail.

    The score is the share of the answer's sentences that some passage supports, in [0, 1]; an answer that claims nothing has an
    invalid result. Needs a response and contexts.

    Args:
        entailer: decides whether one text follows from another: the name of a model, or one of rag_cover's.
        measure: the threshold from which a sentence is supported.
        fail_under: the score below which an answer does not pass; None: ``passing`` is None.

    Raises:
        InvalidValueError: an argument out of range.
    """

    result_class = GroundednessEvaluationResult
    carried = "groundedness"

    def __init__(
        self,
        *,
        entailer: str | Entailer = "embedded",
        measure: GroundednessMeasure | None = None,
        fail_under: float | None = None,
    ) -> None:
        scoring = GroundednessScoring(measure or GroundednessMeasure(), fail_under)
        super().__init__(scoring, LazyModels.of(models_of(entailer=entailer), scoring.measure))


class RetrievalUtilityEvaluator(TraceEvaluator[UtilityEvaluationResult, TraceUtility]):
    """Measures the utility of each retrieval step: how far it moved a reader's belief toward a right answer (ΔSePer).

    The score is that of all steps together, in [-1, 1]; below 0 they did harm. Needs contexts, and a gold answer. Without one
    the answer itself stands in for it, which tells self-consistency and not correctness, and the feedback says so.

    Args:
        receiver: the model whose belief is measured: the name of a model, one of rag_cover's, or a LlamaIndex ``LLM``.
        entailer: decides whether two answers mean the same: the name of a model, or one of rag_cover's.
        references: ``"gold"`` or ``"answer"`` takes nothing else; None: gold answers where there are any.
        measure: how many answers are sampled, and the rest of how it is measured (`rag_cover.belief.step_utilities`).
        fail_under: the score below which retrieval does not pass; None: ``passing`` is None.
        llm: LlamaIndex's word for the ``receiver``.

    Raises:
        InvalidValueError: an argument out of range.
    """

    result_class = UtilityEvaluationResult
    carried = "utility"

    def __init__(
        self,
        *,
        receiver: str | Receiver | LLM = "embedded",
        entailer: str | Entailer = "embedded",
        references: ReferenceSource | None = None,
        measure: UtilityMeasure | None = None,
        fail_under: float | None = None,
        llm: LLM | None = None,
    ) -> None:
        receiver = take_host_term(receiver, "receiver", "embedded", llm=llm)
        scoring = UtilityScoring(measure or UtilityMeasure(), references, fail_under)
        named = models_of(receiver=receiver, entailer=entailer)
        super().__init__(scoring, LazyModels.of(named, scoring.measure))


class RetrievalComplexityEvaluator(TraceEvaluator[ComplexityEvaluationResult, Complexity]):
    """Measures how complex a question is for what was retrieved (RRCP): does one passage answer it, is all of it addressed?

    The score is complexity, in [0, 1], so that **lower is easier**: P(complex) where it was fitted for the judge, as for the
    embedded one, else 1 - P(the best passage answers), and the feedback says which. Where nothing was retrieved the result is
    invalid. Needs contexts; with references a right answer is told by them.

    Args:
        judge: decides whether a passage answers the question: the name of a judge, one of rag_cover's, or a LlamaIndex ``LLM``.
        relevance: decides which words of the question a passage is about; the judge, where it can.
        measure: the thresholds, or a calibration of your own.
        fail_over: the score above which a question does not pass; None: ``passing`` is None.
        llm: LlamaIndex's word for the ``judge``.

    Raises:
        InvalidValueError: an argument out of range.
    """

    result_class = ComplexityEvaluationResult
    carried = "complexity"

    def __init__(
        self,
        *,
        judge: str | Scorer | LLM = "embedded",
        relevance: str | Relevance | None = None,
        measure: ComplexityMeasure | None = None,
        fail_over: float | None = None,
        llm: LLM | None = None,
    ) -> None:
        judge = take_host_term(judge, "judge", "embedded", llm=llm)
        scoring = ComplexityScoring(measure or ComplexityMeasure(), fail_over)
        named = models_of(judge=judge, relevance=relevance)
        super().__init__(scoring, LazyModels.of(named, scoring.measure))


def _writer_in(models: Models) -> str | Generator | None:
    """Return the generator that splits questions, None where something else does."""
    chosen = models.generator if models.decomposer is None else models.decomposer
    return chosen if isinstance(chosen, Generator) or (isinstance(chosen, str) and chosen != "rules") else None


class MeasureEvaluator(TraceEvaluator[MeasureEvaluationResult, MeasureResult]):
    """Evaluates by any measure: one of rag_cover's, one that a plugin brings, or your own.

    The score is the number that stands for the measure's result (`rag_cover.Measure.score`), the feedback its reason.

    Args:
        measure: the name of an installed measure, or a measure (`rag_cover.measure_of`).
        models: what it asks, as `rag_cover_llama_index.models_of` makes it; the embedded models by default.
        fail_under: the score below which a trace does not pass; None: ``passing`` is None.

    Raises:
        InvalidValueError: there is no such measure.
    """

    result_class = MeasureEvaluationResult
    carried = "result"

    def __init__(
        self,
        measure: str | Measure,
        *,
        models: Models | None = None,
        fail_under: float | None = None,
    ) -> None:
        scoring = MeasureScoring.of(measure, fail_under)
        super().__init__(scoring, LazyModels.of(models or Models(receiver="embedded"), scoring.measure))
