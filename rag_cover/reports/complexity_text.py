"""How hard questions are for what was retrieved, in words: the headline, where all of them stand, and where one does."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping

from rag_cover.complexity import Complexity
from rag_cover.complexity.standing import Standing, hardness, standing_of
from rag_cover.measures import TraceResult
from rag_cover.reports.text import SHARE, Headline, basis_of, format_count, percent
from rag_cover.summaries import Summary

__all__ = ["STANDING_WORDS", "complexity_headline", "hardest", "standing_sentence", "standings_sentence"]

STANDING_WORDS: Mapping[Standing, str] = {
    Standing.ANSWERABLE: "answered by a single passage",
    Standing.COMPLEX: "complex: not answered by a single passage",
    Standing.UNANSWERABLE: "unanswerable: nor are the passages about all of it",
}
"""What is said of questions, from the easiest to the hardest to do anything about."""


def complexity_headline(summary: Summary) -> Headline:
    """Say how many of the questions a single passage answers, and how sure that is."""
    metric = summary.metrics.get("answerable_questions")
    if metric is None or metric.interval is None:
        reason = metric.undefined_because if metric else "it was not measured"
        return Headline("", "Retrieval complexity is undefined:", reason or "no reason was given", "")
    interval = metric.interval
    return Headline("A single passage answers", percent(interval.estimate), "of the questions", basis_of(interval, SHARE))


def standings_sentence(standings: Mapping[Standing, int], noun: str = "question") -> str:
    """Say in one sentence where all questions stand.

    >>> standings_sentence({Standing.ANSWERABLE: 7, Standing.COMPLEX: 2, Standing.UNANSWERABLE: 1})
    'Of 10 questions, a single passage answers 7; 2 are complex; 1 is unanswerable by what was retrieved.'
    """
    answerable, complex_, unanswerable = (standings.get(each, 0) for each in STANDING_WORDS)
    parts = [
        f"a single passage answers {answerable:,}" if answerable else "a single passage answers none",
        f"{complex_:,} {_is(complex_)} complex" if complex_ else "",
        f"{unanswerable:,} {_is(unanswerable)} unanswerable by what was retrieved" if unanswerable else "",
    ]
    return f"Of {format_count(sum(standings.values()), noun)}, {'; '.join(part for part in parts if part)}."


def standing_sentence(complexity: Complexity) -> str:
    """Say where one question stands, and by which figures.

    >>> facts = {"answerable": True, "completeness": None, "complete": None, "is_complex": False}
    >>> standing_sentence(Complexity(0.9, t_ans=0.15, t_com=0.8, **facts))
    'A single passage answers it: the best with P = 0.90, and 0.15 is enough.'
    """
    if complexity.max_answer_probability is None:
        return "Nothing was retrieved, so nothing answers it."
    best, enough = f"{complexity.max_answer_probability:.2f}", f"{complexity.t_ans:.2f} is enough"
    standing, about = standing_of(complexity), _about(complexity)
    if complexity.constraints == "completeness":
        are = "are" if standing == Standing.COMPLEX else "are not"
        return f"The passages {are} about all of it{about}, which alone decides here."
    if standing == Standing.ANSWERABLE:
        return f"A single passage answers it: the best with P = {best}, and {enough}."
    alone = f"No single passage answers it (the best with P = {best}, where {enough})"
    if complexity.constraints == "answerability" or complexity.t_com == 0:  # then completeness tells nothing
        return f"{alone}."
    between = "though between them they are" if standing == Standing.COMPLEX else "nor are they"
    return f"{alone}, {between} about all of it{about}."


def hardest(results: Iterable[TraceResult], *, limit: int) -> list[TraceResult]:
    """Pick the measured traces whose questions are hardest for what was retrieved, hardest first. Reads ``results`` once."""
    measured = ((hardness(result.complexity), -place, result) for place, result in enumerate(results) if result.complexity)
    return [result for *_, result in heapq.nlargest(limit, measured, key=lambda each: each[:2])]


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _about(complexity: Complexity) -> str:
    if complexity.completeness is None:
        return ""
    return f" (completeness {complexity.completeness:.2f}, where {complexity.t_com:.2f} is enough)"
