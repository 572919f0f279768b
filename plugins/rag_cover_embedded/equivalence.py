"""Entailment between answers to one question, as semantic clustering and SePer ask for it: judged by the correctness head.

There premise and hypothesis are ``question answer`` with the same question in front (Dai et al., ICLR 2025, as Kuhn et al.,
ICLR 2023). The entailment head, trained on statements, takes the words that both repeat for agreement: a wrong answer of the
right kind entails the right one with a third of the probability of that one itself. The correctness head was trained on just
this question: does an answer agree with a reference?
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import ScoringItem
from rag_cover_embedded.judge import EmbeddedJudge

__all__ = ["AnswerEntailer", "declines", "split_question_pair"]

VERSION = 1
"""Part of the fingerprint: another way of asking is another entailer."""

_DECLINED = re.compile(
    r"unanswerable|unknown|none|no (?:answer|information)(?: (?:found|given|available))?"
    r"|(?:it is |that is )?not (?:known|stated|mentioned|given|available|sure)|(?:it is )?impossible to (?:say|tell|know)"
    r"|(?:i )?(?:do not|don't|cannot|can't) (?:know|say|tell|answer)",
    re.IGNORECASE,
)


class AnswerEntailer:
    """An Entailer: the judge's correctness head for two answers to one question, its entailment head for all else.

    Answers that only decline, or are blank, agree with one another and with no other answer. The correctness head does not tell
    contradiction from neutrality: P(contradiction) of answers is 0. Thread-safe.
    """

    def __init__(self, judge: EmbeddedJudge) -> None:
        self._judge = judge
        self.fingerprint = f"{judge.fingerprint}:answers-{VERSION}{judge.entailment_mark}"
        self.languages = judge.languages

    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return (n, 3): P(entailment), P(neutral), P(contradiction) of each (premise, hypothesis)."""
        items = [split_question_pair(premise, hypothesis) for premise, hypothesis in pairs]
        others = [row for row, item in enumerate(items) if item is None]
        asked = {row: item for row, item in enumerate(items) if item is not None}
        declined = {row: (declines(item.text), all(map(declines, item.references))) for row, item in asked.items()}
        said = {row: item for row, item in asked.items() if not any(declined[row])}
        found = np.zeros((len(pairs), 3), dtype=np.float32)
        for row, both in declined.items():
            found[row, 0] = all(both)
        if said:
            found[list(said), 0] = self._judge.correctness(list(said.values()))
        found[:, 1] = 1 - found[:, 0]
        if others:
            found[others] = self._judge.entail([pairs[row] for row in others])
        return found


def split_question_pair(premise: str, hypothesis: str) -> ScoringItem | None:
    """Take ``question? answer`` pairs apart; None where the two do not begin with one question.

    >>> split_question_pair("Who wrote Emma? Jane Austen", "Who wrote Emma? Austen")
    ScoringItem(question='Who wrote Emma?', text='Jane Austen', references=('Austen',), user_question='')
    """
    end = 0
    while (mark := premise.find("? ", end)) >= 0 and hypothesis.startswith(premise[end : mark + 2], end):
        end = mark + 2
    answer, reference = premise[end:].strip(), hypothesis[end:].strip()
    return ScoringItem(premise[:end].rstrip(), answer, (reference,)) if end else None


def declines(answer: str) -> bool:
    """Return whether an answer says no more than that there is none; a blank one says that too.

    >>> declines("I don't know."), declines("No Country for Old Men")
    (True, False)
    """
    said = answer.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").strip(" .!")
    return not said or _DECLINED.fullmatch(said) is not None
