"""What every model that answers items in batches owes its callers, whatever it answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_cover.testing.conformance.attempts import THREADS, at_once, check_call
from rag_cover.testing.conformance.oddities import ODD_TEXTS, UNENCODABLE

__all__ = ["Answers", "ModelTests"]

M = TypeVar("M")
Item = TypeVar("Item")

Answers = Sequence[Any] | NDArray[Any]
"""One for each item."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")


class ModelTests(Generic[M, Item]):
    """Tests of a model that answers items in batches; the fixture ``model`` returns it.

    Attributes:
        tolerance: how far an answer may be off that was found alone or in another order; single precision takes about 1e-6,
            a graphics processor more. The same call must give the same answer bit for bit.
    """

    tolerance: float = 1e-6

    def items(self) -> Sequence[Item]:
        """Return a few items, all of them different."""
        raise NotImplementedError

    def odd_items(self, text: str) -> Sequence[Item]:
        """Return items with a text in every place that takes one."""
        raise NotImplementedError

    def ask(self, model: M, items: Sequence[Item]) -> Answers:
        """Return the model's answers to items."""
        raise NotImplementedError

    def check(self, found: Answers, items: Sequence[Item], about: str) -> None:
        """Fail unless these can be answers to the items."""
        raise NotImplementedError

    def test_it_answers_every_item(self, model: M) -> None:
        """An answer for each item, of the shape, the type and the range that callers rely on."""
        items = self.items()

        self.check(self._ask_checked(model, items, "a few plain items"), items, "a few plain items")

    def test_no_items_have_no_answers(self, model: M) -> None:
        """Callers do not look whether there is anything to ask."""
        found = self._ask_checked(model, [], "no items")

        self.check(found, [], "no items")

    def test_the_same_items_get_the_same_answers(self, model: M) -> None:
        """A call that is repeated gives what it gave, bit for bit."""
        once, again = (self._ask_checked(model, self.items(), "a few plain items") for _ in range(2))

        assert self._same(once, again, within=0.0), (
            "the same items got other answers when they were asked about again; "
            "seed what samples, and put the network into its mode for inference"
        )

    def test_an_item_is_answered_alone_as_among_others(self, model: M) -> None:
        """What else is in the batch says nothing about an item."""
        items = self.items()

        together = self._ask_checked(model, items, "a few plain items")
        alone = [self._ask_checked(model, [item], "one item")[0] for item in items]

        assert self._same(together, alone, within=self.tolerance), (
            f"an item got another answer alone than in a batch, by more than {self.tolerance:g}; "
            "mask the padding, and do not scale over the batch"
        )

    def test_the_order_of_items_does_not_matter(self, model: M) -> None:
        """The n-th answer is the n-th item's, also where items are sorted by length to be run."""
        items = list(self.items())

        forward = self._ask_checked(model, items, "a few plain items")
        backward = self._ask_checked(model, items[::-1], "the same items the other way round")

        assert self._same(forward, list(backward)[::-1], within=self.tolerance), (
            "answers did not follow their items when these were turned round; give answers back in the order of the items"
        )

    def test_an_item_that_is_asked_twice_is_answered_twice(self, model: M) -> None:
        """A memory of what was asked must not swallow an answer."""
        items = [*self.items(), *self.items()]

        self.check(self._ask_checked(model, items, "items that occur twice"), items, "items that occur twice")

    def test_many_threads_get_what_one_gets(self, model: M) -> None:
        """One instance serves all threads of a run; each thread here asks about the items in another order."""
        items = list(self.items())
        turns = [items[turn % len(items) :] + items[: turn % len(items)] for turn in range(THREADS)]
        alone = [self._ask_checked(model, turn, "a few plain items") for turn in turns]

        found = at_once([partial(self._ask_checked, model, turn, "items from many threads") for turn in turns])

        assert all(self._same(one, other, within=self.tolerance) for one, other in zip(alone, found, strict=True)), (
            f"{THREADS} threads got other answers than one; keep what belongs to a call in variables, not on the model, "
            "or guard it by a lock"
        )

    def test_odd_texts_are_answered_too(self, model: M) -> None:
        """Blank, endless and unreadable texts are data, not mistakes of the caller."""
        for name, text in self._odd_texts().items():
            items = self.odd_items(text)
            self.check(self._ask_checked(model, items, name), items, name)

    def test_what_it_is_asked_stays_as_it_was(self, model: M) -> None:
        """The list of items is its caller's."""
        items = list(self.items())

        self._ask_checked(model, items, "a few plain items")

        assert items == list(self.items()), "the list of items was changed; work on a copy of it"

    def test_its_fingerprint_names_it(self, model: M) -> None:
        """Verdicts are kept under it: it is a text, always the same, and of this model alone."""
        fingerprint = getattr(model, "fingerprint", None)

        assert isinstance(fingerprint, str), (
            "the model has no fingerprint, so its verdicts cannot be kept from one process to the next; "
            "add one: the weights' sha256, or the model's name and its server's address"
        )
        assert fingerprint.strip(), "the fingerprint is blank; two models would share their verdicts"
        assert not _ADDRESS.search(fingerprint), (
            f"the fingerprint {fingerprint!r} holds an address in memory; the next process would not know the model again"
        )
        assert fingerprint == getattr(model, "fingerprint", None), "the fingerprint changes; compute it from what is fixed"

    def _ask_checked(self, model: M, items: Sequence[Item], about: str) -> Answers:
        return check_call(lambda: self.ask(model, items), f"asking about {about}", "answer it; an item is data, not a mistake")

    def _odd_texts(self) -> Mapping[str, str]:
        return {**ODD_TEXTS, **UNENCODABLE}

    def _same(self, one: Answers, other: Answers, *, within: float) -> bool:
        if len(one) != len(other):
            return False
        if not isinstance(one, np.ndarray):
            return list(one) == list(other)
        return bool(np.allclose(one, np.asarray(other), rtol=0, atol=within))
