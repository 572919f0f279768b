"""One pass over a pair serves all heads that are asked about it: the verdicts are those of separate passes."""

from collections.abc import Sequence

import numpy as np
import pytest

from rag_cover.backends import ScoringItem
from rag_cover_embedded.inputs import Encoded, Task, join
from rag_cover_embedded.judge import EmbeddedJudge
from rag_cover_embedded.memory import LogitMemory
from rag_cover_embedded.session import Floats, Session

QUESTION = "Who designed the lighthouse of Porto Vale?"
PASSAGES = (
    "The lighthouse of Porto Vale was designed by Inez Marrow in 1871.",
    "Porto Vale is a fishing village with a weekly market.",
    "The mayor opened a bakery. Bread is sold there from six in the morning.",
)
REPLIES = ("Inez Marrow designed it.", "The documents do not say who designed the lighthouse.", "It is a fishing village.")


@pytest.fixture
def pairs_read(monkeypatch: pytest.MonkeyPatch) -> list[Encoded]:
    """Keep every pair that the network reads."""
    read: list[Encoded] = []
    run = Session.run

    def counted(self: Session, encoded: Sequence[Encoded], outputs: Sequence[str]) -> list[tuple[Floats, ...]]:
        read.extend(encoded)
        return run(self, encoded, outputs)

    monkeypatch.setattr(Session, "run", counted)
    return read


def test_relevance_and_answerability_share_a_pass(pairs_read: list[Encoded]) -> None:
    judge, alone = EmbeddedJudge(), EmbeddedJudge()
    items = [ScoringItem(QUESTION, text) for text in PASSAGES]

    judge.token_relevance(QUESTION, PASSAGES)
    pairs_read.clear()
    shared = judge.correctness(items)
    read_after_relevance = len(pairs_read)

    assert read_after_relevance == 1  # the fragment of the one passage that answers
    assert shared == pytest.approx(alone.correctness(items), abs=1e-6)
    assert judge.locate(items) == alone.locate(items)


def test_abstention_is_told_by_the_pass_that_judged_the_reply(pairs_read: list[Encoded]) -> None:
    judge, alone = EmbeddedJudge(), EmbeddedJudge()
    items = [ScoringItem(QUESTION, text, user_question=QUESTION) for text in REPLIES]

    judge.correctness(items)
    pairs_read.clear()
    shared = judge.abstains(items)

    assert pairs_read == []
    assert shared == alone.abstains(items) == ["no", "wholly", "no"]


def test_logits_are_remembered_by_task_and_head_up_to_a_number() -> None:
    memory = LogitMemory(2)
    reply, passage = (join(task, [5, 6], [7, 8]) for task in (Task.REPLIES, Task.ANSWERS))
    first, second, third = (np.array([value], dtype=np.float32) for value in (1, 2, 3))

    memory.remember("answers", [passage], [first])
    memory.remember("abstention", [reply, passage], [second, third])

    assert memory.recall("answers", [passage]) == [None]
    assert memory.recall("abstention", [reply, passage]) == [second, third]
    assert memory.recall("answers", [reply]) == [None]
