"""What the evaluators share: from LlamaIndex's arguments to a trace, from a trace to a result, and never an exception.

The core is synchronous. `evaluate` calls it where it stands, so that it needs no event loop and cannot meet one; `aevaluate`
calls it in a worker thread. An evaluator keeps nothing of an evaluation but the models it opened: one instance serves any
number of threads. LlamaIndex's `BatchEvalRunner` asks thrice where an evaluator raises, and then loses the whole batch: what
cannot be evaluated is an ``invalid_result`` that says why.
"""

from __future__ import annotations

import asyncio
import logging
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, Literal, TypeVar

from llama_index.core.evaluation import BaseEvaluator
from llama_index.core.prompts.mixin import PromptDictType

from rag_cover import Trace, evaluate
from rag_cover.adaptation import LazyModels
from rag_cover.backends import Failure
from rag_cover.errors import InputError, InvalidValueError, RagCoverError
from rag_cover.results import Measure, NotApplicable, Outcome, TraceResult
from rag_cover_llama_index.evaluation_inputs import trace_of
from rag_cover_llama_index.evaluation_results import TraceEvaluationResult
from rag_cover_llama_index.responses import SourcedText, text_awaited, text_of

__all__ = ["Need", "TraceEvaluator", "limit_in_range"]

Result = TypeVar("Result", bound=TraceEvaluationResult)
Measured = TypeVar("Measured")
Need = Literal["response", "contexts"]

_logger = logging.getLogger(__name__)

_GIVE: Mapping[Need, str] = {
    "response": "there is no response; give response=… (the answer's text)",
    "contexts": "there are no contexts; give contexts=… (the passages' texts), steps=… or trace=…",
}


class TraceEvaluator(BaseEvaluator, Generic[Result, Measured]):
    """Evaluates by a measure of rag_cover.

    Every kind takes ``query``, ``response`` and ``contexts`` as LlamaIndex's evaluators do, and by name: ``sub_questions``
    (`rag_cover.SubQuestion`, or texts, which count as core ones), ``reference`` or ``references`` (gold answers), ``steps``
    (`rag_cover.RetrievalStep`) and ``trace`` (`rag_cover.Trace`); others are left to the evaluators they are meant for.
    """

    result_class: ClassVar[type[TraceEvaluationResult]]
    needs: ClassVar[tuple[Need, ...]]

    def __init__(self, models: LazyModels) -> None:
        self._models = models

    def evaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> Result:
        """Evaluate texts, here and now: in a script, in a running loop, in a notebook, in any thread."""
        return self._evaluated(query, response, contexts, kwargs)

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> Result:
        """Evaluate texts in a worker thread; the loop goes on."""
        return await asyncio.to_thread(self._evaluated, query, response, contexts, kwargs)

    def evaluate_response(self, query: str | None = None, response: object = None, **kwargs: Any) -> Result:
        """Evaluate a response of any kind, a query engine's, a chat engine's or an agent's, with the nodes it came from.

        A stream is read, and its text stays in the response. One that was made on a running event loop may be readable only
        there: await `aevaluate_response`.
        """
        try:
            answer = text_of(response)
        except Exception as broken:  # noqa: BLE001  # called by a host: recorded in the result
            return self._broken(broken, query)
        return self._answered(query, answer, kwargs)

    async def aevaluate_response(self, query: str | None = None, response: object = None, **kwargs: Any) -> Result:
        """Evaluate a response of any kind, as `evaluate_response` does; its stream is awaited on this loop."""
        try:
            answer = await text_awaited(response)
        except Exception as broken:  # noqa: BLE001  # called by a host: recorded in the result
            return self._broken(broken, query)
        return await asyncio.to_thread(self._answered, query, answer, kwargs)

    @abstractmethod
    def _measure_for(self, trace: Trace) -> Measure:
        """Choose the measure for a trace that has what the evaluator needs."""

    @abstractmethod
    def _told(self, measured: Measured, trace: Trace) -> Mapping[str, Any]:
        """Return a result's fields: score, passing and feedback, or ``invalid_reason`` where no score is defined."""

    def _missing(self, trace: Trace) -> list[str]:
        """Say what a trace lacks, and how it is given."""
        return [_GIVE[need] for need in self.needs if not _has(trace, need)]

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """Ignore them: this evaluator asks in no words of its own."""

    def _answered(self, query: object, answer: SourcedText, further: dict[str, Any]) -> Result:
        contexts = further.pop("contexts", None)
        return self._evaluated(query, answer.text, answer.passages if contexts is None else contexts, further)

    def _evaluated(self, query: object, response: object, contexts: object, further: Mapping[str, object]) -> Result:
        trace = None
        try:
            trace = trace_of(query, response, contexts, further)
            return self._result(self._outcome(trace), trace)
        except Exception as broken:  # noqa: BLE001  # called by a host: recorded in the result
            return self._broken(broken, query, trace)

    def _outcome(self, trace: Trace) -> Outcome:
        if missing := self._missing(trace):
            return NotApplicable("; ".join(missing))
        measure = self._measure_for(trace)
        if (reason := measure.lacks(trace)) is not None:  # before any model is opened
            return NotApplicable(reason)
        run = evaluate([trace], measures=[measure], models=self._models.get(), engine=_Here())
        return run.results[0].outcomes[measure.name]

    def _result(self, outcome: Outcome, trace: Trace) -> Result:
        match outcome:
            case NotApplicable(reason):
                return self._made(trace, invalid_reason=reason)
            case Failure(kind, message):
                return self._made(trace, invalid_reason=f"{message or 'a model failed'} ({kind})", failure=outcome)
        return self._made(trace, **self._told(outcome, trace))  # type: ignore[arg-type]  # its own measure's result

    def _broken(self, error: Exception, query: object, trace: Trace | None = None) -> Result:
        reason = str(error) if isinstance(error, RagCoverError) else f"{type(error).__name__}: {error}"
        if not isinstance(error, RagCoverError):
            _logger.warning("%s has no result: %s", type(self).__name__, reason, exc_info=error)
        failure = None if isinstance(error, InputError) else Failure(type(error).__name__, str(error))
        asked = {"query": query} if trace is None and isinstance(query, str) else {}
        return self._made(trace, **asked, invalid_reason=reason, failure=failure)

    def _made(self, trace: Trace | None, **fields: Any) -> Result:
        shown = {} if trace is None else _shown(trace)
        invalid = fields.get("invalid_reason") is not None
        return self.result_class(**shown, trace=trace, invalid_result=invalid, **fields)  # type: ignore[return-value]  # its own


class _Here:
    """Runs a block where it stands: one trace needs no pool, and a model's calls stay in the context of whoever asked."""

    def run(
        self, measure_block: Callable[[Sequence[Trace]], Sequence[TraceResult]], blocks: Iterable[Sequence[Trace]]
    ) -> Iterator[Sequence[TraceResult]]:
        return map(measure_block, blocks)


def limit_in_range(name: str, limit: float | None, lowest: float) -> float | None:
    """Return a limit that a score may be held against, and refuse any other.

    Raises:
        InvalidValueError: it lies outside [``lowest``, 1].
    """
    if limit is not None and not lowest <= limit <= 1:
        message = f"{name} is {limit}; scores lie in [{lowest:g}, 1]"
        raise InvalidValueError(message)
    return limit


def _has(trace: Trace, need: Need) -> bool:
    match need:
        case "response":
            return trace.answer is not None
        case "contexts":
            return bool(trace.steps) or trace.prompt is not None


def _shown(trace: Trace) -> dict[str, Any]:
    passages, _ = trace.prompt_or_assumed
    texts = None if passages is None else [passage.text for passage in passages]
    return {"query": trace.question.text, "response": trace.answer, "contexts": texts}
