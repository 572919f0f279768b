"""What a reply's words alone tell of it: how many they are, and whether they only repeat the question.

Plain rules over words, without a model: a reply repeats a question where its words are the question's, in order, or where at
least nine in ten of its content words stand in the question, of at least three. English function words and words that speak of
a question ("reason", "answer") are left out, words count once, and forms of one word are alike ("find" and "finding"). Whether
it answers all the same ("Is it red, green or blue?" "Blue.") is the judge's to say.
"""

from __future__ import annotations

import re

from rag_cover.english.words import content_words, words_of

__all__ = ["count_words", "repeats"]

_SHARE_REPEATED = 0.9
_LEAST_WORDS = 3  # fewer content words in common may be chance, or the answer
_LEAST_LETTERS = 3  # that forms of one word begin with
_OF_QUESTIONS = words_of("answer ask explanation follow following here know matter overview question reason section topic want")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def count_words(reply: str) -> int:
    """Count the words of a reply; in scripts without spaces, a character is a word.

    >>> count_words("12,000 euros."), count_words("東京です"), count_words(" - ")
    (2, 4, 0)
    """
    spaced, unspaced = _UNSPACED.subn(" ", reply)
    return unspaced + sum(any(map(str.isalnum, word)) for word in spaced.split())


def repeats(question: str, reply: str) -> bool:
    """Return whether a reply has hardly a content word that the question has not.

    >>> repeats("What is the capital of France?", "What is the capital of France?")
    True
    >>> repeats("How are batteries of heat pumps recycled?", "It is about how batteries of heat pumps are recycled.")
    True
    >>> repeats("How do I find the hole in a flat tyre?", "Reasons for, and finding of, holes in flat tyres")
    True
    >>> repeats("How are batteries of heat pumps recycled?", "Batteries of heat pumps are melted down.")
    False
    """
    words = words_of(reply)
    if words and words == words_of(question):
        return True
    said, asked = content_words(reply).difference(_OF_QUESTIONS), content_words(question)
    repeated = sum(any(_are_alike(word, other) for other in asked) for word in said)
    return len(said) >= _LEAST_WORDS and repeated >= _SHARE_REPEATED * len(said)


def _are_alike(word: str, other: str) -> bool:
    """Return whether two words differ at most in their endings."""
    if word == other:
        return True
    needed = max(_LEAST_LETTERS, min(len(word), len(other)) - 1)
    return word[:needed] == other[:needed]
