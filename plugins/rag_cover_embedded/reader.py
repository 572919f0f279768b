"""An extractive reader as a Receiver: a receiver without prior knowledge, that needs no language model.

It says what a passage says, word for word, which of two things a comparison takes, or that the question is unanswerable. With
a_w = P(window w answers) as the judge sees it, o_w = a_w / (1 - a_w), and π_w the softmax of the span head over the spans of
window w:

    P(unanswerable) = 1 - max_w a_w        P(span s) = max_w a_w · Σ_w (o_w / Σ_v o_v) π_w(s)

(`rag_cover.belief.readings`), in one reading, or in several where a question takes steps (`rag_cover.belief.stepwise_reading`).
Spans with the same text are one answer, and their probabilities add up. Without passages there is never one: what such a
receiver believes before retrieval is the same for every question, so its ΔSePer tells what the passages say, never what a
language model knew already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import IN_FLOATS
from rag_cover.belief.receivers import ReadingReceiver
from rag_cover.questions import Passage
from rag_cover.texts import encodable
from rag_cover_embedded.answers import MAX_QUESTION, WINDOW, window_evidence
from rag_cover_embedded.inputs import Task, join, open_tokenizer
from rag_cover_embedded.memory import QuestionText, VectorMemory
from rag_cover_embedded.segments import SegmentedText, Window, segment_texts
from rag_cover_embedded.weights import Weights
from rag_cover_embedded.window_retrieval import question_vectors, similarities, window_scores

__all__ = ["EmbeddedReader", "likely_spans"]

VERSION = 2
"""Part of the fingerprint: another way of reading is another receiver."""

REMEMBERED = 4_096
PASSAGES_AT_ONCE = 512
WindowReading = tuple[float, Mapping[str, float]]
"""P(the window answers), and its likeliest spans with their shares."""

_LONGEST_ANSWER = 40  # in tokens
_SPANS = 50  # of a window; the rest, some 3% of the probability, is noise


class EmbeddedReader(ReadingReceiver):
    """A Receiver over the judge's span head. Thread-safe; nothing but numpy's generator is random.

    Args:
        weights: a folder of trained weights; None is the judge that ships with rag_cover.
        threads: how many run the network; None: as many as there are cores.
        device: a device of torch that runs the network in floats, such as ``"cuda"``; None: ONNX Runtime runs it on the CPU.
    """

    def __init__(self, weights: Path | None = None, *, threads: int | None = None, device: str | None = None) -> None:
        opened = Weights.open(weights)
        self._options = (weights, threads, device)
        self.fingerprint = f"{opened.fingerprint}:reader-{VERSION}{IN_FLOATS if device else ''}"
        self._fitted = opened.fitted
        self._session = opened.session(threads, device)
        self._tokenizer = open_tokenizer(opened.tokenizer)
        self._remembered: VectorMemory[QuestionText, tuple[WindowReading, ...]] = VectorMemory(REMEMBERED)

    def read(self, items: Sequence[tuple[str, tuple[Passage, ...]]]) -> list[list[WindowReading]]:
        """Return, for each (question, passages), P(it answers) of every window that is worth reading, and its spans."""
        asked = [[(question, _read_as(passage)) for passage in passages] for question, passages in items]
        readings = self._remembered.recall((pair for pairs in asked for pair in pairs), self._in_blocks)
        return [[reading for pair in pairs for reading in readings[pair]] for pairs in asked]

    def __reduce__(self) -> tuple[Callable[..., EmbeddedReader], tuple[object, ...]]:
        """Travel to another process as what it was opened with: the network is opened there."""
        return _reopen, self._options

    def _in_blocks(self, pairs: Sequence[QuestionText]) -> list[tuple[WindowReading, ...]]:
        """Read pairs, so many at once that memory stays bounded."""
        starts = range(0, len(pairs), PASSAGES_AT_ONCE)
        return [readings for start in starts for readings in self._read(pairs[start : start + PASSAGES_AT_ONCE])]

    def _read(self, pairs: Sequence[QuestionText]) -> list[tuple[WindowReading, ...]]:
        """Read the windows that the first stage proposes."""
        questions, texts = zip(*pairs, strict=True)
        cut = segment_texts(self._tokenizer, texts)
        encodings = self._tokenizer.encode_batch([encodable(question) for question in questions], add_special_tokens=False)
        asked = [tuple(encoding.ids[:MAX_QUESTION]) for encoding in encodings]
        proposed = list(self._rank_windows(questions, cut))
        chosen = [(row, window) for row, (ranked, _) in enumerate(proposed) for window in ranked]
        encoded = [join(Task.ANSWERS, asked[row], cut[row].ids[cut[row].tokens(window)].tolist()) for row, window in chosen]
        found: list[tuple[WindowReading, ...]] = [()] * len(pairs)
        read = self._session.run(encoded, ["answers", "span"])
        for (row, window), pair, (logit, span) in zip(chosen, encoded, read, strict=True):
            text, similarity = cut[row], proposed[row][1]
            evidence = window_evidence(text, float(logit[0]), windows=len(text.windows(WINDOW)), similarity=similarity)
            probability = self._fitted.calibrations.probability(Task.ANSWERS, evidence)
            found[row] += ((probability, _write_spans(texts[row], cut[row], window, span[pair.start : -1])),)
        return found

    def _rank_windows(self, questions: Sequence[str], texts: Sequence[SegmentedText]) -> Iterator[tuple[list[Window], float]]:
        """Yield the windows of each text that are worth reading for its question, best first, and the best one's score."""
        asked = [encodable(question) for question in questions]
        vectors = question_vectors(self._session, self._tokenizer, asked, longest=MAX_QUESTION)
        similar = similarities(self._session, texts, [question.vectors for question in vectors])
        for question, text, found in zip(vectors, texts, similar, strict=True):
            windows = text.windows(WINDOW)
            if not windows or not len(question.weights):
                yield [], 0.0
                continue
            scores = window_scores(found, question.weights, windows)
            yield [windows[each] for each in self._fitted.proposing.rank_windows(scores)], float(scores.max())


def _reopen(weights: Path | None, threads: int | None, device: str | None) -> EmbeddedReader:
    return EmbeddedReader(weights, threads=threads, device=device)


def likely_spans(logits: NDArray[np.float32], sentences: NDArray[np.intp]) -> list[tuple[int, int, float]]:
    """List a window's 50 likeliest spans: first and last token, and their share of the probability.

    A span has at most 40 tokens and stays within a sentence.

    Args:
        logits: (tokens, 2), of each token as the first and as the last of the answer.
        sentences: (tokens,), the number of the sentence that each token stands in.
    """
    tokens = len(logits)
    near = np.tri(tokens, k=_LONGEST_ANSWER - 1, dtype=bool) & np.tri(tokens, dtype=bool).T
    first, last = np.nonzero(near & (sentences[:, None] == sentences))
    scores = logits[first, 0].astype(np.float64) + logits[last, 1]
    best = np.argsort(-scores, kind="stable")[:_SPANS]
    powers = np.exp(scores[best] - scores[best[0]])
    return list(zip(first[best].tolist(), last[best].tolist(), (powers / powers.sum()).tolist(), strict=True))


def _write_spans(text: str, cut: SegmentedText, window: Window, logits: NDArray[np.float32]) -> dict[str, float]:
    """Write a window's likeliest spans out, in whole words."""
    offsets = cut.offsets[cut.tokens(window)]
    spans: dict[str, float] = {}
    for first, last, share in likely_spans(logits, cut.segment_numbers(window)):
        written = _whole_words(text, int(offsets[first, 0]), int(offsets[last, 1]))
        spans[written] = spans.get(written, 0.0) + share
    return spans


def _whole_words(text: str, start: int, end: int) -> str:
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return text[start:end]


def _read_as(passage: Passage) -> str:
    return f"{passage.title}. {passage.text}" if passage.title else passage.text
