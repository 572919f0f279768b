"""What a model whose belief is measured owes its callers (`rag_cover.backends.Receiver`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from rag_cover.backends import Receiver
from rag_cover.questions import Passage
from rag_cover.testing.conformance.attempts import check_call
from rag_cover.testing.conformance.models import Answers, ModelTests
from rag_cover.testing.conformance.oddities import ODD_TEXTS
from rag_cover.traces import Sample

__all__ = ["ReceiverTests"]

Asked = tuple[str, tuple[Passage, ...]]

_SAMPLES = 3
_QUESTION = "When was the Harlow library opened?"
_ABOVE = 1e-6  # a log-probability that was rounded
_READ = (
    (_QUESTION, "The Harlow library was opened on 3 May 1904.", "1904"),
    ("What is the capital of Veldia?", "Torrin is the capital of Veldia.", "Torrin"),
    ("Who wrote The Silent Orchard?", "The Silent Orchard was written by Ada Fenwick.", "Fenwick"),
    ("How much does a ticket to the museum cost?", "A ticket to the museum costs 12 euros.", "12"),
    ("Where does the river Ansel rise?", "The river Ansel rises in the Kerr hills.", "Kerr"),
)
"""(question, a passage that answers it, what the answer says)."""


class ReceiverTests(ModelTests[Receiver, Asked]):
    """Tests of a `Receiver`: subclass them under a name that begins with ``Test``, and give it as the fixture ``model``.

        class TestMyReceiver(ReceiverTests):
            @pytest.fixture
            def model(self) -> Receiver:
                return MyReceiver()

    A model behind an API keeps no seed: override and mark as expected to fail what rests on one.

    Attributes:
        tolerated: the share of plain cases that may go wrong.
    """

    tolerated: float = 0.2

    def items(self) -> Sequence[Asked]:
        """Return questions with and without passages."""
        read = [(question, (Passage(text),)) for question, text, _ in _READ[:3]]
        return [*read, (_QUESTION, ()), (_QUESTION, (Passage("Bread needs yeast."), Passage(_READ[0][1])))]

    def odd_items(self, text: str) -> Sequence[Asked]:
        """Return an odd question, and an odd passage."""
        return [(text, ()), (_QUESTION, (Passage(text),))] if text.strip() else [(text, ())]

    def ask(self, model: Receiver, items: Sequence[Asked]) -> Answers:
        """Return the samples of each item."""
        return model.sample(items, n=_SAMPLES, seed=7)

    def check(self, found: Answers, items: Sequence[Asked], about: str) -> None:
        """Fail unless there are so many samples for each item, with log-probabilities that are some."""
        assert len(found) == len(items), f"sample returned {len(found)} tuples for {about}, {len(items)} items; return one each"
        for drawn in found:
            assert len(drawn) == _SAMPLES, (
                f"{len(drawn)} samples were drawn for {about} where n={_SAMPLES}; draw n for each item"
            )
            assert all(isinstance(each, Sample) for each in drawn), f"what was drawn for {about} is no Sample; return Samples"
            known = [value for each in drawn for value in each.token_logprobs or ()]
            assert all(value <= _ABOVE and not math.isnan(value) for value in known), (
                f"a log-probability is NaN or above 0 for {about}; give natural logarithms, or None where none are known"
            )

    def test_it_reads_the_passages(self, model: Receiver) -> None:
        """What a passage plainly says is what is answered, in plain cases."""
        found = self._ask_checked(model, [(question, (Passage(text),)) for question, text, _ in _READ], "plain cases")
        wrong = [case[0] for case, drawn in zip(_READ, found, strict=True) if not any(case[2] in each.text for each in drawn)]

        assert len(wrong) <= self.tolerated * len(_READ), (
            f"for {len(wrong)} of {len(_READ)} plain cases no sample says what the passage says, such as {wrong[0]!r}; "
            "show the model the passages"
        )

    def test_as_many_samples_are_drawn_as_are_asked_for(self, model: Receiver) -> None:
        """One and many."""
        for n in (1, 5):
            found = check_call(partial(model.sample, self.items(), n=n), f"drawing {n} samples", "draw them")
            assert {len(drawn) for drawn in found} == {n}, f"n={n} did not draw {n} samples for each item; draw n for each"

    def _odd_texts(self) -> dict[str, str]:
        return dict(ODD_TEXTS)  # a passage cannot be made of what UTF-8 cannot hold
