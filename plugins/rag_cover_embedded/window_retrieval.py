"""The cheap first stage: which windows of a text are worth judging for a question.

Each text is encoded once, whatever the number of questions asked of it; a window's score is late interaction (MaxSim:
Khattab & Zaharia, SIGIR 2020, §3.3) of the question's content tokens with the window's, on the vectors of the *text* mode.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rag_cover.texts import group_lengths
from rag_cover_embedded.inputs import CLS, SEP, Encoded
from rag_cover_embedded.products import multiply_transposed
from rag_cover_embedded.segments import SegmentedText, Window
from rag_cover_embedded.session import Network

__all__ = ["QuestionVectors", "question_vectors", "similarities", "window_scores"]

Floats = NDArray[np.float32]

CHUNK_TOKENS = 128
SLAB_CHUNKS = 256
_FUNCTION_WORDS = frozenset(
    """a about after all also an and any are as at be been before being between both but by can could did do does doing during
    each for from had has have having how i if in into is it its itself just may me might more most must my no not of on or
    other our out over own same shall she should so some such than that the their them then there these they this those
    through to too under until up us very was we were what when where which while who whom whose why will with would you
    your ' s t ? . , ! ; : " ( ) - / ’ “ ”""".split()  # noqa: SIM905  # a list of words, not of lines
)


@dataclass(frozen=True, slots=True)
class QuestionVectors:
    """A question as (tokens, 384) unit vectors and (tokens,) weights: 0 for function words and marks, 1 for the rest."""

    vectors: Floats
    weights: Floats


def question_vectors(
    session: Network, tokenizer: Tokenizer, questions: Sequence[str], *, longest: int
) -> list[QuestionVectors]:
    """Encode questions, at most ``longest`` tokens of each."""
    encodings = tokenizer.encode_batch(list(questions), add_special_tokens=False)
    ids = [np.array(encoding.ids[:longest], dtype=np.int32) for encoding in encodings]
    weights = [_weights(encoding.tokens[:longest]) for encoding in encodings]
    return [
        QuestionVectors(_unit(tokens[1:-1]), weight)
        for (tokens,), weight in zip(session.run([_text_mode(each) for each in ids], ["tokens"]), weights, strict=True)
    ]


def _weights(tokens: Sequence[str]) -> Floats:
    weights = np.array([token not in _FUNCTION_WORDS for token in tokens], dtype=np.float32)
    return weights if weights.any() else np.ones_like(weights)


def similarities(session: Network, texts: Sequence[SegmentedText], questions: Sequence[Floats]) -> list[Floats]:
    """Compare every token of a text's questions with every segment of the text.

    A text is encoded in chunks of whole segments, at most 128 tokens each where segments allow; only the maxima are kept.

    Args:
        session: the encoder.
        texts: the texts.
        questions: for each text, the (question tokens, 384) vectors of all questions asked of it, stacked.

    Returns:
        for each text, (question tokens, segments): the best cosine of the token with any token of the segment.
    """
    found = [np.zeros((len(asked), len(text.sentences)), np.float32) for text, asked in zip(texts, questions, strict=True)]
    chunks = [(place, chunk) for place, text in enumerate(texts) for chunk in _chunks(text)]
    for slab in _slabs(chunks):
        encoded = [_text_mode(texts[place].ids[texts[place].tokens(chunk)]) for place, chunk in slab]
        for (place, chunk), (tokens,) in zip(slab, session.run(encoded, ["tokens"]), strict=True):
            starts = texts[place].bounds[slice(*chunk)] - texts[place].bounds[chunk[0]]
            similar = multiply_transposed(_unit(tokens[1:-1]), questions[place])
            found[place][:, slice(*chunk)] = np.maximum.reduceat(similar, starts, axis=0).T
    return found


def window_scores(question: Floats, weights: Floats, windows: Sequence[Window]) -> Floats:
    """Score windows for one question: the weighted mean, over its tokens, of the best cosine in the window.

    Args:
        question: (question tokens, segments) similarities.
        weights: (question tokens,), at least one above 0.
        windows: half-open ranges of segments.

    Returns:
        (windows,) scores in [-1, 1].
    """
    by_segment = question[weights > 0]
    best = np.stack([by_segment[:, first:stop].max(axis=1) for first, stop in windows])
    return np.asarray(best.mean(axis=1), dtype=np.float32)


def _chunks(text: SegmentedText) -> list[Window]:
    return group_lengths(np.diff(text.bounds).tolist(), size=CHUNK_TOKENS, overlap=0)


def _slabs(chunks: Sequence[tuple[int, Window]]) -> Iterator[Sequence[tuple[int, Window]]]:
    """Take so many chunks at once that batches are full and memory stays small (about 50 MB)."""
    for start in range(0, len(chunks), SLAB_CHUNKS):
        yield chunks[start : start + SLAB_CHUNKS]


def _unit(vectors: Floats) -> Floats:
    unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit


def _text_mode(ids: NDArray[np.int32]) -> Encoded:
    return Encoded((CLS, *ids.tolist(), SEP), (0,) * (len(ids) + 2))
