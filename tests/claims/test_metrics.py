"""RAGChecker's eleven metrics: worked vectors, the published package's numbers, and the laws that they obey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.claims import metrics
from rag_cover.claims.result import METRIC_NAMES, ClaimsResult, ClaimVerdicts


@dataclass(frozen=True)
class Verdicts:
    """Whether claims of the answer and of the gold answer follow: from each other's text, and from passages."""

    answer_by_gold: Sequence[int]
    gold_by_answer: Sequence[int]
    answer_by_passages: Sequence[Sequence[int]]
    gold_by_passages: Sequence[Sequence[int]]

    def result(self) -> ClaimsResult:
        width = len((*self.answer_by_passages, *self.gold_by_passages, ())[0])
        places = tuple(range(width))
        return ClaimsResult(
            _claims(self.answer_by_gold, self.answer_by_passages),
            _claims(self.gold_by_answer, self.gold_by_passages),
            tuple(map(str, places)),
            places,
            places,
            0.5,
            "sentences",
        )


def _claims(by: Sequence[int], rows: Sequence[Sequence[int]]) -> tuple[ClaimVerdicts, ...]:
    return tuple(ClaimVerdicts("", float(each), tuple(map(float, row))) for each, row in zip(by, rows, strict=True))


RIVER = Verdicts((1, 0, 0), (1, 0), ((1, 1), (0, 1), (0, 0)), ((1, 0), (0, 0)))
FLAG = Verdicts(
    (1, 1, 0, 0, 0),
    (0, 1, 1),
    ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 0, 1), (0, 0, 0)),
    ((1, 0, 0), (1, 1, 0), (0, 0, 0)),
)
GRASS = Verdicts((1, 1), (1, 1, 1, 0), ((1, 0, 0, 1), (0, 0, 0, 0)), ((1, 0, 0, 0), (0, 1, 0, 0), (0, 1, 0, 0), (1, 0, 0, 1)))

PUBLISHED: Mapping[str, tuple[float, float, float]] = {
    "precision": (1 / 3, 2 / 5, 1.0),
    "recall": (1 / 2, 2 / 3, 3 / 4),
    "f1": (2 / 5, 1 / 2, 6 / 7),
    "claim_recall": (1 / 2, 2 / 3, 1.0),
    "context_precision": (1 / 2, 2 / 3, 3 / 4),
    "context_utilization": (1.0, 1 / 2, 3 / 4),
    "noise_sensitivity_in_relevant": (0.0, 1 / 5, 0.0),
    "noise_sensitivity_in_irrelevant": (1 / 3, 1 / 5, 0.0),
    "hallucination": (1 / 3, 1 / 5, 0.0),
    "self_knowledge": (0.0, 1 / 5, 1 / 2),
    "faithfulness": (2 / 3, 3 / 5, 1 / 2),
}
"""Worked by hand; ragchecker 0.1.9 computes the same of these verdicts."""


@pytest.mark.parametrize("name", METRIC_NAMES)
@pytest.mark.parametrize(("verdicts", "place"), [(RIVER, 0), (FLAG, 1), (GRASS, 2)], ids=["river", "flag", "grass"])
def test_each_metric_has_the_published_value(name: str, verdicts: Verdicts, place: int) -> None:
    assert verdicts.result().values[name] == pytest.approx(PUBLISHED[name][place])


def test_an_answer_without_claims_has_no_precision_and_recall_0() -> None:
    values = Verdicts((), (0, 0), (), ((1,), (0,))).result().values

    undefined = {name for name, value in values.items() if value is None}
    of_the_answer = {"noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant", "hallucination", "self_knowledge"}
    assert undefined == {"precision", "f1", "faithfulness"} | of_the_answer
    assert (values["recall"], values["claim_recall"], values["context_utilization"]) == (0.0, 0.5, 0.0)


def test_a_gold_answer_without_claims_leaves_what_compares_with_them_undefined() -> None:
    values = Verdicts((0, 0), (), ((1,), (0,)), ()).result().values

    undefined = {name for name, value in values.items() if value is None}
    of_gold = {"recall", "f1", "claim_recall", "context_precision", "context_utilization"}
    assert undefined == of_gold | {"noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant"}
    assert (values["precision"], values["faithfulness"], values["hallucination"]) == (0.0, 0.5, 0.5)


def test_without_passages_nothing_is_faithful_and_no_share_of_passages_is_known() -> None:
    values = Verdicts((1, 0), (1,), ((), ()), ((),)).result().values

    assert (values["claim_recall"], values["faithfulness"]) == (0.0, 0.0)
    assert (values["hallucination"], values["self_knowledge"]) == (0.5, 0.5)
    assert (values["context_precision"], values["context_utilization"]) == (None, None)


def test_utilization_is_undefined_where_no_passage_has_a_gold_claim() -> None:
    assert metrics.context_utilization([True, False], [[False], [False]]) is None


def test_f1_of_two_zeros_is_0_as_published() -> None:
    assert metrics.answer_f1([False], [False]) == 0.0


@st.composite
def verdicts(draw: st.DrawFn) -> Verdicts:
    said, wanted, width = draw(st.integers(1, 5)), draw(st.integers(1, 5)), draw(st.integers(1, 4))
    bits = st.integers(0, 1)

    def table(rows: int) -> list[list[int]]:
        return draw(st.lists(st.lists(bits, min_size=width, max_size=width), min_size=rows, max_size=rows))

    def row(size: int) -> list[int]:
        return draw(st.lists(bits, min_size=size, max_size=size))

    return Verdicts(row(said), row(wanted), table(said), table(wanted))


@given(verdicts())
def test_every_value_is_a_share_or_undefined(found: Verdicts) -> None:
    assert all(value is None or 0 <= value <= 1 for value in found.result().values.values())


@given(verdicts(), st.randoms(use_true_random=False))
def test_the_order_of_passages_changes_nothing(found: Verdicts, rng: object) -> None:
    order = list(range(len(found.gold_by_passages[0])))
    rng.shuffle(order)  # type: ignore[attr-defined]  # a random.Random
    tables = (found.answer_by_passages, found.gold_by_passages)

    said, wanted = ([[row[place] for place in order] for row in table] for table in tables)

    assert Verdicts(found.answer_by_gold, found.gold_by_answer, said, wanted).result().values == found.result().values


@given(verdicts())
def test_claims_are_faithful_hallucinated_or_known_and_wrong_ones_have_one_origin(found: Verdicts) -> None:
    values = {name: value or 0.0 for name, value in found.result().values.items()}

    origins = ("noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant", "hallucination")
    assert values["faithfulness"] + values["hallucination"] + values["self_knowledge"] == pytest.approx(1)
    assert values["precision"] + sum(values[name] for name in origins) == pytest.approx(1)


@given(verdicts())
def test_f1_lies_between_precision_and_recall(found: Verdicts) -> None:
    values = {name: value or 0.0 for name, value in found.result().values.items()}

    low, high = sorted((values["precision"], values["recall"]))
    assert low - 1e-9 <= values["f1"] <= high + 1e-9
