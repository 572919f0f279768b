"""What passages are worth by ΔSePer; a benchmark ends where that cannot be measured."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.support.supported_sets import Supported
from rag_cover import Trace
from rag_cover.backends import Entailer, Receiver
from rag_cover.belief import TraceUtility
from rag_cover.belief.settings import UtilitySettings
from rag_cover.belief.utility import utilities_of

__all__ = ["UtilityMeter"]


@dataclass(frozen=True, slots=True)
class UtilityMeter:
    """Whose belief is measured, and by which entailer."""

    receiver: Receiver
    entailer: Entailer

    def of_traces(self, traces: Sequence[Trace], procedure: UtilitySettings) -> list[TraceUtility]:
        """Measure traces together."""
        outcomes = utilities_of(traces, entailer=self.entailer, receiver=self.receiver, procedure=procedure)
        found = []
        for trace, outcome in zip(traces, outcomes, strict=True):
            if not isinstance(outcome, TraceUtility):
                sys.exit(f"{trace.question.text}: {outcome.message}")
            found.append(outcome)
        return found

    def of_passages(self, rows: Sequence[Supported], procedure: UtilitySettings) -> list[float]:
        """Measure every passage, question by question, in the questions' order of them."""
        found: list[float] = []
        for row, utility in zip(rows, self.of_traces([row.trace for row in rows], procedure), strict=True):
            worth = {passage.passage: passage.value for passage in utility.steps[0].passages}
            found += [worth[passage.key] for passage in row.passages]
        return found
