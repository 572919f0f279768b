"""Which of people's labels are of texts that an evaluation holds, and why the others are not.

Labels are matched by what was asked and the text, up to case, white space and the mark at the end (`plain_query`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from rag_cover.labels import LabelledText
from rag_cover.questions import Question, plain_query

__all__ = ["HeldTexts", "LabelMatches", "LabelPlace", "explain_mismatches", "match_labels"]

Mismatch = Literal["question", "sub_question", "text"]


@dataclass(frozen=True, slots=True)
class LabelPlace:
    """What a label is of: the names of its question, what was asked of the text, and the text."""

    question: frozenset[str]
    asked: str
    text: str

    @classmethod
    def of(cls, names: Iterable[str | None], asked: str, text: str) -> LabelPlace:
        """Write a place as it is matched; ``names`` are texts and ids of the question, those that are known."""
        return cls(frozenset(plain_query(name) for name in names if name), plain_query(asked), plain_query(text))

    @classmethod
    def of_row(cls, row: LabelledText) -> LabelPlace:
        """Return what a row of labels is of; its key names its question or its trace."""
        return cls.of((row.user_question or row.question, row.key), row.question, row.text)


@dataclass(frozen=True, slots=True)
class LabelMatches:
    """What became of people's labels of answers: ``used`` of the ``given`` ones are of verdicts on answers of the evaluation.

    Of the others ``questions`` name a question that it does not hold, ``sub_questions`` a sub-question that it does not ask,
    ``texts`` an answer that it does not hold; ``passages`` are of passages, which no figure rests on; ``chosen`` were chosen,
    and are no random sample; ``repeated`` are of a text that a later label is of.
    """

    given: int
    used: int
    questions: int = 0
    sub_questions: int = 0
    texts: int = 0
    passages: int = 0
    chosen: int = 0
    repeated: int = 0

    @property
    def reasons(self) -> str:
        """Say why labels are not used, with counts; empty where all are.

        >>> LabelMatches(4, 1, questions=1, texts=2).reasons
        '1 is of a question that is not here, 2 are of answers that are not here'
        """
        said = [
            *explain_mismatches(self.questions, self.sub_questions, self.texts, text="answer"),
            *_count(self.passages, "is of a passage, which no figure rests on", "are of passages, which no figure rests on"),
            *_count(self.chosen, "is of a chosen verdict", "are of chosen verdicts"),
            *_count(self.repeated, "is of an answer that another label is of", "are of answers that other labels are of"),
        ]
        return ", ".join(said)


class HeldTexts:
    """Which of the places that labels are of are seen in an evaluation; its other texts are not kept."""

    def __init__(self, wanted: Iterable[LabelPlace]) -> None:
        places = tuple(wanted)
        self._names = {name for each in places for name in each.question}
        self._asked = {each.asked for each in places}
        self._places = {(each.asked, each.text) for each in places}
        self._held_names: set[str] = set()
        self._held_asked: set[str] = set()
        self._held_places: set[tuple[str, str]] = set()

    def add_question(self, question: Question, trace_id: str | None) -> None:
        """Note that the evaluation holds a question."""
        if self._names:
            names = {plain_query(name) for name in (question.text, question.id, trace_id) if name}
            self._held_names |= names & self._names

    def add_text(self, asked: str, text: str) -> None:
        """Note that the evaluation holds a text, and what was asked of it."""
        if (said := plain_query(asked)) in self._asked:
            self._held_asked.add(said)
            place = said, plain_query(text)
            if place in self._places:
                self._held_places.add(place)

    def find_mismatch(self, place: LabelPlace) -> Mismatch | None:
        """Return what of a label's place the evaluation does not hold; None where it holds the text."""
        if (place.asked, place.text) in self._held_places:
            return None
        if place.question and place.question.isdisjoint(self._held_names):
            return "question"
        return "text" if place.asked in self._held_asked else "sub_question"


def match_labels(rows: Collection[LabelledText], held: HeldTexts) -> LabelMatches:
    """Count the labels of answers that an evaluation holds, and why others are not used."""
    fates: Counter[str] = Counter()
    used: set[tuple[str, str]] = set()
    for row in reversed(tuple(rows)):  # of several of one text the last counts
        place = LabelPlace.of_row(row)
        text = place.asked, place.text
        fate = _fate(row, held.find_mismatch(place), is_repeated=text in used)
        fates[fate] += 1
        if fate == "used":
            used.add(text)
    return LabelMatches(
        len(rows),
        fates["used"],
        questions=fates["question"],
        sub_questions=fates["sub_question"],
        texts=fates["text"],
        passages=fates["passage"],
        chosen=fates["chosen"],
        repeated=fates["repeated"],
    )


def explain_mismatches(questions: int, sub_questions: int, texts: int, *, text: str) -> list[str]:
    """Say what labels are of that an evaluation does not hold, with counts; ``text`` says what their texts are."""
    return [
        *_count(questions, "is of a question that is not here", "are of questions that are not here"),
        *_count(sub_questions, "is of a sub-question that is not asked here", "are of sub-questions that are not asked here"),
        *_count(texts, f"is of {_article(text)} {text} that is not here", f"are of {text}s that are not here"),
    ]


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


def _fate(row: LabelledText, mismatch: Mismatch | None, *, is_repeated: bool) -> str:
    if not row.user_question:
        return "passage"
    if mismatch is not None:
        return mismatch
    if row.chosen:
        return "chosen"
    return "repeated" if is_repeated else "used"


def _count(number: int, one: str, several: str) -> Iterator[str]:
    if number:
        yield f"{number:,} {one if number == 1 else several}"
