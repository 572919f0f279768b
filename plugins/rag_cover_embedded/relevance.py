"""Which words of a question a text is about: GenEval's second head (Gabburo et al., 2024, section 3)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rag_cover.backends import Span, TokenRelevance
from rag_cover.texts import encodable
from rag_cover_embedded.inputs import Task, join
from rag_cover_embedded.memory import LogitMemory
from rag_cover_embedded.segments import segment_texts
from rag_cover_embedded.session import Network

__all__ = ["find_content_words", "token_relevance", "words_of_tokens"]

WINDOW = 152
MAX_QUESTION = 96
_WORD = re.compile(r"\w+(?:['’.\-]\w+)*")
_FUNCTION_WORDS = frozenset(
    """
    a an the of in on at to for from by with as and or but if than then that this these those there it its he she they his her
    their them is are was were be been being am do does did has have had can could will would shall should may might must not
    no who whom whose what which when where why how many much s t into about also so such some any all both each other i you
    we us our your my me him one ones
    """.split()  # noqa: SIM905  # three lines instead of a hundred
)


def find_content_words(question: str) -> list[Span]:
    """Find the words that say what a question is about: all but function words, or all if there are no others.

    >>> [span.of("Who wrote the novel Emma?") for span in find_content_words("Who wrote the novel Emma?")]
    ['wrote', 'novel', 'Emma']
    """
    words = [Span(*match.span()) for match in _WORD.finditer(question)]
    return [word for word in words if word.of(question).lower() not in _FUNCTION_WORDS] or words


def words_of_tokens(words: Sequence[Span], offsets: Sequence[tuple[int, int]]) -> list[int]:
    """Return, for each token, the number of the word it belongs to, -1 for none."""
    found, word = [], 0
    for start, _ in offsets:
        while word < len(words) and words[word].end <= start:
            word += 1
        found.append(word if word < len(words) and words[word].start <= start else -1)
    return found


def token_relevance(
    session: Network, tokenizer: Tokenizer, question: str, texts: Sequence[str], *, known: LogitMemory
) -> TokenRelevance:
    """Return P(a text says something about a word of the question) for each text and each of `find_content_words`.

    A word's value is that of its likeliest token in the text's likeliest window; a blank text has zeros. Of a question with
    more than 96 tokens the words after the first 96 are left out. The same pass tells whether a window answers the question,
    which ``known`` keeps.
    """
    asked = encodable(question)
    encoding = tokenizer.encode(asked, add_special_tokens=False)
    ids, offsets = encoding.ids[:MAX_QUESTION], encoding.offsets[:MAX_QUESTION]
    reach = offsets[-1][1] if offsets else 0
    words = [word for word in find_content_words(asked) if word.start < reach]
    places = np.array(words_of_tokens(words, offsets), dtype=np.intp)
    rows, encoded = [], []
    for row, text in enumerate(segment_texts(tokenizer, texts)):
        for window in text.windows(WINDOW):
            rows.append(row)
            encoded.append(join(Task.ANSWERS, ids, text.ids[text.tokens(window)].tolist()))
    values: NDArray[np.float64] = np.zeros((len(texts), len(words)))
    read = session.run(encoded, ["relevance", "answers"])
    known.remember("answers", encoded, [answers for _, answers in read])
    for row, (logits, _) in zip(rows, read, strict=True):
        likely = 1 / (1 + np.exp(-logits[1 : 1 + len(ids), 0].astype(np.float64)))
        np.maximum.at(values[row], places[places >= 0], likely[places >= 0])
    return TokenRelevance(tuple(word.of(question) for word in words), values)
