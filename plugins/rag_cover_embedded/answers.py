"""Does this text answer this question, and where: reference-free coverage of passages and of replies.

A reply of up to ``WHOLE_REPLY`` tokens is read with the user's question, by a head of its own; of a longer one every window
is read as a passage, since a piece of a reply is no reply. Of a passage of more than ``SHORT`` tokens, and of any text of
more windows than may be read, late interaction ranks the windows first (`proposals`); the cross-encoder judges the best-
ranked ones in rounds and stops at the first that answers. A long passage whose best window scores below the floor is not read
closely: its probability is the first stage's own calibrated estimate, kept below the threshold.

The window with the highest logit speaks for the text. Its probability is a logistic function of that logit and of the
logarithms of the numbers of windows and of tokens: of many windows one is more likely to err, and an answer among other
sentences raises the logit less (`ScoreCalibration`). Of a text of more than ``SHORT`` tokens the first stage's highest score
counts, too: most passages that retrieval brings back do not answer since they are about something else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rag_cover.backends import Span, is_part
from rag_cover.texts import encodable
from rag_cover_embedded.inputs import MAX_FIRST, MAX_TOKENS, Encoded, Task, join, reply_question
from rag_cover_embedded.memory import LogitMemory, VectorMemory
from rag_cover_embedded.segments import SegmentedText, Window, segment_texts
from rag_cover_embedded.session import Network
from rag_cover_embedded.window_retrieval import question_vectors, similarities, window_scores
from rag_cover_embedded.word_rules import answers_nothing

__all__ = [
    "AnswerJudge",
    "Asked",
    "CalibrationName",
    "Calibrations",
    "FittedKind",
    "Proposing",
    "ScoreCalibration",
    "WindowEvidence",
    "WindowJudgment",
    "calibration_name",
    "likeliest_span",
    "window_evidence",
]

MAX_QUESTION = 128
WHOLE_REPLY = MAX_TOKENS - 3 - MAX_FIRST
"""Tokens of a reply that is read whole: what surely fits beside the longest question."""
WINDOW = 120
"""Tokens of a window of a passage: of 64, 96, 120 and 157 the best that loses on no held-out set (`training/RUNS.md`)."""
MOST_WINDOWS = 8
"""Windows that count in a probability at most: texts of more had no part in fitting it."""
SHORT = 64
"""Tokens of a passage that is read without asking the first stage."""
GROUP_CHARACTERS = 1_000_000
_LONGEST_ANSWER = 40
_NEXT_SENTENCE = 2.0
"""By how much the logits of an answer's start and end must gain for each sentence more that it takes."""
_SAYS_NOTHING = 0.03
"""The probability, at most, that a text answers which by a rule says nothing of what is asked."""
_ROUNDING = 1e-3
"""More than the network's logits, in single precision, are off."""


CalibrationName = Literal["passages", "long_passages", "replies"]
FittedKind = Literal["passages", "long_passages", "replies", "long_replies"]
Asked = tuple[str, str, str]
"""A question, a text, and the user's question that the text replies to, empty for a passage."""


@dataclass(frozen=True, slots=True)
class WindowJudgment:
    """The highest probability any judged window gave, and the sentences there that answer."""

    probability: float
    fragment: Span | None


@dataclass(frozen=True, slots=True)
class WindowEvidence:
    """What a text's probability is made of: the highest logit of its windows, their number, its tokens, and the similarity.

    ``windows`` and ``tokens`` are at least 1 and at most `MOST_WINDOWS` and `WHOLE_REPLY`; ``similarity`` is the first stage's
    highest score of a text of more than ``SHORT`` tokens, else 0.
    """

    logit: float
    windows: int = 1
    tokens: int = 1
    similarity: float = 0.0


@dataclass(frozen=True, slots=True)
class ScoreCalibration:
    """How a text's probability is made of its evidence: a logistic regression (Platt scaling).

    It is fitted on texts that the weights never saw, for short passages, long ones, and replies. ``windows`` and ``tokens``
    weigh logarithms.
    """

    logit: float
    windows: float = 0.0
    tokens: float = 0.0
    similarity: float = 0.0
    intercept: float = 0.0

    def probability(self, evidence: WindowEvidence) -> float:
        """Return P(the text answers).

        >>> calibration = ScoreCalibration(logit=1.0, windows=-1.0, tokens=1.0, similarity=2.0, intercept=0.5)
        >>> calibration.probability(WindowEvidence(-0.5))
        0.5
        """
        total = self.logit * evidence.logit + self._rest(evidence)
        return 1 / (1 + math.exp(-max(-700.0, min(700.0, total))))

    def least_logit(self, evidence: WindowEvidence, probability: float) -> float:
        """Return the logit at which a text with otherwise this evidence has this probability, in (0, 1); -inf if none has.

        >>> ScoreCalibration(logit=2.0, intercept=1.0).least_logit(WindowEvidence(0.0), 0.5)
        -0.5
        """
        if self.logit <= 0:
            return -math.inf
        return (math.log(probability / (1 - probability)) - self._rest(evidence)) / self.logit

    def _rest(self, evidence: WindowEvidence) -> float:
        """Return the log-odds but for what the logit adds."""
        total = self.similarity * evidence.similarity + self.intercept
        return total + self.windows * math.log(evidence.windows) + self.tokens * math.log(evidence.tokens)


@dataclass(frozen=True, slots=True)
class Calibrations:
    """The calibrations of passages of at most ``SHORT`` tokens, of longer ones, and of replies of one window.

    ``long_replies`` is that of replies of several windows, None where they fall under the passages' calibrations.
    """

    passages: ScoreCalibration
    long_passages: ScoreCalibration
    replies: ScoreCalibration
    long_replies: ScoreCalibration | None = None

    def probability(self, task: Task, evidence: WindowEvidence) -> float:
        """Return P(the text answers) by the calibration that the text falls under."""
        return self.of(task, evidence).probability(evidence)

    def of(self, task: Task, evidence: WindowEvidence) -> ScoreCalibration:
        """Choose the calibration that a text falls under."""
        calibration: ScoreCalibration = getattr(self, calibration_name(task, evidence))
        return calibration

    def of_reply(self, task: Task, evidence: WindowEvidence) -> ScoreCalibration:
        """Choose the calibration that a reply falls under."""
        return self.long_replies if task is Task.ANSWERS and self.long_replies is not None else self.of(task, evidence)


def calibration_name(task: Task, evidence: WindowEvidence) -> CalibrationName:
    """Name the calibration that a text falls under; a reply of several windows is judged, window by window, as passages are."""
    if task is Task.REPLIES and evidence.windows == 1:
        return "replies"
    return "long_passages" if evidence.tokens > SHORT else "passages"


def window_evidence(text: SegmentedText, logit: float, *, windows: int, similarity: float) -> WindowEvidence:
    """Gather what a text's probability is made of."""
    tokens = max(1, min(int(text.bounds[-1]), WHOLE_REPLY))
    return WindowEvidence(logit, min(windows, MOST_WINDOWS), tokens, similarity if tokens > SHORT else 0.0)


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

    def first(self, scores: NDArray[np.float32]) -> list[int]:
        """Rank the windows, best first, and keep as many as are read at most."""
        return [int(window) for window in np.argsort(-scores, kind="stable")[: self.most]]

    def rank_windows(self, scores: NDArray[np.float32]) -> list[int]:
        """Rank the windows worth judging, best first."""
        order = self.first(scores)
        least = max(self.floor, float(scores[order[0]]) - self.margin)
        return [window for window in order if scores[window] >= least]


@dataclass(slots=True)
class _Reading:
    """One text under way: its windows still to judge, best first, and the best so far.

    ``windows`` is how many the text has, ``similarity`` the first stage's highest score of them; ``probability`` is the best
    window's, or an estimate where none is read.
    """

    task: Task
    question: tuple[int, ...]
    text: SegmentedText
    windows: int
    waiting: list[Window]
    probability: float = 0.0
    window: Window | None = None
    span: tuple[int, int] | None = None
    is_reply: bool = False
    similarity: float = 0.0

    def evidence(self, logit: float) -> WindowEvidence:
        """Gather what its probability is made of."""
        similarity = self.similarity if self.task is Task.ANSWERS else 0.0
        return window_evidence(self.text, logit, windows=self.windows, similarity=similarity)

    def fragment(self) -> Span | None:
        return self.text.around(self.window, *self.span) if self.window and self.span else None


class AnswerJudge:
    """Judges texts; ``proposing`` None reads every window of every text, in one round. ``known`` are logits of other passes."""

    def __init__(
        self,
        session: Network,
        tokenizer: Tokenizer,
        *,
        threshold: float,
        reply_threshold: float,
        calibrations: Calibrations,
        proposing: Proposing | None,
        known: LogitMemory | None = None,
    ) -> None:
        self._session, self._tokenizer, self._proposing = session, tokenizer, proposing
        self._known = known or LogitMemory(0)
        self._cuts = {False: threshold, True: reply_threshold}
        self._calibrations = calibrations
        self._firsts: VectorMemory[tuple[str, str], tuple[int, ...]] = VectorMemory(4_096)

    def judge(self, asked: Sequence[Asked]) -> list[WindowJudgment]:
        """Judge texts by their questions; a blank text answers nothing, with probability 0.

        A reply to a question of several parts answers one of them only where it does so by itself, too: beside the user's
        question, what answers the one part looks as if it answered the other. The lower probability counts. What answers
        nothing by its words alone (`word_rules`) does not, whatever the network says.
        """
        judged = self.judge_once(asked)
        in_parts = [
            row
            for row, (found, (question, _, user_question)) in enumerate(zip(judged, asked, strict=True))
            if found.probability >= self._cuts[True] and is_part(question, user_question)
        ]
        alone = self.judge_once([(*asked[row][:2], "") for row in in_parts])
        for row, found in zip(in_parts, alone, strict=True):
            lower = min(judged[row].probability, self._as_reply(found.probability))
            judged[row] = WindowJudgment(lower, judged[row].fragment if lower >= self._cuts[True] else None)
        for row, each in enumerate(asked):
            if judged[row].probability > _SAYS_NOTHING and answers_nothing(*each):
                judged[row] = WindowJudgment(_SAYS_NOTHING, None)
        return judged

    def _as_reply(self, probability: float) -> float:
        """Map a passage's probability so that the passages' cut becomes that of replies."""
        passages, replies = self._cuts[False], self._cuts[True]
        if passages == replies:
            return probability
        above, below = probability * (1 - passages) * replies, (1 - probability) * passages * (1 - replies)
        return above / (above + below)

    def judge_once(self, asked: Sequence[Asked]) -> list[WindowJudgment]:
        """Judge each text by one reading."""
        judged: list[WindowJudgment] = [WindowJudgment(0.0, None)] * len(asked)
        for rows in _by_text(asked):
            readings = self._begin([asked[row] for row in rows])
            self._read([reading for reading in readings if reading is not None])
            for row, reading in zip(rows, readings, strict=True):
                if reading is not None:
                    covered = reading.probability >= self._cuts[reading.is_reply]
                    judged[row] = WindowJudgment(reading.probability, reading.fragment() if covered else None)
        return judged

    def evidence(self, asked: Sequence[Asked]) -> list[WindowEvidence | None]:
        """Return what each text's probability is made of, None where nothing is read; `ScoreCalibration` is fitted on it."""
        return [None if found is None else found[1] for found in self.evidence_by_kind(asked)]

    def evidence_by_kind(self, asked: Sequence[Asked]) -> list[tuple[FittedKind, WindowEvidence] | None]:
        """Return the kind of each text, by which its calibration is fitted to labels, and what its probability is made of."""
        found: list[tuple[FittedKind, WindowEvidence] | None] = [None] * len(asked)
        for rows in _by_text(asked):
            readings = self._begin([asked[row] for row in rows])
            for row, reading in zip(rows, readings, strict=True):
                if reading is not None and reading.waiting:
                    run = self._session.run([_pair(reading, window) for window in reading.waiting], [_OUTPUTS[reading.task]])
                    evidence = reading.evidence(max(float(logit[0]) for (logit,) in run))
                    is_long_reply = reading.is_reply and reading.task is Task.ANSWERS
                    found[row] = "long_replies" if is_long_reply else calibration_name(reading.task, evidence), evidence
        return found

    def _begin(self, asked: Sequence[Asked]) -> list[_Reading | None]:
        """Segment each text once, and choose the windows to judge for each of its questions."""
        texts = _number_values(text for _, text, _ in asked)
        cut = segment_texts(self._tokenizer, list(texts))
        windows = [text.windows(WINDOW) for text in cut]
        places = [texts[text] for _, text, _ in asked]
        readings = [
            self._start_reading(question, user_question, cut[place], windows[place])
            for (question, _, user_question), place in zip(asked, places, strict=True)
        ]
        ranked = [row for row, reading in enumerate(readings) if reading is not None and self._is_ranked(reading)]
        scores = self._scores([(asked[row][0], places[row]) for row in ranked], cut, windows)
        for row, found in zip(ranked, scores, strict=True):
            if (reading := readings[row]) is not None and len(found):
                self._rank(reading, found)
        return readings

    def _start_reading(
        self, question: str, user_question: str, text: SegmentedText, windows: Sequence[Window]
    ) -> _Reading | None:
        if not windows:
            return None
        if user_question and int(text.bounds[-1]) <= WHOLE_REPLY:
            windows = text.windows(WHOLE_REPLY)
        task = Task.REPLIES if user_question and len(windows) == 1 else Task.ANSWERS  # a piece of a reply is no reply
        first = self._first_part(question, user_question if task is Task.REPLIES else "")
        return _Reading(task, first, text, len(windows), list(windows), is_reply=bool(user_question))

    def _is_ranked(self, reading: _Reading) -> bool:
        """Return whether the first stage scores the windows."""
        if reading.task is Task.ANSWERS and int(reading.text.bounds[-1]) > SHORT:
            return True
        return self._proposing is not None and reading.windows > self._proposing.most

    def _rank(self, reading: _Reading, scores: NDArray[np.float32]) -> None:
        """Keep the windows that are worth reading, best first; those of a reply are all read, up to a number."""
        reading.similarity = float(scores.max())
        if self._proposing is None:
            return
        chosen = self._proposing.first(scores) if reading.is_reply else self._proposing.rank_windows(scores)
        reading.waiting = [reading.waiting[window] for window in chosen]
        if not chosen:
            reading.probability = self._proposing.estimate(reading.similarity, self._cuts[reading.is_reply])

    def _first_part(self, question: str, user_question: str) -> tuple[int, ...]:
        """Encode what stands before the text."""
        return self._firsts.recall([(question, user_question)], self._encode_questions)[question, user_question]

    def _encode_questions(self, asked: Sequence[tuple[str, str]]) -> list[tuple[int, ...]]:
        return [tuple(reply_question(self._tokenizer, question, user_question)) for question, user_question in asked]

    def _scores(
        self, pairs: Sequence[tuple[str, int]], texts: Sequence[SegmentedText], windows: Sequence[Sequence[Window]]
    ) -> list[NDArray[np.float32]]:
        """Score every window of a text for a question, for each (question, number of the text)."""
        questions = _number_values(question for question, _ in pairs)
        vectors = question_vectors(
            self._session, self._tokenizer, [encodable(question) for question in questions], longest=MAX_QUESTION
        )
        asked: dict[int, list[int]] = {}
        for row, (_, place) in enumerate(pairs):
            asked.setdefault(place, []).append(row)
        stacked = [_stack([vectors[questions[pairs[row][0]]].vectors for row in rows]) for rows in asked.values()]
        scores = [np.zeros(0, np.float32)] * len(pairs)
        similar = similarities(self._session, [texts[place] for place in asked], stacked)
        for (place, rows), found in zip(asked.items(), similar, strict=True):
            start = 0
            for row in rows:
                question = vectors[questions[pairs[row][0]]]
                stop = start + len(question.weights)
                if stop > start:
                    scores[row] = window_scores(found[start:stop], question.weights, windows[place])
                start = stop
        return scores

    def _read(self, readings: Sequence[_Reading]) -> None:
        """Judge waiting windows in rounds of 1, 1, 2, 4, … for each text that no window has answered yet."""
        share = max((len(reading.waiting) for reading in readings), default=0) if self._proposing is None else 1
        taken = 0
        while batch := [
            (reading, window)
            for reading in readings
            if reading.probability < self._cuts[reading.is_reply] or self._proposing is None
            for window in reading.waiting[:share]
        ]:
            for reading in readings:
                reading.waiting = reading.waiting[share:]
            for task in _OUTPUTS:
                self._judge_windows(task, [(reading, window) for reading, window in batch if reading.task is task])
            taken += share
            share = taken

    def _judge_windows(self, task: Task, batch: Sequence[tuple[_Reading, Window]]) -> None:
        encoded = [_pair(reading, window, least=self._least(reading)) for reading, window in batch]
        for (reading, window), pair, (logit, span) in zip(batch, encoded, self._logits(task, encoded), strict=True):
            evidence = reading.evidence(float(logit[0]))
            probability = self._calibration_of(reading, evidence).probability(evidence)
            if reading.window is None or probability > reading.probability:
                reading.probability, reading.window = probability, window
                reading.span = None
                if len(span):
                    reading.span = likeliest_span(span[pair.start : -1], reading.text.segment_numbers(window))

    def _logits(self, task: Task, encoded: Sequence[Encoded]) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Return (1,) the logit of each pair and (tokens, 2) those of its fragment, empty where the pair does not answer.

        A pair is not read where an earlier pass gave its logit and that is too low. What a reply's pass tells of its
        abstention is remembered.
        """
        head = _OUTPUTS[task]
        found = {
            row: (logit, _NO_SPAN)
            for row, logit in enumerate(self._known.recall(head, encoded))
            if logit is not None and logit[0] < encoded[row].least
        }
        new = [row for row in range(len(encoded)) if row not in found]
        pairs = [encoded[row] for row in new]
        is_reply = task is Task.REPLIES
        read = self._session.run(pairs, [head, "span", "abstention"] if is_reply else [head, "span"])
        if is_reply:
            self._known.remember("abstention", pairs, [arrays[2] for arrays in read])
        found |= {row: (arrays[0], arrays[1]) for row, arrays in zip(new, read, strict=True)}
        return [found[row] for row in range(len(encoded))]

    def _least(self, reading: _Reading) -> float:
        """Return a logit just below the one at which a text answers: its tokens need no reading where none does."""
        evidence = reading.evidence(0.0)
        cut = self._cuts[reading.is_reply]
        return self._calibration_of(reading, evidence).least_logit(evidence, cut) - _ROUNDING

    def _calibration_of(self, reading: _Reading, evidence: WindowEvidence) -> ScoreCalibration:
        choose = self._calibrations.of_reply if reading.is_reply else self._calibrations.of
        return choose(reading.task, evidence)


_NO_SPAN: NDArray[np.float32] = np.zeros((0, 2), np.float32)

_OUTPUTS = {Task.ANSWERS: "answers", Task.REPLIES: "replies"}
"""The head that judges each kind of text."""


def _pair(reading: _Reading, window: Window, *, least: float = -math.inf) -> Encoded:
    return join(reading.task, reading.question, reading.text.ids[reading.text.tokens(window)].tolist(), least=least)


def likeliest_span(logits: NDArray[np.float32], sentences: NDArray[np.intp] | None = None) -> tuple[int, int]:
    """Choose the first and last token of the likeliest answer of at most 40 tokens.

    ``logits`` are (tokens, 2): of its start and of its end. ``sentences`` numbers the sentence of each token: an answer that
    goes on into the next one has to be clearly likelier than one that does not.
    """
    starts, ends = logits[:, 0], logits[:, 1]
    total = starts[:, None] + ends[None, :]
    if sentences is not None:
        total = total - _NEXT_SENTENCE * np.abs(sentences[None, : len(logits)] - sentences[: len(logits), None])
    allowed = np.tri(len(logits), k=_LONGEST_ANSWER, dtype=bool) & ~np.tri(len(logits), k=-1, dtype=bool)
    first, last = np.unravel_index(int(np.where(allowed, total, -np.inf).argmax()), total.shape)
    return int(first), int(last)


def _by_text(asked: Sequence[Asked]) -> Iterator[list[int]]:
    """Group rows so that those over one text stay together and a group holds about a million characters of text."""
    rows_of: dict[str, list[int]] = {}
    for row, (_, text, _) in enumerate(asked):
        if any(map(str.isalnum, text)):
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


def _number_values(values: Iterator[str]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for value in values:
        found.setdefault(value, len(found))
    return found


def _stack(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    return np.concatenate(vectors) if vectors else np.zeros((0, 384), np.float32)
