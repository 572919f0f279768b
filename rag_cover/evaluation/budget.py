"""What the budget of a cascade of judges is spent on, planned over all traces before any is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rag_cover.cascade import WeighedVerdicts, plan_calls, weigh
from rag_cover.coverage import CoverageMeasure
from rag_cover.engines import Block, Engine
from rag_cover.evaluation.blocks import blocks_of, reason_not_to_measure
from rag_cover.evaluation.plan import EvaluationPlan
from rag_cover.llm.usage import UsageMeter
from rag_cover.placeholder import Placeholder
from rag_cover.traces import Trace

__all__ = ["plan_budget"]


@dataclass(frozen=True, slots=True)
class _Weighing:
    """Weighs the verdicts of a block of traces, in this process or in another (`rag_cover.engines.Accountable`)."""

    plan: EvaluationPlan

    @property
    def ledger(self) -> UsageMeter:
        """Return what remote models were asked, such as one that splits questions."""
        return self.plan.ledger

    def __call__(self, traces: Block) -> WeighedVerdicts:
        """Judge a block by the first judge alone."""
        models = self.plan.models
        measure = next((each for each in self.plan.measures if isinstance(each, CoverageMeasure)), None)
        if measure is None:
            return WeighedVerdicts()
        able = [trace for trace in traces if self._is_able(measure, trace)]
        return weigh(models["scorer"], measure.weigh(able, models))

    def _is_able(self, measure: CoverageMeasure, trace: Trace) -> bool:
        if Placeholder.read(trace.question.text) is not None:
            return False
        return reason_not_to_measure(measure, trace, self.plan.models, longest_text=self.plan.longest_text) is None


def plan_budget(plan: EvaluationPlan, traces: Sequence[Trace], engine: Engine) -> EvaluationPlan:
    """Return a plan whose judge asks its model what the budget is spent on.

    The traces are judged by the first judge, on the engine; the embedded judge remembers what it judged, so that in one process
    little is judged twice.

    Raises:
        RagCoverError: what the first judge raises.
    """
    judge = plan.models["scorer"]
    weighed = list(engine.run(_Weighing(plan), blocks_of(traces)))
    return plan.with_budget_plan(plan_calls(weighed, judge.settings))
