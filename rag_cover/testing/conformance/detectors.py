"""What a detector of abstentions owes its callers (`rag_cover.backends.AbstentionDetector`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from rag_cover.backends import Abstention, AbstentionDetector, ScoringItem
from rag_cover.testing.conformance.models import Answers, ModelTests
from rag_cover.testing.conformance.oddities import BLANK_TEXTS

__all__ = ["AbstentionDetectorTests"]

_QUESTION = "When was the Harlow library opened?"
_ANSWER = "The Harlow library was opened on 3 May 1904."
_REFUSALS = (
    (_QUESTION, "I'm sorry, the provided context does not mention when the Harlow library was opened."),
    ("Who wrote Pride and Prejudice?", "I don't know."),
    ("How much does a ticket cost?", "The documents say nothing about the price of a ticket."),
    ("Where does the Moselle rise?", "There is no information about this in the sources, unfortunately."),
)
_ANSWERS = (
    (_QUESTION, _ANSWER),
    ("Does the warranty cover water damage?", "No, it does not."),
    ("How much does a ticket cost?", "12 euros."),
    ("Where does the Moselle rise?", "In the Vosges mountains."),
)


class AbstentionDetectorTests(ModelTests[AbstentionDetector, ScoringItem]):
    """Tests of an `AbstentionDetector`: subclass them as ``Test…``, and give it as the fixture ``model``.

        class TestMyDetector(AbstentionDetectorTests):
            @pytest.fixture
            def model(self) -> AbstentionDetector:
                return MyDetector()

    Attributes:
        tolerated: the share of plain cases that may go wrong.
    """

    tolerated: float = 0.25

    def items(self) -> Sequence[ScoringItem]:
        """Return replies that decline and replies that answer."""
        return [ScoringItem(asked, text, user_question=asked) for asked, text in (*_REFUSALS, *_ANSWERS)]

    def odd_items(self, text: str) -> Sequence[ScoringItem]:
        """Return items with an odd reply and an odd question."""
        return (ScoringItem(_QUESTION, text, user_question=_QUESTION), ScoringItem(text, _ANSWER, user_question=text))

    def ask(self, model: AbstentionDetector, items: Sequence[ScoringItem]) -> Answers:
        """Return the verdict of each item."""
        return model.abstains(items)

    def check(self, found: Answers, items: Sequence[ScoringItem], about: str) -> None:
        """Fail unless there is one of the three words for each item."""
        assert isinstance(found, list | tuple), f"abstains returned a {type(found).__name__} for {about}; return a list"
        assert len(found) == len(items), (
            f"abstains returned {len(found)} verdicts for {about}, {len(items)} items; return one for each"
        )
        strange = [each for each in found if each not in get_args(Abstention)]
        assert not strange, f"abstains returned {strange[0]!r} for {about}; return one of {', '.join(get_args(Abstention))}"

    def test_a_reply_that_declines_abstains(self, model: AbstentionDetector) -> None:
        """Of plain refusals, each of all that was asked."""
        missed = self._wrong(model, _REFUSALS, "wholly")

        assert len(missed) <= self.tolerated * len(_REFUSALS), (
            f"{len(missed)} of {len(_REFUSALS)} plain refusals are not seen, such as {missed[0]!r}; return 'wholly' for them"
        )

    def test_a_reply_that_answers_does_not(self, model: AbstentionDetector) -> None:
        """Of plain answers, a short one and a *no* among them."""
        taken = self._wrong(model, _ANSWERS, "no")

        assert len(taken) <= self.tolerated * len(_ANSWERS), (
            f"{len(taken)} of {len(_ANSWERS)} plain answers count as refusals, such as {taken[0]!r}; return 'no' for them"
        )

    def test_a_blank_reply_does_not_abstain(self, model: AbstentionDetector) -> None:
        """What says nothing answers nothing, and declines nothing."""
        for name, text in BLANK_TEXTS.items():
            (found,) = self._ask_checked(model, [ScoringItem(_QUESTION, text, user_question=_QUESTION)], name)
            assert found == "no", f"{name} counts as a refusal; return 'no' for a reply without words"

    def _wrong(self, model: AbstentionDetector, cases: Sequence[tuple[str, str]], wanted: Abstention) -> list[str]:
        items = [ScoringItem(asked, text, user_question=asked) for asked, text in cases]
        found = self._ask_checked(model, items, "plain cases")
        return [text for (_, text), each in zip(cases, found, strict=True) if each != wanted]
