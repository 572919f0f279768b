"""What a model that finds fragments owes its callers (`rag_cover.backends.Locator`)."""

from __future__ import annotations

from collections.abc import Sequence

from rag_cover.backends import Locator, ScoringItem, Span
from rag_cover.testing.conformance.models import Answers, ModelTests
from rag_cover.testing.conformance.oddities import BLANK_TEXTS, long_text

__all__ = ["LocatorTests"]

_QUESTION = "When was the Harlow library opened?"
_ANSWER = "The Harlow library was opened on 3 May 1904."
_SAID = "1904"
_WIDE = "\U0001f468\u200d\U0001f469\u200d\U0001f467 " * 20 + "z\u0301\u0327 \t\t \u5b57\u5b57"
_ITEMS = (
    ScoringItem(_QUESTION, f"Bread is baked of flour. {_ANSWER} It rained all day."),
    ScoringItem(_QUESTION, "Bread is baked of flour."),
    ScoringItem("Why is the sky blue?", "The sky is blue because air scatters blue light more than red."),
    ScoringItem(_QUESTION, _ANSWER, ("1904",)),
)


class LocatorTests(ModelTests[Locator, ScoringItem]):
    """Tests of a `Locator`: subclass them under a name that begins with ``Test``, and give it as the fixture ``model``.

    class TestMyLocator(LocatorTests):
        @pytest.fixture
        def model(self) -> Locator:
            return MyLocator()
    """

    def items(self) -> Sequence[ScoringItem]:
        """Return texts with and without an answer."""
        return _ITEMS

    def odd_items(self, text: str) -> Sequence[ScoringItem]:
        """Return items with an odd text and an odd question."""
        return (ScoringItem(_QUESTION, text), ScoringItem(text, _ANSWER), ScoringItem(_QUESTION, f"{text} {_ANSWER} {text}"))

    def ask(self, model: Locator, items: Sequence[ScoringItem]) -> Answers:
        """Return the fragment of each item."""
        return model.locate(items)

    def check(self, found: Answers, items: Sequence[ScoringItem], about: str) -> None:
        """Fail unless there is a fragment inside the text, or None, for each item."""
        assert isinstance(found, list | tuple), f"locate returned a {type(found).__name__} for {about}; return a list"
        assert len(found) == len(items), (
            f"locate returned {len(found)} fragments for {about}, {len(items)} items; return one for each, None where none is"
        )
        for item, span in zip(items, found, strict=True):
            assert span is None or isinstance(span, Span), f"locate returned {span!r} for {about}; return a Span or None"
            assert span is None or 0 <= span.start <= span.end <= len(item.text), (
                f"locate returned {span} in a text of {len(item.text)} characters for {about}; stay inside the text as passed"
            )

    def test_the_fragment_holds_the_answer(self, model: Locator) -> None:
        """Of a plain text in which one sentence answers."""
        self._finds(model, _ITEMS[0].text, "a plain text")

    def test_a_blank_text_has_no_fragment(self, model: Locator) -> None:
        """There is nothing to point at."""
        for name, text in BLANK_TEXTS.items():
            (span,) = self._ask_checked(model, [ScoringItem(_QUESTION, text)], name)
            assert span is None or span.start == span.end, f"{name} has the fragment {span}; return None"

    def test_places_are_counted_in_code_points(self, model: Locator) -> None:
        """Emoji and combining marks before the answer move nothing, as they do for bytes, UTF-16 and cleaned texts."""
        self._finds(model, f"{_WIDE}. {_ANSWER} It rained all day, and the reading room was full until the evening.", "emoji")

    def test_an_answer_at_the_end_of_a_long_text_is_found(self, model: Locator) -> None:
        """A text of any length is read whole."""
        self._finds(model, long_text(_ANSWER), "a text of 20,000 characters")

    def _finds(self, model: Locator, text: str, about: str) -> None:
        (span,) = self._ask_checked(model, [ScoringItem(_QUESTION, text)], about)

        assert span is not None, f"no fragment was found in {about} that holds a plain answer; locate the sentence that answers"
        assert _SAID in span.of(text), (
            f"the fragment {span.of(text)[:80]!r} of {about} does not hold the answer; "
            "count in code points of the text as it was passed"
        )
