"""What a summary and a comparison hold: frozen values, in which nothing undefined is a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rag_cover.belief.summary import UtilitySummary
from rag_cover.complexity.summary import ComplexitySummary
from rag_cover.coverage import Loss, Scenarios
from rag_cover.coverage.summary import AnswerCounts, CascadeUse, CorpusCounts, NuggetCounts
from rag_cover.label_matches import LabelMatches
from rag_cover.notebook_views import DrawnValue, draw_for_notebook, show_in_notebook
from rag_cover.questions import Role
from rag_cover.short_forms import quote
from rag_cover.stats.intervals import Interval
from rag_cover.summaries.judge_error import JudgeError

__all__ = ["ChangedQuestion", "Comparison", "MetricComparison", "MetricValue", "OutcomeCounts", "Summary"]


@dataclass(frozen=True, slots=True)
class MetricValue:
    """One metric of one evaluation, made of what ``measure`` found; without an interval, ``undefined_because`` says why.

    ``interval`` is that of sampling questions; ``with_judge_error`` holds the judge's errors, too, and its estimate is what
    people would find. None where nothing is known of them. ``plain_words`` and ``known_as`` are those of `SummaryMetric`.
    """

    name: str
    label: str
    explanation: str
    interval: Interval | None
    undefined_because: str | None
    higher_is_better: bool | None
    measure: str
    low: float = 0.0
    high: float = 1.0
    with_judge_error: Interval | None = None
    plain_words: str = ""
    known_as: str = ""


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """How many traces a measure measured, could not apply to, and failed on; ``reasons`` counts the last two."""

    measured: int
    not_applicable: int
    failed: int
    reasons: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Summary:
    """An evaluation in numbers.

    ``losses`` are of core sub-questions that the answer does not cover, named where that is more likely right than not;
    ``unclear_losses`` counts the others. ``judge_error`` is None where nothing is known of the judge's errors.
    ``utility`` and ``complexity`` are None where no trace was measured for it; their metrics are among ``metrics`` where they
    were asked for. ``answers`` is None where no answer was judged; ``single_sub_questions`` is the share of the traces measured
    for coverage whose question rules left whole, None where none was: of 1, core coverage is the share of questions answered.
    ``nuggets`` is None where nothing was measured on nuggets, ``corpus`` where no corpus was searched, ``cascade`` where no
    cascade of judges judged, ``labels`` where no labels of people were given.
    """

    traces: int
    questions: int
    pipelines: tuple[str, ...]
    judge: str
    metrics: Mapping[str, MetricValue]
    scenarios: Mapping[Role, Scenarios]
    losses: Mapping[Loss, int]
    outcomes: Mapping[str, OutcomeCounts]
    notes: tuple[str, ...]
    utility: UtilitySummary | None = None
    complexity: ComplexitySummary | None = None
    unclear_losses: int = 0
    judge_error: JudgeError | None = None
    answers: AnswerCounts | None = None
    single_sub_questions: float | None = None
    nuggets: NuggetCounts | None = None
    corpus: CorpusCounts | None = None
    cascade: CascadeUse | None = None
    labels: LabelMatches | None = None

    @property
    def share_on_nuggets(self) -> float:
        """Return the share of the traces measured for coverage that were measured on nuggets, in [0, 1]."""
        return self.nuggets.traces / self.nuggets.of if self.nuggets else 0.0

    @property
    def failed(self) -> int:
        """Count the measurements that failed, and the verdicts of a cascade for which its model did."""
        of_cascade = self.cascade.counts.failed if self.cascade else 0
        return sum(counts.failed for counts in self.outcomes.values()) + of_cascade

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """List the measures that measured no trace, and failed on some."""
        return tuple(name for name, counts in self.outcomes.items() if counts.failed and not counts.measured)


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """One metric on both sides: ``difference`` is b - a, ``p_value`` of the paired permutation test over the questions.

    ``with_judge_error`` is the difference that people would find, with an interval; None where nothing is known of the judge's
    errors. ``interval`` is that of the difference over the questions, without the judge's errors.
    """

    name: str
    label: str
    a: Interval | None
    b: Interval | None
    difference: float | None
    p_value: float | None
    questions: int
    higher_is_better: bool | None
    low: float = 0.0
    high: float = 1.0
    with_judge_error: Interval | None = None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class ChangedQuestion:
    """A question whose core sub-questions fare differently: shares answered, those only b answers, those only a does."""

    question: str
    key: str
    a: float | None
    b: float | None
    gained: tuple[str, ...]
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two pipelines side by side on the questions they share.

    ``single_sub_questions`` is the share of traces whose question rules left whole, on the side that has fewer of them,
    ``share_on_nuggets`` that of traces measured on nuggets. ``labels_a`` and ``labels_b`` tell what became of people's labels,
    None where none were given; ``by_labels`` that all core verdicts of both sides are labelled: what people find is compared.
    """

    name_a: str
    name_b: str
    questions: int
    only_a: int
    only_b: int
    metrics: Mapping[str, MetricComparison]
    losses_a: Mapping[Loss, int]
    losses_b: Mapping[Loss, int]
    changed: tuple[ChangedQuestion, ...]
    notes: tuple[str, ...]
    unclear_a: int = 0
    unclear_b: int = 0
    single_sub_questions: float = 0.0
    share_on_nuggets: float = 0.0
    labels_a: LabelMatches | None = None
    labels_b: LabelMatches | None = None
    by_labels: bool = False

    def __repr__(self) -> str:
        """Return a short form: the sides, how many questions, and the first two metrics that both have."""
        both = [(name, each.a, each.b) for name, each in self.metrics.items() if each.a and each.b][:2]
        shown = "".join(f", {name} {a.estimate:.3g} → {b.estimate:.3g}" for name, a, b in both)
        return f"Comparison({quote(self.name_a)} against {quote(self.name_b)}, {self.questions:,} questions{shown})"

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return show_in_notebook(self)

    def plot_comparison(self) -> DrawnValue:
        """Draw both sides of every metric that both have, as SVG; a sentence where no metric is defined on both."""
        return draw_for_notebook(self)
