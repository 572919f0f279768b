"""Recorded traces measured: which measures each of them can have, and who is asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

from rag_cover.belief import UtilityMeasure
from rag_cover.evaluation.blocks import chosen_measures, content_key, judge_among, measure_block, model_kinds
from rag_cover.evaluation.plan import without_texts
from rag_cover.known_measures import DEFAULT_MEASURES
from rag_cover.llm.session import LLMSession, bind_models
from rag_cover.measures import Measure, ModelKind, TraceResult
from rag_cover.plugin_manager import plugins
from rag_cover.redaction import Redaction
from rag_cover.registry import Models
from rag_cover.traces import Trace

__all__ = ["LIVE_MODELS", "Measurement"]

LIVE_MODELS = Models(receiver="embedded")
"""What a recording asks unless told otherwise: all of it local."""


class Measurement:
    """Measures traces as they come; its models are opened by `open`, or when the first trace is measured.

    ``measures`` are names or values; None is all of them. Utility, where it is asked for by its name, is told against the gold
    answers of the questions that have some, and against the pipeline's own answer for the others: self-consistency, not
    correctness, and marked so in its results (`TraceUtility.references`). With a redaction, results come without their texts.

    Raises:
        InvalidValueError: an unknown measure, none, or one asked for twice.
        BackendNotFoundError, NotOfferedError: nobody answers to a model's name.
    """

    def __init__(self, measures: Sequence[str | Measure] | None, models: Models, redaction: Redaction | None = None) -> None:
        self._models, self._redaction = models, redaction
        asked = DEFAULT_MEASURES if measures is None else measures
        self._with_gold = chosen_measures(asked)
        self._against_answer = chosen_measures([_against_answer(each) for each in asked])
        models.check(self._kinds)
        self._opened: Mapping[ModelKind, Any] | None = None
        self._lock = threading.Lock()
        self._run = LLMSession()
        self._keys: dict[bool, Callable[[Trace], str]] = {}

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Return the measures, as traces with gold answers are measured."""
        return self._with_gold

    @property
    def names(self) -> tuple[str, ...]:
        """Name the measures."""
        return tuple(measure.name for measure in self._with_gold)

    @property
    def _kinds(self) -> list[ModelKind]:
        return model_kinds(self._with_gold)

    @property
    def judge(self) -> str:
        """Return the fingerprint of the scorer, of the entailer where none scores."""
        return judge_among(self._models_opened())

    @property
    def run(self) -> LLMSession:
        """Return what the remote models share."""
        return self._run

    def open(self) -> None:
        """Open the models now, and load the plugins: who waits for them then is whoever starts, and nobody's question.

        Raises:
            RagCoverError: they cannot be opened.
        """
        self._models_opened()
        plugins()

    def results(self, traces: Sequence[Trace]) -> list[TraceResult]:
        """Measure traces together; one that fails costs no other its result.

        Raises:
            RagCoverError: the models cannot be opened, or a result cannot be redacted.
        """
        opened = self._models_opened()
        found: list[TraceResult] = []
        for has_gold, group in groupby(traces, key=_has_gold):
            measures = self._with_gold if has_gold else self._against_answer
            found += measure_block(list(group), measures=measures, models=opened)
        return found if self._redaction is None else without_texts(found, self._with_gold, self._redaction)

    def key_of(self, trace: Trace) -> str:
        """Name the result of a trace by all that it depends on."""
        has_gold = _has_gold(trace)
        if has_gold not in self._keys:
            measures = self._with_gold if has_gold else self._against_answer
            self._keys[has_gold] = content_key(measures, self._models_opened())
        key = self._keys[has_gold](trace)
        return key if self._redaction is None else self._redaction.content_key(key)

    def _models_opened(self) -> Mapping[ModelKind, Any]:
        with self._lock:
            if self._opened is None:
                self._opened = bind_models(self._models.open(self._kinds), self._run)
            return self._opened


def _has_gold(trace: Trace) -> bool:
    return bool(trace.question.references)


def _against_answer(measure: str | Measure) -> str | Measure:
    return UtilityMeasure(references="answer") if measure == "utility" else measure
