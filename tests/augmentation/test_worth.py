"""What searches were worth is measured where somebody has a belief and there is a right answer; else it is None."""

import pytest

from rag_cover.augmentation.worth import worth_of
from rag_cover.backends import Failure
from rag_cover.belief import TraceUtility
from rag_cover.errors import ModelFailedError
from rag_cover.questions import Passage, Question
from rag_cover.testing import KeywordEntailer, ScriptedReceiver
from rag_cover.traces import RetrievalStep, Sample

QUESTION = Question("When was the director of Jaws born?", references="1946")
FIRST = RetrievalStep(id="step-1", query="a", passages=(Passage("Jaws is a film."),))
SECOND = RetrievalStep(id="step-2", query="b", passages=(Passage("Spielberg was born in 1946."),))
BROKEN = RetrievalStep(id="step-3", query="c", error="TimeoutError: 60 s")
RECEIVER = ScriptedReceiver({"1946": ("1946",)}, prior=("1950",))


class FailingReceiver:
    def sample(self, items: object, *, n: int = 10, seed: int = 0) -> list[tuple[Sample, ...]]:
        message = f"out of memory at {n}, {seed}, {items is None}"
        raise ModelFailedError(message, kind="memory", attempts=2)


def test_each_search_is_worth_what_it_moves_the_belief() -> None:
    worth = worth_of(QUESTION, [FIRST, SECOND], receiver=RECEIVER, entailer=KeywordEntailer())

    assert isinstance(worth, TraceUtility)
    marginals = {step.step: step.marginal.value for step in worth.steps}
    assert marginals == pytest.approx({"step-1": 0.0, "step-2": 0.25})  # director, Jaws, born; and 1946, a fourth word


def test_a_search_that_failed_is_left_out() -> None:
    worth = worth_of(QUESTION, [BROKEN, SECOND], receiver=RECEIVER, entailer=KeywordEntailer())

    assert isinstance(worth, TraceUtility)
    assert [step.step for step in worth.steps] == ["step-2"]


def test_a_search_that_found_nothing_is_worth_nothing_on_top() -> None:
    worth = worth_of(QUESTION, [RetrievalStep(id="step-1"), SECOND], receiver=RECEIVER, entailer=KeywordEntailer())

    assert isinstance(worth, TraceUtility)
    assert [step.alone is None for step in worth.steps] == [True, False]


@pytest.mark.parametrize(
    ("question", "steps", "receiver", "entailer"),
    [
        (Question("When?"), [FIRST], RECEIVER, KeywordEntailer()),
        (QUESTION, [FIRST], None, KeywordEntailer()),
        (QUESTION, [FIRST], RECEIVER, None),
        (QUESTION, [], RECEIVER, KeywordEntailer()),
        (QUESTION, [BROKEN], RECEIVER, KeywordEntailer()),
    ],
)
def test_it_is_none_where_it_is_not_defined(
    question: Question,
    steps: list[RetrievalStep],
    receiver: ScriptedReceiver | None,
    entailer: KeywordEntailer | None,
) -> None:
    assert worth_of(question, steps, receiver=receiver, entailer=entailer) is None


def test_a_receiver_that_fails_is_named_with_its_kind() -> None:
    worth = worth_of(QUESTION, [FIRST], receiver=FailingReceiver(), entailer=KeywordEntailer())

    assert isinstance(worth, Failure)
    assert (worth.kind, worth.attempts) == ("memory", 2)
    assert worth.message.startswith("the searches' worth was not measured: out of memory")
