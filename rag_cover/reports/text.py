"""Numbers as people read them: one wording for the terminal and the page, and a reason in place of every missing number."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from rag_cover.coverage import Loss
from rag_cover.coverage.summary import AnswerCounts, CascadeUse
from rag_cover.language import language_unread
from rag_cover.reports.loss_text import LOSS_PHRASES, describe_loss, main_loss
from rag_cover.reports.sanitise import one_line
from rag_cover.short_forms import capitalise
from rag_cover.stats.intervals import SIGNIFICANT, Interval
from rag_cover.stats.prediction_powered import LEAST_LABELS
from rag_cover.summaries import Comparison, MetricComparison, MetricValue, Summary

__all__ = [
    "SHARE",
    "SIGNED",
    "CoreShare",
    "Headline",
    "Scale",
    "abstentions_sentence",
    "are_questions_whole",
    "basis_of",
    "cascade_sentence",
    "controls_sentence",
    "core_noun",
    "core_share",
    "format_count",
    "headline",
    "headline_of_metric",
    "interval_text",
    "judge_error_sentence",
    "loss_error_sentence",
    "losses_sentence",
    "losses_sentence_of",
    "number_text",
    "p_value_text",
    "percent",
    "scale_of",
    "sub_questions_hint",
    "verdict_on",
]

_MINUS = "\N{MINUS SIGN}"
_LONGEST_REASON = 200  # characters of what a model's failure says
_MANY = 0.5  # of the answers, or of the traces: from here on the headline says so
_NEARLY_ALL = 0.9  # of the questions: from here on coverage is that of whole questions
_LANGUAGES_NAMED = 3


@dataclass(frozen=True, slots=True)
class Scale:
    """The range that a metric is drawn on, and whether it reads as a percentage, with its sign, or as any number."""

    low: float = 0.0
    high: float = 1.0
    is_share: bool = True
    is_signed: bool = True

    def text(self, value: float) -> str:
        """Write a value: a share as percent, anything else as a number, with its sign where that tells good from bad."""
        if self.is_share:
            return percent(value)
        return _format_signed(value) if self.is_signed else number_text(value)

    @property
    def is_bounded(self) -> bool:
        """Tell whether a value can be drawn on it."""
        return math.isfinite(self.high - self.low)

    def at(self, value: float) -> float:
        """Return where a value lies on the scale, in [0, 1]."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


SHARE = Scale()
SIGNED = Scale(-1.0, 1.0, is_share=False)


def scale_of(metric: MetricValue | MetricComparison) -> Scale:
    """Return the scale of a metric: shares, numbers that carry a sign since they may lie below 0, and any other number."""
    if (metric.low, metric.high) == (0.0, 1.0):
        return SHARE
    return Scale(metric.low, metric.high, is_share=False, is_signed=-math.inf < metric.low < 0)


def percent(share: float) -> str:
    """Write a share in whole percent; one that is merely close to none or all is not rounded to it.

    >>> percent(0.54), percent(0.001), percent(0.999), percent(1.0)
    ('54%', '<1%', '>99%', '100%')
    """
    points = round(100 * share)
    if share > 0 and points == 0:
        return "<1%"
    return ">99%" if share < 1 and points == 100 else f"{points}%"  # noqa: PLR2004 - percent


def format_count(count: int, noun: str, plural: str | None = None) -> str:
    """Write a count with its noun.

    >>> format_count(1, "question"), format_count(1200, "query", "queries")
    ('1 question', '1,200 queries')
    """
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def interval_text(interval: Interval, scale: Scale) -> str:
    """Write the bounds of an interval, or why there are none; bounds of shares are never rounded inwards to none or all.

    >>> interval_text(Interval(0.54, 0.47, 0.61, 18), SHARE), interval_text(Interval(0.5, None, None, 1), SHARE)
    ('47–61', 'no interval')
    >>> interval_text(Interval(0.5, 0.004, 0.997, 2), SHARE), interval_text(Interval(0.001, 0.0, 0.004, 90), SHARE)
    ('0–100', '0–1')
    """
    if interval.lower is None or interval.upper is None:
        return "no interval"
    if scale.is_share:
        low, high = 100 * interval.lower, 100 * interval.upper
        nearly_all, nearly_none = low > 99, high < 1  # noqa: PLR2004 - percent
        return f"{math.floor(low) if nearly_all else round(low)}–{math.ceil(high) if nearly_none else round(high)}"
    return f"{scale.text(interval.lower)} to {scale.text(interval.upper)}"


def interval_label(interval: Interval, scale: Scale) -> str:
    """Write the bounds of an interval and what they are, or why there are none.

    >>> interval_label(Interval(0.54, 0.47, 0.61, 18), SHARE)
    '95% interval 47–61'
    """
    words = interval_text(interval, scale)
    return words if interval.lower is None else f"95% interval {words}"


@dataclass(frozen=True, slots=True)
class Headline:
    """The one sentence to remember, in parts so that a page can set its number large."""

    before: str
    value: str
    after: str
    basis: str

    @property
    def text(self) -> str:
        """Join the parts to the sentence."""
        return " ".join(part for part in (self.before, self.value, self.after, f"({self.basis})" if self.basis else "") if part)


@dataclass(frozen=True, slots=True)
class CoreShare:
    """The core coverage that stands in headlines, and whose word it is: empty where it is the judge's."""

    interval: Interval
    by: str = ""


def core_share(summary: Summary) -> CoreShare | None:
    """Return the core coverage: what people would find, where there are labels of these answers, else what the judge says.

    None where it is undefined.
    """
    metric, error = summary.metrics.get("core_coverage"), summary.judge_error
    if metric is None or metric.interval is None:
        return None
    if error is None or not error.own_labels or metric.with_judge_error is None:
        return CoreShare(metric.interval)
    return CoreShare(metric.with_judge_error, f"{'by' if error.all_labelled else 'with'} people’s labels")


def headline_of_metric(metric: MetricValue) -> Headline:
    """Say what a metric is, over how many questions, or why it is undefined."""
    if metric.interval is None:
        return Headline("", f"{capitalise(metric.label)} is undefined:", metric.undefined_because or "no reason was given", "")
    interval, scale = metric.interval, scale_of(metric)
    return Headline(f"{capitalise(metric.label)}:", scale.text(interval.estimate), "", basis_of(interval, scale))


def basis_of(interval: Interval, scale: Scale) -> str:
    """Say how sure a headline is: its interval, and the number of questions."""
    sure = f"{interval_label(interval, scale)}{' from a single question' if interval.n == 1 else ''}"
    return f"{sure}, {format_count(interval.n, 'question')}"


def headline(summary: Summary) -> Headline:
    """Say how much of what matters the answers cover, how sure that is, or why it cannot be said.

    What makes that number mean little comes first: traces in a language that the judge does not read, answers of which at least
    half decline, only repeat the question or are empty. People's labels change the number (`core_share`).
    """
    if (core := core_share(summary)) is None:
        metric = summary.metrics.get("core_coverage")
        reason = metric.undefined_because if metric else "it was not measured"
        undefined = Headline("", "Core coverage is undefined:", reason or "no reason was given", "")
        return _headline_of_unread(summary) or undefined
    by = f"{core.by}, " if core.by else ""
    share, basis = percent(core.interval.estimate), _basis_with_unread(f"{by}{basis_of(core.interval, SHARE)}", summary)
    short, single = _short_answers(summary.answers), are_questions_whole(summary)
    if not (degenerate := _degenerate_answers(summary.answers)):
        before, after = ("Answered:", "of the questions") if single else ("Answers cover", f"of the {core_noun(summary)}s")
        return Headline(before, share, f"{after}{short}{main_loss(summary.losses)}", basis)
    (largest, what), *others = degenerate
    also = "".join(f", {value} {other}" for value, other in others)
    covered = f"{share} of the questions are answered" if single else f"the answers cover {share} of the {core_noun(summary)}s"
    return Headline("", largest, f"of the answers {what}{also}; {covered}{short}", basis)


def core_noun(of: Summary | Comparison) -> str:
    """Name what core coverage is a share of."""
    share = of.share_on_nuggets
    return "vital nugget" if share == 1 else "core sub-question or vital nugget" if share else "core sub-question"


def abstentions_sentence(answers: AnswerCounts | None, noun: str = "core sub-question") -> str:
    """Say how many answers decline to answer, and whether what was retrieved would have let them; empty where none does.

    >>> abstentions_sentence(AnswerCounts(answers=20, examined=20, declined=7, declined_unretrieved=5, declined_retrieved=2))
    '7 of 20 answers decline to answer: 5 where no retrieved passage covers a core sub-question, 2 where one does.'
    >>> abstentions_sentence(AnswerCounts(answers=20, examined=20, declined_partly=1))
    '1 of 20 answers declines to answer in part.'
    """
    if answers is None or not (answers.declined or answers.declined_partly):
        return ""
    of, partly = f"of {format_count(answers.examined, 'answer')}", answers.declined_partly
    if not answers.declined:
        return f"{partly:,} {of} {_decline(partly)} to answer in part."
    more = f"; {partly:,} more {_decline(partly)} in part" if partly else ""
    return f"{answers.declined:,} {of} {_decline(answers.declined)} to answer{_retrieval_for_declined(answers, noun)}{more}."


def sub_questions_hint(summary: Summary) -> str:
    """Say how to get sub-questions where rules left nearly every question whole; else empty."""
    if not are_questions_whole(summary):
        return ""
    return (
        "Rules split hardly any of these questions. To measure what a full answer must cover, give sub-questions. You can "
        "write a file: run rag-cover decompose TRACES --out FILE, edit FILE by hand or with the prompt of rag-cover "
        "decompose --show-prompts in a chat, and pass --sub-questions FILE. Or a language model writes them: pass --generator "
        "openai:MODEL. Any OpenAI-compatible server works, also a local one. Set its address in OPENAI_BASE_URL."
    )


def are_questions_whole(summary: Summary | Comparison) -> bool:
    """Tell whether rules left nearly every question whole, so that core coverage is the share of questions answered."""
    return summary.single_sub_questions is not None and summary.single_sub_questions >= _NEARLY_ALL


def _degenerate_answers(answers: AnswerCounts | None) -> list[tuple[str, str]]:
    """List what at least half of the answers are or do instead of answering, each with its share, the largest first."""
    if answers is None:
        return []
    counts = (
        (answers.declined, answers.examined, "decline to answer"),
        (answers.repetitions, answers.answers, "only repeat the question"),
        (answers.empty, answers.answers, "are empty"),
    )
    found = [(part / whole, what) for part, whole, what in counts if whole and part >= _MANY * whole]
    return [(percent(share), what) for share, what in sorted(found, key=lambda each: -each[0])]


def _retrieval_for_declined(answers: AnswerCounts, noun: str) -> str:
    missing, there = answers.declined_unretrieved, answers.declined_retrieved
    unknown = answers.declined - missing - there
    one = "one does" if missing else f"a retrieved passage covers a {noun}"
    parts = [
        f"{missing:,} where no retrieved passage covers a {noun}" if missing else "",
        f"{there:,} where {one}" if there else "",
        f"{unknown:,} where that is not known" if unknown and (missing or there) else "",
    ]
    told = ", ".join(part for part in parts if part)
    return f": {told}" if told else ""


def _short_answers(answers: AnswerCounts | None) -> str:
    if answers is None or not answers.answers or answers.short < _MANY * answers.answers:
        return ""
    are = "is" if answers.answers == 1 else "are"
    return f"; {answers.short:,} of {format_count(answers.answers, 'answer')} {are} one or two words long"


def _unread(summary: Summary) -> tuple[int, str]:
    """Count the traces whose coverage was not measured for their language, and name these languages."""
    counts = summary.outcomes.get("coverage")
    reasons = Counter[str]()
    for reason, count in counts.reasons.items() if counts else ():
        if (language := language_unread(reason)) is not None:
            reasons[language] += count
    named = [language for language, _ in reasons.most_common(_LANGUAGES_NAMED)]
    return reasons.total(), ", ".join([*named, *(["others"] if len(reasons) > _LANGUAGES_NAMED else [])])


def _headline_of_unread(summary: Summary) -> Headline | None:
    """Say that the judge does not read the traces' language, where that is why most of them were not measured."""
    unread, languages = _unread(summary)
    if not unread or unread < _MANY * summary.traces:
        return None
    what = "coverage was not" if any(each.measured for each in summary.outcomes.values()) else "nothing was"
    traces = "trace is" if summary.traces == 1 else "traces are"
    after = f"{traces} in a language that the judge does not read ({languages}): {what} measured"
    return Headline("", f"{unread:,} of {summary.traces:,}", after, "")


def _basis_with_unread(basis: str, summary: Summary) -> str:
    unread, languages = _unread(summary)
    return f"{basis}; {unread:,} of {format_count(summary.traces, 'trace')} left out, in {languages}" if unread else basis


def _decline(count: int) -> str:
    return "declines" if count == 1 else "decline"


def judge_error_sentence(summary: Summary) -> str:
    """Say what the judge's errors do to the headline, and how often it agrees with people; nothing where that is not known."""
    metric, error = summary.metrics.get("core_coverage"), summary.judge_error
    if metric is None or metric.with_judge_error is None or error is None or metric.interval is None:
        return ""
    known, sure = error.agreement, interval_text(metric.with_judge_error, SHARE)
    agreed, labels = percent(known.agreed / known.labels), format_count(known.labels, "label")
    if error.own_labels:
        labelled = f"all {known.labels:,} verdicts" if error.all_labelled else format_count(known.labels, "verdict")
        rests = "" if error.rests_on_labels else f" From {LEAST_LABELS} labels on, the share rests on them."
        judged = "" if error.judged is None else f"The judge alone says {percent(error.judged)}; it"
        return f"People labelled {labelled}. {judged or 'The judge'} agrees with {agreed} of the labels.{rests}"
    if known.sets == 1:  # a judge that was fitted to labels (`rag_cover.judge_fit`)
        return (
            f"With the judge’s errors {sure}%: fitted to other questions, it agrees with {agreed} of the {labels} that it has."
        )
    return (
        f"With the judge’s errors {sure}%: it agrees with people on {agreed} of {labels} of {known.sets} test sets that it was "
        "not trained on."
    )


def loss_error_sentence(summary: Summary) -> str:
    """Say how many core sub-questions people would count as lost in each place; nothing where that is not known."""
    losses = summary.judge_error.losses if summary.judge_error else {}
    parts = [
        f"{_count_range(interval.lower, interval.upper)} {LOSS_PHRASES[loss]}"
        for loss, interval in losses.items()
        if interval.lower is not None and interval.upper is not None
    ]
    return f"With the judge’s errors, people would count {', '.join(parts)}." if parts else ""


def _count_range(low: float, high: float) -> str:
    """Write a range of counts, which may be one.

    >>> _count_range(0.2, 3.8), _count_range(0.1, 0.2)
    ('0–4', '0')
    """
    lower, upper = f"{low:.0f}", f"{high:.0f}"
    return lower if lower == upper else f"{lower}–{upper}"


def cascade_sentence(summary: Summary) -> str:
    """Say how much a cascade of judges asked of its model, and how often that would agree; nothing of other judges."""
    if (use := summary.cascade) is None:
        return ""
    counts = use.counts
    parts = [
        f"Cascade: {percent(use.share_asked)} of {format_count(counts.verdicts, 'verdict')} asked of the model",
        f"agreement with the model alone {_agreement(use)}",
    ]
    if counts.failed:
        why = f" ({one_line(counts.failure.message, limit=_LONGEST_REASON)})" if counts.failure else ""
        parts.append(f"for {format_count(counts.failed, 'verdict')} the model failed{why}, the first judge’s stands")
    if counts.over_budget:
        parts.append(f"{format_count(counts.over_budget, 'unsure verdict')} over the budget stay the first judge’s")
    return f"{'; '.join(parts)}."


def _agreement(use: CascadeUse) -> str:
    found = use.agreement
    if found is None:
        return "unknown, as no verdict that the first judge kept was checked"
    if use.share_asked == 1:
        return "100%, as it gave all of them"
    sure = "no interval, " if found.lower is None else f"{interval_text(found, SHARE)}%, "
    return f"{percent(found.estimate)} ({sure}{format_count(found.n, 'verdict')} checked)"


def controls_sentence(summary: Summary) -> str:
    """Say what answers that say nothing would score on these questions; nothing where that was not tried."""
    echo, refusal = (summary.metrics.get(name) for name in ("echo_coverage", "refusal_coverage"))
    if echo is None or refusal is None or echo.interval is None or refusal.interval is None:
        return ""
    return (
        f"An answer that only repeats the questions would score {percent(echo.interval.estimate)}, a refusal "
        f"{percent(refusal.interval.estimate)}."
    )


def losses_sentence(losses: Mapping[Loss, int], unclear: int = 0, *, noun: str = "core sub-question") -> str:
    """Say in one sentence where the uncovered core sub-questions, or whatever ``noun`` calls them, were lost.

    >>> losses_sentence({Loss.NOT_RETRIEVED: 3, Loss.UNUSED: 1}, 2)
    'Of 6 core sub-questions the answers leave out, 3 were never retrieved, 1 was in the prompt and not used and 2 are unclear.'
    """
    parts = [f"{count:,} {describe_loss(loss, count)}" for loss in Loss if (count := losses.get(loss, 0))]
    parts += [f"{unclear:,} {'is' if unclear == 1 else 'are'} unclear"] if unclear else []
    if not parts:
        return f"No {noun} is known to have been lost on the way."
    listed = " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]
    return f"Of {format_count(sum(losses.values()) + unclear, noun)} the answers leave out, {listed}."


def losses_sentence_of(summary: Summary) -> str:
    """Say where an evaluation's core sub-questions were lost; where rules left questions whole it speaks of questions."""
    noun = "question" if are_questions_whole(summary) else core_noun(summary)
    return losses_sentence(summary.losses, summary.unclear_losses, noun=noun)


def p_value_text(p_value: float | None) -> str:
    """Write a p-value with as many digits as it deserves.

    >>> p_value_text(0.0004), p_value_text(0.031), p_value_text(None)
    ('p < 0.001', 'p = 0.031', 'no p-value')
    """
    if p_value is None:
        return "no p-value"
    if p_value < 0.001:  # noqa: PLR2004 - smaller ones are not told apart
        return "p < 0.001"
    return f"p = {p_value:.3f}" if p_value < 0.1 else f"p = {p_value:.2f}"  # noqa: PLR2004 - two digits tell enough


def verdict_on(metric: MetricComparison) -> str:
    """Call the second side better, worse, different, or not clearly either."""
    if metric.difference is None or metric.p_value is None:
        return "undefined"
    if metric.p_value >= SIGNIFICANT or metric.difference == 0:
        return "unclear"
    if metric.higher_is_better is None:
        return "different"
    return "better" if (metric.difference > 0) == metric.higher_is_better else "worse"


def number_text(value: float) -> str:
    """Write a number of any size shortly.

    >>> number_text(3.5), number_text(123472.5), number_text(0.0019), number_text(-2.0), number_text(0.0)
    ('3.5', '123,472', '0.0019', '-2', '0')
    """
    if abs(value) >= 100:  # noqa: PLR2004  # from here on, fractions tell nothing
        return f"{value:,.0f}"
    return f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) >= 1 else f"{value:.2g}"


def _format_signed(value: float) -> str:
    digits = f"{abs(value):.2f}"
    return digits if float(digits) == 0 else f"{'+' if value > 0 else _MINUS}{digits}"
