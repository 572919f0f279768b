"""What a model of entailment owes its callers (`rag_cover.backends.Entailer`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag_cover.backends import Entailer
from rag_cover.judge_check import canary_verdicts, explain_canary_failure
from rag_cover.testing.conformance.attempts import check_call
from rag_cover.testing.conformance.models import Answers, ModelTests
from rag_cover.testing.conformance.oddities import LONG, long_text
from rag_cover.testing.judges import KeywordScorer

__all__ = ["EntailerTests"]

_PREMISE, _HYPOTHESIS = "The two children are asleep in their beds.", "The children are sleeping."
_PAIRS = (
    (_PREMISE, _HYPOTHESIS),
    (_HYPOTHESIS, _PREMISE),
    (_PREMISE, "The children are awake."),
    (_PREMISE, "It rained all day, and the river rose by a metre before anybody thought of the boats."),
    ("Yes.", "Yes."),
)
_ROUNDING = 1e-3  # half precision, added up


class EntailerTests(ModelTests[Entailer, tuple[str, str]]):
    """Tests of an `Entailer`: subclass them under a name that begins with ``Test``, and give it as the fixture ``model``.

    class TestMyEntailer(EntailerTests):
        @pytest.fixture
        def model(self) -> Entailer:
            return MyEntailer()
    """

    def items(self) -> Sequence[tuple[str, str]]:
        """Return pairs of premise and hypothesis."""
        return _PAIRS

    def odd_items(self, text: str) -> Sequence[tuple[str, str]]:
        """Return an odd premise, an odd hypothesis, and both; what is endless follows from nothing endless."""
        both = [(text, text)] if len(text) < LONG else []
        return [(text, _HYPOTHESIS), (_PREMISE, text), *both]

    def ask(self, model: Entailer, items: Sequence[tuple[str, str]]) -> Answers:
        """Return the three probabilities of each pair."""
        return model.entail(items)

    def check(self, found: Answers, items: Sequence[tuple[str, str]], about: str) -> None:
        """Fail unless these are distributions over three classes, one for each pair."""
        assert isinstance(found, np.ndarray), f"entail returned a {type(found).__name__} for {about}; return an array"
        assert found.shape == (len(items), 3), (
            f"entail returned the shape {found.shape} for {about}; return ({len(items)}, 3): "
            "P(entailment), P(neutral), P(contradiction)"
        )
        assert np.issubdtype(found.dtype, np.floating), f"entail returned {found.dtype} for {about}; return float32"
        assert np.isfinite(found).all(), f"entail returned NaN or infinity for {about}; raise ModelFailedError instead"
        assert ((found >= 0) & (found <= 1)).all(), f"entail left [0, 1] for {about}; put the logits through a softmax"
        assert np.allclose(found.sum(axis=1), 1, atol=_ROUNDING), (
            f"the three probabilities do not add up to 1 for {about}; put the logits through one softmax"
        )

    def test_its_labels_are_in_order(self, model: Entailer) -> None:
        """Entailment first and contradiction last, whatever the order of the checkpoint: plain cases would show it."""
        plain = check_call(lambda: canary_verdicts(KeywordScorer(), model), "asking about plain cases", "answer them")
        failed = explain_canary_failure([each for each in plain if each.kind == "entailment"])

        assert failed is None, f"{failed}; read the order of the labels from the checkpoint's configuration"

    def test_premise_and_hypothesis_are_not_exchanged(self, model: Entailer) -> None:
        """What is said in general follows from what is said in detail, and not the other way round."""
        detail, general = "Three black dogs ran across the beach in Wales on 4 May 1998.", "Dogs ran across the beach."
        found = self._ask_checked(model, [(detail, general), (general, detail)], "a detailed and a general statement")

        assert found[0][0] > found[1][0], "the general statement entails the detailed one; a pair is (premise, hypothesis)"

    def test_what_stands_at_the_end_of_a_long_premise_counts(self, model: Entailer) -> None:
        """A premise of any length is read whole."""
        found = self._ask_checked(model, [(long_text(_PREMISE), _HYPOTHESIS), (long_text(), _HYPOTHESIS)], "a long premise")

        assert found[0][0] > found[1][0], (
            "what stands behind 20,000 characters of a premise is not seen; read long premises in windows, do not cut them"
        )
