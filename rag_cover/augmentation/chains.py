"""Core sub-questions on their way from what was given to what can be searched for: slots filled, or left out.

`#2` waits until an answer to the second sub-question is known. Where none will be, its place is left empty: that finds less,
and no passage is then taken for an answer that nobody gave.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rag_cover.decomposition.multihop.slots import fill_slots, slots_in, without_slots

__all__ = ["LONGEST_ANSWER", "Chain", "searchable"]


LONGEST_ANSWER = 120
"""Characters; an answer that goes on for longer is no name to search for, and leaves its place empty."""


class Chain:
    """Sub-questions by their numbers, from 1, as they are to be searched for.

    What ``literal`` numbers is no slot: a question about "the #1 song" has sub-questions about it, too.

    >>> chain = Chain(["Who directed Jaws?", "When was #1 born?"])
    >>> chain.ready, chain.awaited
    ([1], [1])
    >>> chain.answer(1, "Steven Spielberg")
    >>> chain.text(2)
    'When was Steven Spielberg born?'
    """

    def __init__(self, texts: Sequence[str], *, literal: Collection[int] = ()) -> None:
        self._given = dict(enumerate(texts, 1))
        self._literal = frozenset(literal)
        self._needs = {
            number: [slot for slot in slots_in(text, position=number) if slot not in self._literal]
            for number, text in self._given.items()
        }
        self.answers: dict[int, str | None] = {}

    @property
    def numbers(self) -> list[int]:
        """Return the numbers of all sub-questions."""
        return list(self._given)

    @property
    def bare(self) -> list[str]:
        """Return all sub-questions without their slots."""
        return [without_slots(text, position=number, keep=self._literal) for number, text in self._given.items()]

    @property
    def ready(self) -> list[int]:
        """Return the numbers of those whose slots are settled: filled, or known to stay empty."""
        return [number for number in self._given if self._is_settled(number)]

    @property
    def awaited(self) -> list[int]:
        """Return the numbers of those that are ready and whose answers a later one waits for."""
        waited = {need for needs in self._needs.values() for need in needs if need not in self.answers}
        return [number for number in self.ready if number in waited]

    def answer(self, number: int, answer: str | None) -> None:
        """Settle the slots of one sub-question; None where no answer was found."""
        self.answers[number] = answer

    def give_up(self) -> None:
        """Settle all slots that are still open: no answers will come."""
        for number in {need for needs in self._needs.values() for need in needs}:
            self.answers.setdefault(number, None)

    def text(self, number: int) -> str:
        """Return a sub-question as it is to be searched for now: answers filled in, other slots left out."""
        answers = {slot: self.answers.get(slot) for slot in self._needs[number]}
        known = {slot: answer for slot, answer in answers.items() if answer is not None and len(answer) <= LONGEST_ANSWER}
        bare = without_slots(self._given[number], position=number, keep=self._literal.union(known))
        return fill_slots(bare, known)

    def texts(self, numbers: Iterable[int]) -> list[str]:
        """Return some sub-questions as they are to be searched for, in their order; no text twice, none that asks nothing."""
        return [text for text in dict.fromkeys(map(self.text, numbers)) if searchable(text)]

    def _is_settled(self, number: int) -> bool:
        return all(need in self.answers for need in self._needs[number])


def searchable(text: str) -> bool:
    """Check whether anything is left to search for, once slots are left out.

    >>> searchable("When was born?"), searchable("?")
    (True, False)
    """
    return any(map(str.isalnum, text))
