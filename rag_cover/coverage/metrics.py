"""The coverage metrics #1 to #6: Xie et al., "Do RAG systems cover what matters?" (NAACL 2025), §4.

Over the sub-questions of one role t, each is answered (a) or not and retrieved (r) or not, so four cells add up to 1:

- #1 ``P_t(a)``, #2 ``P_t(r)``
- #3 core use ``P_core(a and r) / P_core(r)``
- #4 retrieval headroom ``P_core(not a and not r) / P_core(not a)``
- #5 frequency gap: the mean share of chunks that cover an answered core sub-question, minus the same for unanswered ones
- #6 order alignment: ``pos_follow-up - (pos_core + pos_background) / 2``, mean positions of answered sub-questions

All of it is a function of *sums over tables* (`statistics_of`), so whole questions are resampled by reweighting
(`rag_cover.stats.intervals`). Averaging by question instead of pooling is the same function of per-question shares
(`per_question`); #5 and #6 are pooled under both. A value without its denominator is NaN here, None or absent in results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.coverage.ratings import RATING_WEIGHTS, rating
from rag_cover.coverage.tables import CoverageRow, CoverageTable
from rag_cover.errors import InvalidValueError
from rag_cover.questions import Role

__all__ = [
    "METRICS",
    "Average",
    "ByRole",
    "CoverageMetrics",
    "Metric",
    "Scenarios",
    "coverage_metrics",
    "per_question",
    "scenarios_of",
    "statistics_as_rated",
    "statistics_of",
]

Average = Literal["pooled", "question"]
Floats = NDArray[np.float64]
T = TypeVar("T")

_CELLS = {(True, True): 0, (True, False): 1, (False, True): 2, (False, False): 3}  # (answered, retrieved)
_WIDTHS: Mapping[tuple[str, Role | None], int] = {
    **{("cells", role): 4 for role in Role},  # one count per cell
    **{("answered", role): 2 for role in Role},  # yes, no
    **{("retrieved", role): 2 for role in Role},  # yes, no
    **{("position", role): 2 for role in Role},  # sum, count: as all below
    ("share_if_answered", None): 2,
    ("share_if_unanswered", None): 2,
    ("rating", None): 2,
}
_AT = {name: slice(*ends) for name, ends in zip(_WIDTHS, pairwise(accumulate(_WIDTHS.values(), initial=0)), strict=True)}
_PARTITIONS = [at for (kind, _), at in _AT.items() if kind in ("cells", "answered", "retrieved")]


class ByRole(dict[Role, T]):
    """Values by role; a role where the value is undefined is absent, and asking for it gives None.

    >>> shares = ByRole({Role.CORE: 0.5})
    >>> shares[Role.CORE], shares[Role.BACKGROUND], Role.BACKGROUND in shares
    (0.5, None, False)
    """

    def __missing__(self, role: Role) -> None:
        """Return None, so that undefined reads the same everywhere."""


@dataclass(frozen=True, slots=True)
class Scenarios:
    """How sub-questions fare: four shares that add up to 1."""

    answered_retrieved: float
    answered_only: float
    retrieved_only: float
    neither: float


@dataclass(frozen=True, slots=True)
class CoverageMetrics:
    """The six metrics over some tables; a role without the rows a value needs is absent from it, a number is then None."""

    scenarios: Mapping[Role, Scenarios]
    answered: Mapping[Role, float | None]
    retrieved: Mapping[Role, float | None]
    core_use: float | None
    retrieval_headroom: float | None
    frequency_gap: float | None
    order_alignment: float | None


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of interest: its words for people, and the function from sums (..., k) to values (...), NaN where undefined.

    It lies in [``low``, ``high``]; ``higher_is_better`` is None where it describes and does not judge.
    """

    name: str
    label: str
    formula: str
    statistic: Callable[[Floats], Floats]
    higher_is_better: bool | None = None
    low: float = 0.0
    high: float = 1.0
    plain_words: str = ""
    known_as: str = ""


def coverage_metrics(tables: Sequence[CoverageTable], *, average: Average = "pooled") -> CoverageMetrics:
    """Compute the metrics, pooled over all sub-questions or averaged over questions.

    >>> rows = (CoverageRow(Role.CORE, True, (True, False)), CoverageRow(Role.CORE, False, (False, False)))
    >>> metrics = coverage_metrics([CoverageTable(rows)])
    >>> metrics.answered[Role.CORE], metrics.core_use, metrics.retrieval_headroom, metrics.frequency_gap
    (0.5, 1.0, 1.0, 0.5)
    >>> metrics.answered[Role.FOLLOW_UP] is None, metrics.order_alignment is None
    (True, True)
    """
    if average not in ("pooled", "question"):
        message = f"average is {average!r}; it is 'pooled' or 'question'"
        raise InvalidValueError(message)
    sums = np.array([statistics_of(table) for table in tables]).reshape(-1, sum(_WIDTHS.values()))
    return _metrics_of((per_question(sums) if average == "question" else sums).sum(axis=0))


def statistics_of(table: CoverageTable, *, weights: Mapping[Role, float] = RATING_WEIGHTS) -> Floats:
    """Sum up one table, (k,): all that the metrics need of it. Sums of several tables add up.

    Only `METRICS` and `per_question` read the columns; their order is not part of the interface.
    """
    return statistics_as_rated(table, rating(table, weights=weights))


def statistics_as_rated(table: CoverageTable, rated: float | None) -> Floats:
    """Sum up one table whose rating is known already, such as one made with other weights."""
    sums = np.zeros(sum(_WIDTHS.values()))
    for row in table.rows:
        if row.role is not None:
            _count(sums, row, row.role)
    if rated is not None:
        sums[_AT["rating", None]] += (rated, 1)
    return sums


def per_question(sums: ArrayLike) -> Floats:
    """Turn counts of single tables (..., k) into shares, so that every question weighs the same in sums of them."""
    shares = np.array(sums, dtype=np.float64)
    for at in _PARTITIONS:
        whole = shares[..., at].sum(axis=-1, keepdims=True)
        shares[..., at] = np.divide(shares[..., at], whole, out=np.zeros_like(shares[..., at]), where=whole > 0)
    return shares


def scenarios_of(sums: Floats) -> Mapping[Role, Scenarios]:
    """Return the four shares of each role that has sub-questions judged on both sides; other roles are absent."""
    return ByRole({role: cells for role in Role if (cells := _scenarios(sums, role)) is not None})


def _count(sums: Floats, row: CoverageRow, role: Role) -> None:
    if row.answered is not None:
        sums[_AT["answered", role]][0 if row.answered else 1] += 1
    if row.retrieved is not None:
        sums[_AT["retrieved", role]][0 if row.retrieved else 1] += 1
    if row.answered is not None and row.retrieved is not None:
        sums[_AT["cells", role]][_CELLS[bool(row.answered), row.retrieved]] += 1
    if row.answered and row.position is not None:
        sums[_AT["position", role]] += (row.position, 1)
    if role == Role.CORE and row.answered is not None and row.chunks:
        kind = "share_if_answered" if row.answered else "share_if_unanswered"
        sums[_AT[kind, None]] += (sum(row.chunks) / len(row.chunks), 1)


def _ratio(above: Floats, below: Floats) -> Floats:
    ratio: Floats = np.divide(above, below, out=np.full(np.shape(below), np.nan), where=below > 0)
    return ratio


def _share(sums: Floats, kind: str, role: Role) -> Floats:
    """Return #1 (``kind="answered"``) or #2 (``"retrieved"``)."""
    counts = sums[..., _AT[kind, role]]
    return _ratio(counts[..., 0], counts.sum(axis=-1))


def _mean(sums: Floats, kind: str, role: Role | None = None) -> Floats:
    totals = sums[..., _AT[kind, role]]
    return _ratio(totals[..., 0], totals[..., 1])


def _core_use(sums: Floats) -> Floats:
    both, _, retrieved_only, _ = np.moveaxis(sums[..., _AT["cells", Role.CORE]], -1, 0)
    return _ratio(both, both + retrieved_only)


def _retrieval_headroom(sums: Floats) -> Floats:
    _, _, retrieved_only, neither = np.moveaxis(sums[..., _AT["cells", Role.CORE]], -1, 0)
    return _ratio(neither, retrieved_only + neither)


def _frequency_gap(sums: Floats) -> Floats:
    return _mean(sums, "share_if_answered") - _mean(sums, "share_if_unanswered")


def _order_alignment(sums: Floats) -> Floats:
    core, background, follow_up = (_mean(sums, "position", role) for role in (Role.CORE, Role.BACKGROUND, Role.FOLLOW_UP))
    return follow_up - (core + background) / 2


def _by_name(*metrics: Metric) -> Mapping[str, Metric]:
    return MappingProxyType({metric.name: metric for metric in metrics})


def _share_answered(role: Role) -> Callable[[Floats], Floats]:
    return partial(_share, kind="answered", role=role)


def _share_retrieved(role: Role) -> Callable[[Floats], Floats]:
    return partial(_share, kind="retrieved", role=role)


METRICS: Mapping[str, Metric] = _by_name(
    Metric(
        "core_coverage",
        "core answered",
        "P_core(a)",
        _share_answered(Role.CORE),
        higher_is_better=True,
        plain_words="Of what a full answer must say, how much the answers say.",
        known_as="answer completeness (recall)",
    ),
    Metric(
        "background_coverage",
        "background answered",
        "P_background(a)",
        _share_answered(Role.BACKGROUND),
        higher_is_better=True,
        plain_words="How much helpful context the answers give.",
    ),
    Metric(
        "follow_up_coverage",
        "follow-up answered",
        "P_follow-up(a)",
        _share_answered(Role.FOLLOW_UP),
        higher_is_better=False,
        plain_words="How far the answers run ahead of the question.",
    ),
    Metric(
        "core_retrieved",
        "core retrieved",
        "P_core(r)",
        _share_retrieved(Role.CORE),
        higher_is_better=True,
        plain_words="How much of what a full answer must say is in the retrieved passages.",
        known_as="context recall",
    ),
    Metric(
        "background_retrieved",
        "background retrieved",
        "P_background(r)",
        _share_retrieved(Role.BACKGROUND),
        higher_is_better=True,
        plain_words="How much helpful context is in the retrieved passages.",
    ),
    Metric(
        "follow_up_retrieved",
        "follow-up retrieved",
        "P_follow-up(r)",
        _share_retrieved(Role.FOLLOW_UP),
        plain_words="How much of what lies beyond the question is in the retrieved passages.",
    ),
    Metric(
        "core_use",
        "retrieved core that is answered",
        "P_core(a and r) / P_core(r)",
        _core_use,
        higher_is_better=True,
        plain_words="Where a passage had it, how often the answer said it.",
        known_as="context utilization",
    ),
    Metric(
        "retrieval_headroom",
        "unanswered core that was not retrieved either",
        "P_core(not a and not r) / P_core(not a)",
        _retrieval_headroom,
        plain_words="Where the answer left it out, how often no passage had it.",
    ),
    Metric(
        "frequency_gap",
        "share of chunks covering a core sub-question: answered minus unanswered",
        "mean share of covering chunks, answered core - unanswered core",
        _frequency_gap,
        low=-1.0,
        plain_words="Above 0, answers repeat what many passages say.",
    ),
    Metric(
        "order_alignment",
        "how much later follow-up is addressed than core and background",
        "pos_follow-up - (pos_core + pos_background) / 2",
        _order_alignment,
        higher_is_better=True,
        low=-1.0,
        plain_words="Above 0, answers say what matters before what lies beyond the question.",
    ),
    Metric(
        "rating",
        "rating",
        "mean over questions of the weighted coverage, by default 1·c_core + 0.5·c_background - 1·c_follow-up",
        partial(_mean, kind="rating"),
        higher_is_better=True,
        low=-1.0,
        high=1.5,
        plain_words="By default core counts 1, background a half, follow-up against: from \N{MINUS SIGN}1 to 1.5.",
    ),
)
"""Every number by its stable name, in the paper's order."""


def _metrics_of(sums: Floats) -> CoverageMetrics:
    return CoverageMetrics(
        scenarios=scenarios_of(sums),
        answered=_by_role(sums, "answered"),
        retrieved=_by_role(sums, "retrieved"),
        core_use=_float_or_none(_core_use(sums)),
        retrieval_headroom=_float_or_none(_retrieval_headroom(sums)),
        frequency_gap=_float_or_none(_frequency_gap(sums)),
        order_alignment=_float_or_none(_order_alignment(sums)),
    )


def _by_role(sums: Floats, kind: str) -> ByRole[float | None]:
    return ByRole({role: value for role in Role if (value := _float_or_none(_share(sums, kind, role))) is not None})


def _scenarios(sums: Floats, role: Role) -> Scenarios | None:
    cells = sums[_AT["cells", role]]
    return Scenarios(*map(float, cells / cells.sum())) if cells.sum() > 0 else None


def _float_or_none(value: Floats) -> float | None:
    return None if np.isnan(value) else float(value)
