"""The metrics' meaning, by hand-worked tables; what is undefined; and what must hold for any table."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from rag_cover.coverage import METRICS, CoverageRow, CoverageTable, coverage_metrics, per_question, rating, statistics_of
from rag_cover.coverage.metrics import Average
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Role
from rag_cover.stats.intervals import bootstrap, permutation_p_value

ROLES = st.sampled_from(Role)
CHUNKS = st.lists(st.booleans(), max_size=6).map(tuple)
POSITIONS = st.one_of(st.none(), st.floats(0, 1))


def rows(*, complete: bool) -> SearchStrategy[CoverageRow]:
    if complete:
        return st.builds(CoverageRow, ROLES, st.booleans(), CHUNKS, POSITIONS)
    answered = st.one_of(st.none(), st.booleans())
    return st.builds(CoverageRow, st.one_of(st.none(), ROLES), answered, st.one_of(st.none(), CHUNKS), POSITIONS)


def tables(*, complete: bool = False) -> SearchStrategy[CoverageTable]:
    return st.lists(rows(complete=complete), max_size=12).map(lambda found: CoverageTable(tuple(found)))


TABLES = st.lists(tables(), max_size=5)
COMPLETE_TABLES = st.lists(tables(complete=True), max_size=5)
ANSWERED = CoverageRow(Role.CORE, answered=True, chunks=None)
UNANSWERED = CoverageRow(Role.CORE, answered=False, chunks=None)
AVERAGES: SearchStrategy[Average] = st.sampled_from(["pooled", "question"])


def test_a_role_without_sub_questions_has_no_coverage() -> None:
    table = CoverageTable((CoverageRow(Role.CORE, answered=True, chunks=(True,)),))

    metrics = coverage_metrics([table])

    assert set(metrics.answered) == set(metrics.retrieved) == set(metrics.scenarios) == {Role.CORE}
    assert metrics.answered[Role.FOLLOW_UP] is None


def test_no_tables_leave_everything_undefined() -> None:
    metrics = coverage_metrics([])

    values = [metrics.core_use, metrics.retrieval_headroom, metrics.frequency_gap, metrics.order_alignment]

    assert values == [None] * 4
    assert not metrics.answered
    assert not metrics.scenarios


def test_without_retrieval_the_answer_is_still_measured() -> None:
    table = CoverageTable((ANSWERED, UNANSWERED))

    metrics = coverage_metrics([table])

    assert metrics.answered[Role.CORE] == 0.5
    assert metrics.retrieved[Role.CORE] is None
    assert metrics.scenarios[Role.CORE] is None
    assert metrics.core_use is None


def test_without_an_answer_the_retrieval_is_still_measured() -> None:
    table = CoverageTable((CoverageRow(Role.CORE, None, (True, False)), CoverageRow(Role.CORE, None, ())))

    metrics = coverage_metrics([table])

    assert metrics.retrieved[Role.CORE] == 0.5
    assert metrics.answered[Role.CORE] is None


def test_rows_without_a_role_count_in_no_role() -> None:
    table = CoverageTable((CoverageRow(None, answered=True, chunks=(True,)),))

    metrics = coverage_metrics([table])

    assert not metrics.answered
    assert rating(table) is None


def test_the_frequency_gap_leaves_out_rows_without_chunks() -> None:
    answered = CoverageRow(Role.CORE, answered=True, chunks=(True, True, False, False))
    unanswered = CoverageRow(Role.CORE, answered=False, chunks=(True, False, False, False))
    nothing_retrieved = CoverageRow(Role.CORE, answered=False, chunks=())

    metrics = coverage_metrics([CoverageTable((answered, unanswered, nothing_retrieved))])

    assert metrics.frequency_gap == 0.5 - 0.25


def test_order_alignment_ignores_positions_of_unanswered_rows() -> None:
    addressed = {Role.CORE: 0.2, Role.BACKGROUND: 0.4, Role.FOLLOW_UP: 0.9}
    answered = tuple(CoverageRow(role, answered=True, chunks=None, position=at) for role, at in addressed.items())
    unanswered = CoverageRow(Role.CORE, answered=False, chunks=None, position=1.0)

    metrics = coverage_metrics([CoverageTable((*answered, unanswered))])

    assert metrics.order_alignment == pytest.approx(0.9 - (0.2 + 0.4) / 2)


def test_averaging_by_question_gives_a_long_question_no_more_weight() -> None:
    short = CoverageTable((ANSWERED,))
    long = CoverageTable((UNANSWERED,) * 9)

    pooled, by_question = (coverage_metrics([short, long], average=average) for average in ("pooled", "question"))

    assert pooled.answered[Role.CORE] == 0.1
    assert by_question.answered[Role.CORE] == 0.5


def test_an_unknown_average_is_refused() -> None:
    wrong = "macro"

    with pytest.raises(InvalidValueError, match="'macro'; it is 'pooled' or 'question'"):
        coverage_metrics([], average=wrong)  # type: ignore[arg-type]  # what a caller without mypy may do


def test_a_position_outside_the_answer_is_refused() -> None:
    position = math.nan

    with pytest.raises(InvalidValueError, match="position is nan"):
        CoverageRow(Role.CORE, answered=True, chunks=None, position=position)


def test_the_rating_weighs_core_background_and_follow_up() -> None:
    answered = CoverageTable(tuple(CoverageRow(role, answered=True, chunks=None) for role in Role))

    custom = rating(answered, weights={Role.CORE: 2.0})

    assert rating(answered) == 0.5
    assert custom == 2.0


def test_metrics_are_named_and_described_once() -> None:
    names = list(METRICS)

    described = [(metric.name, bool(metric.label), bool(metric.formula)) for metric in METRICS.values()]

    assert described == [(name, True, True) for name in names]
    assert names[0] == "core_coverage"
    assert names[-1] == "rating"


def test_whole_questions_are_resampled_by_reweighting() -> None:
    draw = random.Random(7)
    coverage = METRICS["core_coverage"].statistic
    worse = [statistics_of(core_table(draw, 0.4)) for _ in range(60)]
    better = [statistics_of(core_table(draw, 0.7)) for _ in range(60)]

    interval = bootstrap(np.array(worse), coverage, resamples=500)
    p_value = permutation_p_value(np.array(better), np.array(worse), coverage, permutations=500)

    assert interval is not None
    assert interval.lower is not None
    assert interval.upper is not None
    assert interval.lower < interval.estimate < interval.upper
    assert p_value is not None
    assert p_value < 0.05


@given(TABLES, AVERAGES)
def test_cells_add_up_to_one(tables_: list[CoverageTable], average: Average) -> None:
    metrics = coverage_metrics(tables_, average=average)

    sums = [s.answered_retrieved + s.answered_only + s.retrieved_only + s.neither for s in metrics.scenarios.values() if s]

    assert sums == pytest.approx([1.0] * len(sums))


@given(COMPLETE_TABLES, AVERAGES)
def test_answered_and_retrieved_are_the_margins_of_the_cells(tables_: list[CoverageTable], average: Average) -> None:
    metrics = coverage_metrics(tables_, average=average)

    for role, cells in metrics.scenarios.items():
        assert cells is not None
        assert metrics.answered[role] == pytest.approx(cells.answered_retrieved + cells.answered_only)
        assert metrics.retrieved[role] == pytest.approx(cells.answered_retrieved + cells.retrieved_only)


@given(TABLES, AVERAGES, st.randoms(use_true_random=False))
def test_the_order_of_tables_and_rows_is_irrelevant(
    tables_: list[CoverageTable], average: Average, draw: random.Random
) -> None:
    shuffled = [CoverageTable(tuple(draw.sample(table.rows, len(table.rows)))) for table in tables_]
    draw.shuffle(shuffled)

    before, after = values_of(tables_, average), values_of(shuffled, average)

    assert after == pytest.approx(before, nan_ok=True)


@given(tables())
def test_for_a_single_table_both_averages_agree(table: CoverageTable) -> None:
    pooled, by_question = values_of([table], "pooled"), values_of([table], "question")

    assert by_question == pytest.approx(pooled, nan_ok=True)


@given(tables())
def test_the_rating_stays_within_its_bounds(table: CoverageTable) -> None:
    value = rating(table)

    assert value is None or -1 <= value <= 1.5


@given(COMPLETE_TABLES)
def test_statistics_of_tables_add_up(tables_: list[CoverageTable]) -> None:
    together = CoverageTable(tuple(row for table in tables_ for row in table.rows))
    no_rating = slice(0, -2)  # the last two columns: ratings are means of tables, not of rows

    total = sum((statistics_of(table) for table in tables_), statistics_of(CoverageTable()))

    assert total[no_rating] == pytest.approx(statistics_of(together)[no_rating])


@given(TABLES, AVERAGES)
def test_metrics_are_those_of_the_summed_statistics(tables_: list[CoverageTable], average: Average) -> None:
    metrics = coverage_metrics(tables_, average=average)

    values = values_of(tables_, average)

    named = {
        "core_coverage": metrics.answered[Role.CORE],
        "follow_up_retrieved": metrics.retrieved[Role.FOLLOW_UP],
        "core_use": metrics.core_use,
        "retrieval_headroom": metrics.retrieval_headroom,
        "frequency_gap": metrics.frequency_gap,
        "order_alignment": metrics.order_alignment,
    }
    for name, value in named.items():
        assert values[name] == pytest.approx(math.nan if value is None else value, nan_ok=True)


@given(st.lists(tables(), min_size=1, max_size=4))
@settings(max_examples=50)
def test_statistics_of_many_resamples_at_once_are_those_of_each(tables_: list[CoverageTable]) -> None:
    sums = np.array([statistics_of(table) for table in tables_])
    weights = np.array([[1.0] * len(tables_), [2.0] + [0.0] * (len(tables_) - 1)])

    at_once = {name: metric.statistic(weights @ sums) for name, metric in METRICS.items()}

    for name, metric in METRICS.items():
        each = [float(metric.statistic(row @ sums)) for row in weights]
        assert list(at_once[name]) == pytest.approx(each, nan_ok=True)


def values_of(tables_: list[CoverageTable], average: Average) -> dict[str, float]:
    sums = np.array([statistics_of(table) for table in tables_] or [statistics_of(CoverageTable())])
    total = (per_question(sums) if average == "question" else sums).sum(axis=0)
    return {name: float(metric.statistic(total)) for name, metric in METRICS.items()}


def core_table(draw: random.Random, share: float) -> CoverageTable:
    return CoverageTable(tuple(CoverageRow(Role.CORE, draw.random() < share, None) for _ in range(5)))
