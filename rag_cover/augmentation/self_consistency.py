"""What each passage is worth toward the answers that a receiver settles on: utility where no right answer is known.

ΔSePer (Dai et al., ICLR 2025) measures how far passages move a receiver's belief toward a reference. Before a question is
answered there is none. Here the answer that the receiver's samples agree on, with all passages before it, stands in for it:
self-consistency (Wang et al., ICLR 2023), an estimate and not correctness. A receiver that all passages together mislead takes
the misleading ones for useful.

A question of several hops is asked hop by hop as well, and a passage is worth what it is on the mean over the question and its
core sub-questions. By the question alone, the passage that only names the person whom the next one is about would do harm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rag_cover.augmentation.chains import Chain
from rag_cover.augmentation.core import decompose_question
from rag_cover.augmentation.reading import likeliest
from rag_cover.backends import Entailer, Failure, Receiver, fingerprint_of
from rag_cover.belief import Attribution, TraceUtility
from rag_cover.belief.settings import UtilitySettings
from rag_cover.belief.utility import utilities_of
from rag_cover.decomposition.multihop.slots import slots_in
from rag_cover.decomposition.strategies import Decomposer
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.questions import Passage, Question, SubQuestion, as_question
from rag_cover.traces import RetrievalStep, Sample, SampleSet, Trace, distinct

__all__ = ["EstimatedUtility", "consensus_answer", "estimate_utilities"]

_STEP = "retrieved"


@dataclass(frozen=True, slots=True)
class EstimatedUtility:
    """What passages are worth toward answers that a receiver settled on.

    ``answers`` are those to the question and to its core sub-questions, as they were asked; None where it settles on none.
    ``values`` are utilities in [-1, 1] by `Passage.key`: empty where there is no answer at all. A passage without a text has
    none.
    """

    answers: Mapping[str, str | None]
    values: Mapping[str, float]

    def value_of(self, passage: Passage) -> float | None:
        """Return what a passage is worth; None where that is not defined."""
        return self.values.get(passage.key)

    def find_least_useful(self, passages: Sequence[Passage], *, min_utility: float = 0.0) -> int | None:
        """Return the place of the passage worth least, the last of several; None where none is below ``min_utility``."""
        values = [(value, -place) for place, passage in enumerate(passages) if (value := self.value_of(passage)) is not None]
        least, place = min(values, default=(min_utility, 0))
        return -place if least < min_utility else None

    def keeping(self, passages: Sequence[Passage], *, min_utility: float = 0.0, keep: int = 1) -> list[int]:
        """Return the places of the passages to keep: all but those whose utility is defined and below ``min_utility``.

        Where fewer than ``keep`` are left, those that are worth most of the others stay, too. The order stays as it is.
        """
        values = [self.value_of(passage) for passage in passages]
        kept = {place for place, value in enumerate(values) if value is None or value >= min_utility}
        others = sorted(set(range(len(values))) - kept, key=lambda place: -(values[place] or 0.0))
        return sorted(kept.union(others[: max(0, keep - len(kept))]))


def estimate_utilities(  # noqa: PLR0913  # the public interface: all but two by name
    question: Question | str,
    passages: Sequence[Passage],
    *,
    receiver: Receiver,
    entailer: Entailer,
    sub_questions: Sequence[SubQuestion | str] | None = None,
    decomposer: Decomposer | None = None,
    attribution: Attribution = "leave-one-out",
    n: int = 20,
    seed: int = 0,
) -> EstimatedUtility:
    """Estimate what each passage is worth, in [-1, 1], toward the answers that the receiver settles on with all of them.

    The answer to a question is the sample that agrees best with the others, word by word. There is none where more than half
    of the samples give no answer: no passage then has a utility toward it, as toward "unknown" those that say something would
    do harm. A passage's utility is its mean over the question and the core sub-questions that have an answer.

    Args:
        question: what is asked.
        passages: what was retrieved; of those with one `Passage.key` the first counts.
        receiver: whose belief it is; it also reads the answers that later sub-questions build on.
        entailer: judges whether its answers mean the same.
        sub_questions: as in `rag_cover.coverage.rerank`; () asks the question alone.
        decomposer: makes them instead; without it rules do.
        attribution: ``leave-one-out``: SePer(all passages) - SePer(all but this one), which is 0 for each of two that say the
            same; ``add-one-in``: SePer(this passage) - SePer(no passages).
        n: how many answers are sampled with all passages, and with each that is measured, for every question asked.
        seed: seed that the receiver samples with.

    Raises:
        InvalidValueError: n is below 1, or samples that no belief can be formed from.
        ModelFailedError: the receiver or the entailer failed.
    """
    asked = as_question(question)
    procedure = UtilitySettings(n=n, references="answer", per_passage=attribution, seed=seed)
    shown = tuple(passage for passage in distinct(passages) if passage.text.strip())
    if not shown:
        return EstimatedUtility({}, {})
    core = decompose_question(asked, given=sub_questions, decomposer=decomposer, generator=None, answers=True).core
    settled = _answer_chain(asked, [each.text for each in core], shown, receiver, procedure)
    traces = [_trace(text, answer, samples, shown, receiver) for text, (answer, samples) in settled.items() if answer]
    measured = utilities_of(traces, entailer=entailer, receiver=receiver, procedure=procedure)
    worths = [_values(each) for each in measured]
    values = {passage.key: fmean(worth[passage.key] for worth in worths) for passage in shown if worths}
    return EstimatedUtility({text: answer for text, (answer, _) in settled.items()}, values)


def consensus_answer(samples: Sequence[Sample]) -> str | None:
    """Return the answer that samples agree on best, None where more than half of them give none.

    >>> consensus_answer([Sample("1946"), Sample("in 1946"), Sample("unknown")])
    '1946'
    >>> consensus_answer([Sample("unknown"), Sample("unknown"), Sample("1946")])
    """
    given = [sample for sample in samples if likeliest([sample]) is not None]
    return likeliest(given) if given and 2 * len(given) >= len(samples) else None


Settled = Mapping[str, tuple[str | None, tuple[Sample, ...]]]
"""Questions, each with the answer that its samples agree on."""


def _answer_chain(
    question: Question, core: Sequence[str], shown: tuple[Passage, ...], receiver: Receiver, procedure: UtilitySettings
) -> Settled:
    """Ask the question and its sub-questions, those that wait for no answer first."""
    chain = Chain(core, literal=slots_in(question.text, position=len(core)))
    found = dict(_sample_answers([question.text, *chain.texts(chain.ready)], shown, receiver, procedure))
    while awaited := chain.awaited:
        for number in awaited:
            chain.answer(number, found.get(chain.text(number), (None, ()))[0])
        found |= _sample_answers([text for text in chain.texts(chain.ready) if text not in found], shown, receiver, procedure)
    return found


def _sample_answers(
    texts: Sequence[str], shown: tuple[Passage, ...], receiver: Receiver, procedure: UtilitySettings
) -> Settled:
    questions = list(dict.fromkeys(texts))
    drawn = receiver.sample([(text, shown) for text in questions], n=procedure.n, seed=procedure.seed) if questions else []
    if len(drawn) != len(questions):
        message = f"the receiver returned {len(drawn)} sets of samples to {len(questions)} questions; it must return one each"
        raise ModelFailedError(message)
    return {text: (consensus_answer(samples), samples) for text, samples in zip(questions, drawn, strict=True)}


def _trace(text: str, answer: str, samples: tuple[Sample, ...], shown: tuple[Passage, ...], receiver: Receiver) -> Trace:
    step = RetrievalStep(id=_STEP, query=text, passages=shown)
    known = SampleSet(receiver=fingerprint_of(receiver), context="after", step=_STEP, samples=samples)
    return Trace(question=Question(text), steps=(step,), answer=answer, samples=(known,))


def _values(measured: TraceUtility | Failure) -> Mapping[str, float]:
    if isinstance(measured, Failure):
        raise InvalidValueError(measured.message)
    return {each.passage: each.value for each in measured.steps[0].passages}
