"""Does this text answer this question, and where: reference-free coverage in two stages.

Late interaction ranks a text's windows for a question (`proposals`); the cross-encoder judges the best-ranked ones in rounds
and stops at the first that answers. A window's probability is a logistic function of both: the cross-encoder's logit and the
window's score. A text whose best window scores below the floor is not read closely: its probability is
the first stage's own calibrated estimate, kept below the threshold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rag_cover.backends import Span
from rag_cover.texts import encodable
from rag_cover_embedded.inputs import Encoded, Task, join
from rag_cover_embedded.proposals import question_vectors, similarities, window_scores
from rag_cover_embedded.segments import SegmentedText, Window, segmented
from rag_cover_embedded.session import Session

__all__ = ["AnswerJudge", "Judgment", "Mixing", "Proposing", "likeliest_span"]

MAX_QUESTION = 128
WINDOW = 96
GROUP_CHARACTERS = 1_000_000
_LONGEST_ANSWER = 40


@dataclass(frozen=True, slots=True)
class Judgment:
    """The highest probability any judged window gave, and the sentences there that answer."""

    probability: float
    fragment: Span | None


@dataclass(frozen=True, slots=True)
class Mixing:
    """How a window's probability is made of the cross-encoder's logit and the first stage's score: a logistic regression."""

    logit: float
    score: float
    intercept: float

    def probability(self, logit: float, score: float) -> float:
        """Return P(the window answers).

        >>> Mixing(logit=1.0, score=2.0, intercept=-1.0).probability(0.0, 0.5)
        0.5
        """
        return 1 / (1 + math.exp(-(self.logit * logit + self.score * score + self.intercept)))


@dataclass(frozen=True, slots=True)
class Proposing:
    """How the first stage proposes: fitted on training questions, kept beside the weights.

    ``floor`` is the score below which a window is not judged, ``margin`` how far below the best-ranked one it may be, ``most``
    how many windows of one text are judged at most. ``slope`` and ``intercept`` turn the best score into a probability.
    """

    floor: float
    margin: float
    most: int
    slope: float
    intercept: float

    def estimate(self, score: float, threshold: float) -> float:
        """Estimate P(answers) of a text that is not read closely: below the threshold, whatever the score."""
        logit = self.slope * score + self.intercept
        return min(1 / (1 + math.exp(-logit)), 0.99 * threshold)

    def ranked(self, scores: NDArray[np.float32]) -> list[int]:
        """Rank the windows worth judging, best first."""
        order = np.argsort(-scores, kind="stable")[: self.most]
        least = max(self.floor, float(scores[order[0]]) - self.margin)
        return [int(window) for window in order if scores[window] >= least]


@dataclass(slots=True)
class _Reading:
    """One (question, text) pair under way: its windows still to judge with their scores, best first, and the best so far."""

    question: tuple[int, ...]
    text: SegmentedText
    waiting: list[tuple[Window, float]]
    probability: float
    window: Window | None = None
    span: tuple[int, int] | None = None

    def fragment(self) -> Span | None:
        return self.text.around(self.window, *self.span) if self.window and self.span else None


class AnswerJudge:
    """Judges (question, text) pairs; ``proposing`` None reads every window of every text, in one round."""

    def __init__(
        self, session: Session, tokenizer: Tokenizer, *, threshold: float, mixing: Mixing, proposing: Proposing | None
    ) -> None:
        self._session, self._tokenizer = session, tokenizer
        self._threshold, self._mixing, self._proposing = threshold, mixing, proposing

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgment]:
        """Judge pairs of question and text; a blank text answers nothing, with probability 0."""
        judged: list[Judgment] = [Judgment(0.0, None)] * len(pairs)
        for rows in _by_text(pairs):
            readings = self._begin([pairs[row] for row in rows])
            self._read([reading for reading in readings if reading is not None])
            for row, reading in zip(rows, readings, strict=True):
                if reading is not None:
                    covered = reading.probability >= self._threshold
                    judged[row] = Judgment(reading.probability, reading.fragment() if covered else None)
        return judged

    def evidence(self, pairs: Sequence[tuple[str, str]]) -> list[NDArray[np.float64]]:
        """Return, for each pair, the (windows, 2) logit and score of the windows to read: what `Mixing` is fitted on."""
        found: list[NDArray[np.float64]] = [np.zeros((0, 2))] * len(pairs)
        for rows in _by_text(pairs):
            readings = self._begin([pairs[row] for row in rows])
            for row, reading in zip(rows, readings, strict=True):
                if reading is not None:
                    run = self._session.run([_pair(reading, window) for window, _ in reading.waiting], ["answers"])
                    scores = [score for _, score in reading.waiting]
                    found[row] = np.stack([[float(logit[0]) for (logit,) in run], scores], axis=1)
        return found

    def _begin(self, pairs: Sequence[tuple[str, str]]) -> list[_Reading | None]:
        """Segment each text once, and choose the windows to judge for each of its questions."""
        texts = _numbered(text for _, text in pairs)
        questions = _numbered(question for question, _ in pairs)
        cut = segmented(self._tokenizer, list(texts))
        encoded = self._tokenizer.encode_batch([encodable(question) for question in questions], add_special_tokens=False)
        ids = [tuple(encoding.ids[:MAX_QUESTION]) for encoding in encoded]
        numbered = [(questions[question], texts[text]) for question, text in pairs]
        scores = self._scores(list(questions), cut, numbered)
        return [
            self._reading(ids[question], cut[text], scores[row]) if len(scores[row]) else None
            for row, (question, text) in enumerate(numbered)
        ]

    def _reading(self, question: tuple[int, ...], text: SegmentedText, scores: NDArray[np.float32]) -> _Reading:
        windows = list(zip(text.windows(WINDOW), scores.tolist(), strict=True))
        if self._proposing is None:
            return _Reading(question, text, windows, 0.0)
        ranked = [windows[window] for window in self._proposing.ranked(scores)]
        estimate = 0.0 if ranked else self._proposing.estimate(float(scores.max()), self._threshold)
        return _Reading(question, text, ranked, estimate)

    def _scores(
        self, questions: Sequence[str], texts: Sequence[SegmentedText], pairs: Sequence[tuple[int, int]]
    ) -> list[NDArray[np.float32]]:
        """Score every window of each pair's text for its question."""
        vectors = question_vectors(
            self._session, self._tokenizer, [encodable(question) for question in questions], longest=MAX_QUESTION
        )
        asked: list[list[int]] = [[] for _ in texts]
        for row, (_, text) in enumerate(pairs):
            asked[text].append(row)
        stacked = [_stack([vectors[pairs[row][0]].vectors for row in rows]) for rows in asked]
        scores = [np.zeros(0, np.float32)] * len(pairs)
        for rows, cut, similar in zip(asked, texts, similarities(self._session, texts, stacked), strict=True):
            windows, start = cut.windows(WINDOW), 0
            for row in rows:
                question = vectors[pairs[row][0]]
                stop = start + len(question.weights)
                if windows and stop > start:
                    scores[row] = window_scores(similar[start:stop], question.weights, windows)
                start = stop
        return scores

    def _read(self, readings: Sequence[_Reading]) -> None:
        """Judge waiting windows in rounds of 1, 1, 2, 4, … for each pair that no window has answered yet."""
        share = max((len(reading.waiting) for reading in readings), default=0) if self._proposing is None else 1
        taken = 0
        while batch := [
            (reading, window, score)
            for reading in readings
            if reading.probability < self._threshold or self._proposing is None
            for window, score in reading.waiting[:share]
        ]:
            for reading in readings:
                reading.waiting = reading.waiting[share:]
            self._judge_windows(batch)
            taken += share
            share = taken

    def _judge_windows(self, batch: Sequence[tuple[_Reading, Window, float]]) -> None:
        encoded = [_pair(reading, window) for reading, window, _ in batch]
        found = self._session.run(encoded, ["answers", "span"])
        for (reading, window, score), pair, (logit, span) in zip(batch, encoded, found, strict=True):
            probability = self._mixing.probability(float(logit[0]), score)
            if reading.window is None or probability > reading.probability:
                reading.probability, reading.window, reading.span = probability, window, likeliest_span(span[pair.start : -1])


def _pair(reading: _Reading, window: Window) -> Encoded:
    return join(Task.ANSWERS, reading.question, reading.text.ids[reading.text.tokens(window)].tolist())


def likeliest_span(logits: NDArray[np.float32]) -> tuple[int, int]:
    """Choose the first and last token of the likeliest answer of at most 40 tokens."""
    starts, ends = logits[:, 0], logits[:, 1]
    total = starts[:, None] + ends[None, :]
    allowed = np.tri(len(logits), k=_LONGEST_ANSWER, dtype=bool) & ~np.tri(len(logits), k=-1, dtype=bool)
    first, last = np.unravel_index(int(np.where(allowed, total, -np.inf).argmax()), total.shape)
    return int(first), int(last)


def _by_text(pairs: Sequence[tuple[str, str]]) -> Iterator[list[int]]:
    """Group rows so that pairs over one text stay together and a group holds about a million characters of text."""
    rows_of: dict[str, list[int]] = {}
    for row, (_, text) in enumerate(pairs):
        if text.strip():
            rows_of.setdefault(text, []).append(row)
    group: list[int] = []
    size = 0
    for text, rows in rows_of.items():
        if group and size + len(text) > GROUP_CHARACTERS:
            yield group
            group, size = [], 0
        group += rows
        size += len(text)
    if group:
        yield group


def _numbered(values: Iterator[str]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for value in values:
        found.setdefault(value, len(found))
    return found


def _stack(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    return np.concatenate(vectors) if vectors else np.zeros((0, 384), np.float32)
