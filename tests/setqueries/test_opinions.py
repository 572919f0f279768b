"""Two readers' opinions count alike: what both read is surer than what one reads alone."""

import pytest

from rag_cover.setqueries import ParsedQuery, SetQuery
from rag_cover.setqueries.opinions import pool_opinion

QUESTION = "Peruvian birds that are not kept as pets"
MODEL = SetQuery.atom("Peruvian birds") - "birds kept as pets"
ALIKE = SetQuery.atom("birds of Peru") - "birds as pets"
BOTH = SetQuery.atom("birds of Peru") & "birds as pets"


def grammar(query: SetQuery, confidence: float, *alternatives: tuple[SetQuery, float]) -> ParsedQuery:
    return ParsedQuery(QUESTION, query, confidence, "grammar", alternatives, notes=("a word was ignored",))


@pytest.mark.parametrize(
    ("other", "confidence"),
    [
        (grammar(ALIKE, 0.8), 0.9),  # (1 + 0.8) / 2
        (grammar(BOTH, 0.7, (ALIKE, 0.3)), 0.65),  # (1 + 0.3) / 2
        (grammar(BOTH, 0.9), 0.5),  # (1 + 0) / 2
        (None, 0.5),
    ],
)
def test_confidence_is_the_mean_of_both_opinions(other: ParsedQuery | None, confidence: float) -> None:
    parsed = pool_opinion(QUESTION, MODEL, "model:small", other)

    assert parsed.confidence == pytest.approx(confidence)
    assert (parsed.query, parsed.source) == (MODEL, "model:small")


def test_what_the_other_reads_otherwise_is_told_with_half_its_weight() -> None:
    parsed = pool_opinion(QUESTION, MODEL, "model:small", grammar(BOTH, 0.7, (ALIKE, 0.2), (MODEL | "pets", 0.1)))

    assert parsed.alternatives == ((BOTH, 0.35),)
    assert parsed.notes == ()


def test_notes_of_a_reader_who_agrees_are_kept() -> None:
    assert pool_opinion(QUESTION, MODEL, "model:small", grammar(ALIKE, 0.8)).notes == ("a word was ignored",)


@pytest.mark.parametrize(
    "other",
    [
        SetQuery.atom("birds as pets") - "birds of Peru",  # the other way round
        SetQuery.atom("birds of Peru") - "birds as pets" - "hens",
        SetQuery.atom("birds of Peru") | "birds as pets",
        SetQuery.atom(QUESTION),
    ],
)
def test_other_operations_and_other_orders_are_no_agreement(other: SetQuery) -> None:
    assert pool_opinion(QUESTION, MODEL, "model:small", grammar(other, 0.9)).confidence == 0.5
