"""The base class of the evaluators: makes a trace of LlamaIndex's arguments and returns a result, never an exception.

The core is synchronous. `evaluate` calls it where it stands, so that it needs no event loop and cannot meet one; `aevaluate`
calls it in a worker thread. An evaluator keeps nothing of an evaluation but the models it opened: one instance serves any
number of threads. LlamaIndex's `BatchEvalRunner` asks thrice where an evaluator raises, and then loses the whole batch: what
cannot be evaluated is an ``invalid_result`` that says why. Only a misspelt keyword raises: it would be missed on every row.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from llama_index.core.evaluation import BaseEvaluator
from llama_index.core.prompts.mixin import PromptDictType

from rag_cover import Trace
from rag_cover.integration import LazyModels, Scored, Scoring, explain_failure, score_trace
from rag_cover_llama_index.responses import SourcedText, await_text, response_content
from rag_cover_llama_index.results import TraceEvaluationResult
from rag_cover_llama_index.traces import TERMS, refuse_misspelt_keywords, trace_of

__all__ = ["TraceEvaluator"]

Result = TypeVar("Result", bound=TraceEvaluationResult)
Measured = TypeVar("Measured")


class TraceEvaluator(BaseEvaluator, Generic[Result, Measured]):
    """Evaluates by a measure of rag_cover.

    Every kind takes ``query``, ``response`` and ``contexts`` as LlamaIndex's evaluators do, and by name: ``sub_questions``
    (`rag_cover.SubQuestion`, or texts, which count as core ones), ``reference`` or ``references`` (gold answers), ``steps``
    (`rag_cover.RetrievalStep`) and ``trace`` (`rag_cover.Trace`); others are left to the evaluators they are meant for, and one
    that is nearly one of these is refused.
    """

    result_class: ClassVar[type[TraceEvaluationResult]]
    carried: ClassVar[str]
    """The field of the result that holds what was measured."""

    def __init__(self, scoring: Scoring[Measured], models: LazyModels) -> None:
        self._scoring, self._models = scoring, models

    def evaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> Result:
        """Evaluate texts, here and now: in a script, in a running loop, in a notebook, in any thread."""
        self._refuse_misspelt(kwargs)
        return self._evaluate(query, response, contexts, kwargs)

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> Result:
        """Evaluate texts in a worker thread; the loop goes on."""
        self._refuse_misspelt(kwargs)
        return await asyncio.to_thread(self._evaluate, query, response, contexts, kwargs)

    def evaluate_response(self, query: str | None = None, response: object = None, **kwargs: Any) -> Result:
        """Evaluate a response of any kind, a query engine's, a chat engine's or an agent's, with the nodes it came from.

        A stream is read to its end, and its text stays in the response. A stream that belongs to a running event loop may be
        readable only on that loop: await `aevaluate_response` there.
        """
        self._refuse_misspelt(kwargs)
        try:
            answer = response_content(response)
        except Exception as broken:  # noqa: BLE001  # called by a host: recorded in the result
            return self._result(explain_failure(broken), query)
        return self._evaluate_answer(query, answer, kwargs)

    async def aevaluate_response(self, query: str | None = None, response: object = None, **kwargs: Any) -> Result:
        """Evaluate a response of any kind, as `evaluate_response` does; its stream is awaited on this loop."""
        self._refuse_misspelt(kwargs)
        try:
            answer = await await_text(response)
        except Exception as broken:  # noqa: BLE001  # called by a host: recorded in the result
            return self._result(explain_failure(broken), query)
        return await asyncio.to_thread(self._evaluate_answer, query, answer, kwargs)

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """Ignore them: this evaluator asks in no words of its own."""

    def _refuse_misspelt(self, further: Mapping[str, object]) -> None:
        """Refuse a misspelt keyword at once.

        Raises:
            UnknownOptionError: there is one; the message names the nearest one that there is.
        """
        refuse_misspelt_keywords(type(self).__name__, further)

    def _evaluate_answer(self, query: object, answer: SourcedText, further: dict[str, Any]) -> Result:
        contexts = further.pop("contexts", None)
        return self._evaluate(query, answer.text, answer.passages if contexts is None else contexts, further)

    def _evaluate(self, query: object, response: object, contexts: object, further: Mapping[str, object]) -> Result:
        found = score_trace(
            lambda: trace_of(query, response, contexts, further), by=self._scoring, models=self._models, terms=TERMS
        )
        return self._result(found, query)

    def _result(self, found: Scored, query: object) -> Result:
        asked = {"query": query if isinstance(query, str) else None}
        shown = asked if found.trace is None else _fields_shown(found.trace)
        told = {name: getattr(found, name) for name in ("trace", "score", "passing", "feedback", "invalid_reason", "failure")}
        told |= {"invalid_result": found.invalid_reason is not None, self.carried: found.measured}
        return self.result_class(**shown, **told)  # type: ignore[return-value]  # its own


def _fields_shown(trace: Trace) -> dict[str, Any]:
    passages, _ = trace.effective_prompt
    texts = None if passages is None else [passage.text for passage in passages]
    return {"query": trace.question.text, "response": trace.answer, "contexts": texts}
