"""The judge beside people: its verdicts on answers that people labelled, and where the two differ most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from rag_cover.measures import TraceResult
from rag_cover.reports.sanitise import clip, one_line
from rag_cover.reports.tables import Encodable, plain_table
from rag_cover.reports.text import format_count, percent
from rag_cover.reports.unclear_losses import find_nearest_part
from rag_cover.summaries import JudgeKnowledge, list_labelled_verdicts

__all__ = ["Difference", "LabelComparison", "PeopleView", "compare_with_labels", "people_table", "people_view"]

_SHOWN = 2
_SHOWN_ON_PAGE = 5


@dataclass(frozen=True, slots=True)
class Difference:
    """An answer of which judge and people disagree whether it covers a sub-question."""

    sub_question: str
    answer: str
    probability: float
    label: bool


@dataclass(frozen=True, slots=True)
class LabelComparison:
    """Verdicts on answers to core sub-questions beside people's labels: how many there are, and how many say yes.

    ``differences`` are ordered by how sure the judge is, the surest first.
    """

    name: str
    labels: int
    judge: int
    people: int
    differences: tuple[Difference, ...]


def compare_with_labels(name: str, results: Iterable[TraceResult], known: JudgeKnowledge) -> LabelComparison:
    """Hold the judge's verdicts on core sub-questions against labels of the same answers."""
    labels = judge = people = 0
    differences = []
    for result in results:
        for asked, verdict, label in list_labelled_verdicts(result, known):
            labels, judge, people = labels + 1, judge + verdict.covered, people + label
            if label != verdict.covered:
                differences.append(Difference(asked, result.trace.answer or "", verdict.probability, label))
    differences.sort(key=lambda each: -abs(each.probability - each.label))
    return LabelComparison(name, labels, judge, people, tuple(differences))


def people_table(sides: Iterable[LabelComparison]) -> RenderableType:
    """Show judge and people side by side, and where they differ most; nothing without labels."""
    known = [each for each in sides if each.labels]
    if not known:
        return Text("No label is of a core sub-question of these answers.")
    table = plain_table(("Core answered", "left"), ("judge", "right"), ("people", "right"), ("agreement", "right"))
    for each in known:
        agreed = percent((each.labels - len(each.differences)) / each.labels)
        shares = (percent(each.judge / each.labels), percent(each.people / each.labels))
        table.add_row(Text(one_line(each.name, limit=60)), *shares, f"{agreed} of {format_count(each.labels, 'verdict')}")
    lines = [line for each in known for difference in each.differences[:_SHOWN] for line in _lines(difference)]
    return Encodable(Group(table, *([Text("Where they differ most:", style="bold"), *lines] if lines else [])))


@dataclass(frozen=True, slots=True)
class DifferenceView:
    """One answer of which judge and people disagree, as a page shows it."""

    sub_question: str
    answer: str
    people: str
    judge: str


@dataclass(frozen=True, slots=True)
class PeopleView:
    """Judge and people side by side, as a page shows them."""

    sentence: str
    differences: tuple[DifferenceView, ...]


def people_view(beside: LabelComparison) -> PeopleView | None:
    """Gather what a page shows of judge and people; None without labels."""
    if not beside.labels:
        return None
    agreed = percent((beside.labels - len(beside.differences)) / beside.labels)
    shares = f"the judge says {percent(beside.judge / beside.labels)}, people say {percent(beside.people / beside.labels)}"
    return PeopleView(
        f"Of {format_count(beside.labels, 'labelled core sub-question')}, answers cover: {shares}; they agree on {agreed}.",
        tuple(map(_difference_view, beside.differences[:_SHOWN_ON_PAGE])),
    )


def _difference_view(difference: Difference) -> DifferenceView:
    said = ("yes", "no") if difference.label else ("no", "yes")
    return DifferenceView(
        clip(difference.sub_question, 500),
        find_nearest_part(difference.answer, difference.sub_question),
        said[0],
        f"{said[1]} ({difference.probability:.2f})",
    )


def _lines(difference: Difference) -> tuple[Text, Text]:
    said = ("people: yes", "judge: no") if difference.label else ("people: no", "judge: yes")
    return (
        Text(f"- {one_line(difference.sub_question, limit=150)} ({', '.join(said)}, {difference.probability:.2f})"),
        Text(f"  {one_line(difference.answer, limit=110)}", style="dim"),
    )
