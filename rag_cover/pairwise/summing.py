"""Every two pipelines' answers judged, and the verdicts summed up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from rag_cover.backends import Generator, fingerprint_of
from rag_cover.pairwise.answers import AnswerPair, AnswersByQuestion
from rag_cover.pairwise.by_llm import by_generator
from rag_cover.pairwise.rating_verdicts import by_rating, ratings_of
from rag_cover.pairwise.result import PairwiseComparison
from rag_cover.pairwise.win_rates import (
    PairVerdict,
    UnjudgedPair,
    agreement_with_ratings,
    overall_win_rate,
    position_bias,
    win_rates_of,
)
from rag_cover.stats.intervals import Interval

__all__ = ["compare_answers"]


def compare_answers(
    sides: Mapping[str, AnswersByQuestion],
    questions: Sequence[str],
    *,
    generator: Generator | None,
    any_sub_questions: bool = False,
    notes: Sequence[str] = (),
) -> PairwiseComparison:
    """Judge every two pipelines' answers to these questions, which all of them have; without a generator by their ratings.

    ``any_sub_questions`` lets ratings by different sub-questions tell how far a generator agrees with them.

    Raises:
        ModelFailedError: the generator did not return one generation for each prompt.
    """
    pairs = [
        AnswerPair(key, a, b, sides[a].first[key], sides[b].first[key]) for a, b in combinations(sides, 2) for key in questions
    ]
    judged = by_rating(pairs) if generator is None else by_generator(pairs, generator)
    verdicts = tuple(each for each in judged if isinstance(each, PairVerdict))
    unjudged = tuple(each for each in judged if isinstance(each, UnjudgedPair))
    rated = [] if generator is None else [pair for pair in pairs if any_sub_questions or pair.is_rated_alike]
    return PairwiseComparison(
        pipelines=tuple(sides),
        judge="rating" if generator is None else str(getattr(generator, "name", None) or fingerprint_of(generator)),
        questions=len(questions),
        left_out={name: len(side.first) - len(questions) for name, side in sides.items()},
        win_rates=win_rates_of(list(sides), verdicts, unjudged),
        overall=_overall(list(sides), verdicts),
        position_bias=position_bias(verdicts),
        agreement=agreement_with_ratings(verdicts, ratings_of(rated)),
        verdicts=verdicts,
        unjudged=unjudged,
        notes=tuple(notes),
    )


def _overall(names: Sequence[str], verdicts: Sequence[PairVerdict]) -> dict[str, Interval | None]:
    return {name: overall_win_rate(name, verdicts) for name in names}
