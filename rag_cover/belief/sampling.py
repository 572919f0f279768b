"""One trace on its way to its utility: what its steps are measured between, and which samples there are of that."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_cover.backends import Receiver, fingerprint_of
from rag_cover.belief.contexts import Context, ContextKey, TraceContexts, contexts_of, read_samples
from rag_cover.belief.estimation import references_in_range
from rag_cover.belief.result import ReferenceSource
from rag_cover.belief.sample_cache import SampleCache, Shown
from rag_cover.belief.settings import UtilitySettings
from rag_cover.errors import InvalidValueError
from rag_cover.traces import Sample, Trace

__all__ = ["SamplingPlan", "plan_samples", "references_of", "unfit_because"]

_NO_SAMPLES = "no receiver was named, and the trace has no recorded samples; name one, or record samples in the trace"


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """A trace and its samples: those recorded, and in how many rounds each other context has been sampled."""

    trace: Trace
    contexts: TraceContexts
    references: tuple[str, ...]
    receiver: str
    recorded: Mapping[ContextKey, tuple[Sample, ...]]
    rounds: dict[ContextKey, int]

    def rounds_to_sample(self) -> Iterator[tuple[Shown, int]]:
        """List every round of every context that is sampled."""
        shown = self.contexts.distinct()
        return ((self._receiver_input(shown[key]), number) for key, rounds in self.rounds.items() for number in range(rounds))

    def samples(self, draws: SampleCache | None) -> dict[ContextKey, tuple[Sample, ...]]:
        """Gather the answers of every context that has any, recorded or drawn."""
        found = {}
        for key, context in self.contexts.distinct().items():
            if key in self.recorded:
                found[key] = self.recorded[key]
            elif draws is not None:
                found[key] = draws.of(self._receiver_input(context), self.rounds[key])
        return found

    def sample_more(self, keys: Collection[ContextKey], sizes: Sequence[int]) -> bool:
        """Add a round to these contexts, except recorded ones and those at their last round; return whether any was added."""
        growing = [key for key in keys if self.rounds.get(key, len(sizes)) < len(sizes)]
        for key in growing:
            self.rounds[key] += 1
        return bool(growing)

    def _receiver_input(self, context: Context) -> Shown:
        return self.trace.question.text, context


def plan_samples(trace: Trace, receiver: Receiver | None, procedure: UtilitySettings) -> SamplingPlan:
    """Find what a trace's utility needs: its contexts, its references, and whose samples they are to be.

    Raises:
        InvalidValueError: the trace lacks it, or carries samples of steps that it does not have.
    """
    if (lacking := unfit_because(trace, procedure.references)) is not None:
        raise InvalidValueError(lacking)
    contexts = contexts_of(trace, procedure.per_passage)
    recorded = read_samples(trace, procedure.n)
    name = _select_receiver(recorded, contexts) if receiver is None else fingerprint_of(receiver)
    known = recorded.get(name, {})
    sampled = [] if receiver is None else [key for key in contexts.distinct() if key not in known]
    return SamplingPlan(trace, contexts, references_of(trace, procedure.references), name, known, dict.fromkeys(sampled, 1))


def unfit_because(trace: Trace, references: ReferenceSource) -> str | None:
    """Return what a trace lacks for its utility to be measured by any receiver; None where it lacks nothing."""
    if not trace.steps:
        return "utility needs retrieval steps"
    right = references_of(trace, references)
    if not right:
        other = "references='answer' takes the trace's own answer" if references == "gold" else "and the trace has no answer"
        return f"utility needs references ({other})"
    try:
        references_in_range(right)
    except InvalidValueError as unfit:
        return f"utility needs references: {unfit}"
    return None


def references_of(trace: Trace, references: ReferenceSource) -> tuple[str, ...]:
    """Return what counts as right: the question's gold answers, or the trace's own answer."""
    if references == "gold":
        return trace.question.references
    return () if trace.answer is None else (trace.answer,)


def _select_receiver(recorded: Mapping[str, Mapping[ContextKey, object]], contexts: TraceContexts) -> str:
    """Choose the first receiver that there are samples of all that is needed of."""
    if not recorded:
        raise InvalidValueError(_NO_SAMPLES)
    needed = contexts.contexts_required()
    missing = {name: [words for key, words in needed.items() if key not in known] for name, known in recorded.items()}
    name, lacking = min(missing.items(), key=lambda item: len(item[1]))
    if lacking:
        message = f"the samples recorded of {name!r} lack those {', '.join(sorted(lacking))}; record them, or name a receiver"
        raise InvalidValueError(message)
    return name
