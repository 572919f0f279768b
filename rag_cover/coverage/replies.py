"""What a reply's words alone tell of it: how many they are, and whether they only repeat the question.

Plain rules over words, without a model: a reply repeats a question where its words are the question's, in order, or where at
least nine in ten of its content words (English function words left out, each counted once) stand in the question, of at least
three. Whether it answers all the same ("Is it red, green or blue?" "Blue.") is the judge's to say.
"""

from __future__ import annotations

import re

from rag_cover.english.words import content_words, words_of

__all__ = ["count_words", "repeats"]

_SHARE_REPEATED = 0.9
_LEAST_WORDS = 3  # fewer content words in common may be chance, or the answer
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def count_words(reply: str) -> int:
    """Count the words of a reply; in scripts without spaces, a character is a word.

    >>> count_words("12,000 euros."), count_words("東京です"), count_words(" - ")
    (2, 4, 0)
    """
    spaced, unspaced = _UNSPACED.subn(" ", reply)
    return unspaced + sum(any(map(str.isalnum, word)) for word in spaced.split())


def repeats(question: str, reply: str) -> bool:
    """Tell whether a reply has hardly a content word that the question has not.

    >>> repeats("What is the capital of France?", "What is the capital of France?")
    True
    >>> repeats("How are batteries of heat pumps recycled?", "It is about how batteries of heat pumps are recycled.")
    True
    >>> repeats("How are batteries of heat pumps recycled?", "Batteries of heat pumps are melted down.")
    False
    """
    words = words_of(reply)
    if words and words == words_of(question):
        return True
    said = content_words(reply)
    return len(said) >= _LEAST_WORDS and len(said & content_words(question)) >= _SHARE_REPEATED * len(said)
