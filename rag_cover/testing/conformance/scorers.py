"""What a judge of coverage owes its callers (`rag_cover.backends.Scorer`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag_cover.backends import Scorer, ScoringItem
from rag_cover.judge_check import CanaryVerdict, canary_verdicts, explain_canary_failure
from rag_cover.testing.conformance.attempts import check_call
from rag_cover.testing.conformance.models import Answers, ModelTests
from rag_cover.testing.conformance.oddities import BLANK_TEXTS, long_text

__all__ = ["ScorerTests"]

_QUESTION = "When was the Harlow library opened?"
_ANSWER = "The Harlow library was opened on 3 May 1904."
_ITEMS = (
    ScoringItem(_QUESTION, _ANSWER),
    ScoringItem(_QUESTION, "The Harlow library has three floors and a quiet reading room."),
    ScoringItem("Why is the sky blue?", "The sky is blue because air scatters blue light more than red. So it is by day."),
    ScoringItem(_QUESTION, _ANSWER, ("3 May 1904",)),
    ScoringItem(_QUESTION, _ANSWER, ("1871", "in 1871")),
    ScoringItem("What does bread need?", "Yeast."),
)
_REFERENCES = (
    (_QUESTION, _ANSWER, "It was opened on 3 May 1904.", "It was opened in October 1871."),
    ("What is the capital of France?", "Paris is the capital of France.", "Paris", "Berlin"),
    ("Who wrote Pride and Prejudice?", "Jane Austen wrote Pride and Prejudice.", "Jane Austen", "Charles Dickens"),
    ("How much does a ticket cost?", "A ticket to the museum costs 12 euros.", "12 euros", "90 euros"),
    ("Where does the Moselle rise?", "The Moselle rises in the Vosges mountains.", "In the Vosges.", "In the Alps."),
)
"""(question, a text, a reference that it agrees with, one that it contradicts)."""


class ScorerTests(ModelTests[Scorer, ScoringItem]):
    """Tests of a `Scorer`: subclass them under a name that begins with ``Test``, and give it as the fixture ``model``.

        class TestMyScorer(ScorerTests):
            @pytest.fixture
            def model(self) -> Scorer:
                return MyScorer()

    A test that cannot hold for a model is overridden and marked ``pytest.mark.xfail(reason=…)``.

    Attributes:
        tolerated: the share of plain cases that may go wrong: a small judge errs now and then, a broken one on half of them.
    """

    tolerated: float = 0.2

    def items(self) -> Sequence[ScoringItem]:
        """Return items with and without references."""
        return _ITEMS

    def odd_items(self, text: str) -> Sequence[ScoringItem]:
        """Return items with an odd text, an odd question and an odd reference."""
        return (ScoringItem(_QUESTION, text), ScoringItem(text, _ANSWER), ScoringItem(_QUESTION, _ANSWER, (text,)))

    def ask(self, model: Scorer, items: Sequence[ScoringItem]) -> Answers:
        """Return P(the text answers) of each item."""
        return model.correctness(items)

    def check(self, found: Answers, items: Sequence[ScoringItem], about: str) -> None:
        """Fail unless these are probabilities, one for each item."""
        assert isinstance(found, np.ndarray), f"correctness returned a {type(found).__name__} for {about}; return an array"
        assert found.shape == (len(items),), (
            f"correctness returned the shape {found.shape} for {about}; return ({len(items)},), one probability for each item"
        )
        assert np.issubdtype(found.dtype, np.floating), f"correctness returned {found.dtype} for {about}; return float32"
        assert np.isfinite(found).all(), f"correctness returned NaN or infinity for {about}; raise ModelFailedError instead"
        assert ((found >= 0) & (found <= 1)).all(), f"correctness left [0, 1] for {about}; put the logit through a sigmoid"

    def test_its_threshold_is_a_probability(self, model: Scorer) -> None:
        """The cut lies where probabilities do."""
        assert 0 <= model.threshold <= 1, f"the threshold is {model.threshold}; give the probability from which a text covers"

    def test_a_blank_text_covers_nothing(self, model: Scorer) -> None:
        """What says nothing answers nothing."""
        for name, text in BLANK_TEXTS.items():
            (found,) = self._probabilities(model, [ScoringItem(_QUESTION, text)])
            assert found < model.threshold, f"{name} counts as covering a question; return 0 for a text without words"

    def test_a_text_that_answers_scores_above_one_that_does_not(self, model: Scorer) -> None:
        """Of pairs that any working judge gets right, with both texts about the same thing."""
        verdicts = self._plain_verdicts(model)
        scores = {(each.given, each.expected): each.probability for each in verdicts}
        wrong = [
            each.given
            for each in verdicts
            if each.expected == "covered" and each.probability <= 1 - scores[each.given, "not covered"]
        ]

        assert len(wrong) <= self.tolerated * len(verdicts) / 2, (
            f"for {len(wrong)} of {len(verdicts) // 2} plain questions the answer scores no higher than another text, "
            f"such as {wrong[0]!r}; look whether question and text, or right and wrong, are exchanged"
        )

    def test_its_threshold_tells_answers_from_other_texts(self, model: Scorer) -> None:
        """The cut stands between the texts that answer and those that do not."""
        failed = explain_canary_failure(self._plain_verdicts(model))

        assert failed is None, f"{failed}, at the threshold {model.threshold:g}; fit the threshold to labelled texts"

    def test_references_decide(self, model: Scorer) -> None:
        """A text that agrees with the references scores above the same text beside references that it contradicts."""
        right = self._probabilities(model, [ScoringItem(asked, text, (yes,)) for asked, text, yes, _ in _REFERENCES])
        other = self._probabilities(model, [ScoringItem(asked, text, (no,)) for asked, text, _, no in _REFERENCES])
        wrong = [case[0] for case, a, b in zip(_REFERENCES, right, other, strict=True) if a <= b]

        assert len(wrong) <= self.tolerated * len(_REFERENCES), (
            f"for {len(wrong)} of {len(_REFERENCES)} plain cases a contradicted reference scores as high as the right one, "
            f"such as {wrong[0]!r}; show the model the references"
        )

    def test_an_answer_at_the_end_of_a_long_text_counts(self, model: Scorer) -> None:
        """A text of any length is judged whole."""
        with_it, without = self._probabilities(
            model, [ScoringItem(_QUESTION, long_text(_ANSWER)), ScoringItem(_QUESTION, long_text())]
        )

        assert with_it > without, "an answer behind 20,000 characters is not seen; read long texts in windows, do not cut them"

    def _plain_verdicts(self, model: Scorer) -> list[CanaryVerdict]:
        """Ask the plainest cases; refusals and short replies are `check_judge`'s matter."""
        found = check_call(lambda: canary_verdicts(model), "asking about plain cases", "answer them")
        return [verdict for verdict in found if verdict.kind == "answering"]

    def _probabilities(self, model: Scorer, items: Sequence[ScoringItem]) -> list[float]:
        return [float(each) for each in self._ask_checked(model, items, "plain cases")]
