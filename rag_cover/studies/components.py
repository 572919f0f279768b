"""The component study of the ΔSePer paper (Dai et al., ICLR 2025, §5): what each setting of a pipeline is worth, and costs.

Traces of one question set, recorded under several settings, are compared question by question. All figures are over the
questions that every setting was measured on, so that no setting profits from easier questions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rag_cover.argument_checks import refuse_one_text, refuse_outside
from rag_cover.belief import TraceUtility
from rag_cover.english.words import words_of
from rag_cover.errors import IncomparableError, InputError
from rag_cover.measures import TraceResult
from rag_cover.placeholder import Placeholder
from rag_cover.question_keys import question_key
from rag_cover.stats.paired import PairedDifference, compare_pairs, frontier_shares, holm, mean_intervals, on_frontier
from rag_cover.studies.findings import Effect, HurtQuestion, LengthUnit, SettingFigures, Study, UtilityDifference
from rag_cover.studies.settings import Level, Setting, format_level, order_of, require_components, setting_of
from rag_cover.traces import Trace

__all__ = ["study_components"]

Floats = NDArray[np.float64]

_DIGITS = 12  # equal utilities stay equal, whatever the order in which runs were added up
_ROUNDING = 1e-9  # what a difference of two rounded means may be off by
_TOKENS = "prompt_tokens"  # in a trace's metadata, as its pipeline counted them


@dataclass(slots=True)
class _Trials:
    """The utilities, beliefs and prompt lengths of each setting and question; one question may have been run several times."""

    found: dict[Setting, dict[str, list[tuple[float, float, float]]]] = field(default_factory=lambda: defaultdict(dict))
    texts: dict[str, str] = field(default_factory=dict)

    def add(self, setting: Setting, trace: Trace, utility: TraceUtility, length: float) -> None:
        key = question_key(trace.question)
        self.texts.setdefault(key, trace.question.text)
        total = utility.total
        self.found[setting].setdefault(key, []).append((total.value, total.posterior.score, length))

    def common_questions(self) -> list[str]:
        return [key for key in self.texts if all(key in questions for questions in self.found.values())]

    def table(self, settings: Sequence[Setting], questions: Sequence[str]) -> Floats:
        """Return (questions, settings, 3): the means over runs of utility, belief and length."""
        means = [[np.mean(self.found[setting][key], axis=0) for setting in settings] for key in questions]
        return np.array(means, dtype=np.float64).round(_DIGITS)


def study_components(
    results: Iterable[TraceResult],
    by: Sequence[str] = ("pipeline",),
    *,
    baseline: Setting | str | None = None,
    margin: float = 0.05,
    count_tokens: Callable[[str], int] | None = None,
    seed: int = 0,
) -> Study:
    """Compare the settings under which traces of one question set were recorded.

    Args:
        results: of an evaluation with the measure ``utility``.
        by: the components that were varied: names in each trace's metadata, or in its pipeline's name as ``k=5``.
        baseline: what each setting is compared with, or its name, such as ``"k=5, reranker=tiny"``; None: the first, by its
            values.
        margin: by how much more than this a question must be served worse than by the baseline to count as hurt, in [0, 2];
            smaller changes are mostly the noise of sampling.
        count_tokens: measures a passage for the length of prompts; None: ``prompt_tokens`` of each trace's metadata where all
            traces have it, else words.
        seed: seed of the random generator.

    Raises:
        InvalidValueError: a margin outside [0, 2], or one text in place of a list of components.
        InputError: no trace names a component, or none was measured for utility.
        IncomparableError: fewer than two settings, no question that all of them share, or utilities of different kinds.
    """
    refuse_outside(0, 2, margin=margin)  # utilities lie in [-1, 1]
    refuse_one_text(by=by)
    measured = [(result.trace, result.utility) for result in results if result.utility is not None]
    if not measured:
        problem = "no trace was measured for utility; it needs references, and a receiver or recorded samples"
        raise InputError(problem)
    traces = [trace for trace, _ in measured]
    require_components(traces, by)
    notes = _comparable([utility for _, utility in measured])
    unit, length = _length(traces, count_tokens)
    trials = _Trials()
    for trace, utility in measured:
        trials.add(setting_of(trace, by), trace, utility, length(trace))
    settings, questions = sorted(trials.found, key=lambda setting: setting.order), trials.common_questions()
    _refuse_lone(settings, questions, by)
    first = _baseline(baseline, settings)
    table = trials.table(settings, questions)
    effects = _effects(settings, first, table[..., 0], by, seed)
    return Study(
        by=tuple(by),
        questions=len(questions),
        left_out=len(trials.texts) - len(questions),
        unit=unit,
        baseline=first,
        margin=margin,
        settings=_figures(
            settings, settings.index(first), table, [(key, trials.texts[key]) for key in questions], margin=margin, seed=seed
        ),
        effects=effects,
        notes=(*notes, *_untold(settings, first, by, effects)),
    )


def _length(traces: Sequence[Trace], count_tokens: Callable[[str], int] | None) -> tuple[LengthUnit, Callable[[Trace], float]]:
    if count_tokens is not None:
        return "tokens", lambda trace: float(sum(map(count_tokens, _prompt_texts(trace))))
    if all(isinstance(trace.metadata.get(_TOKENS), int) for trace in traces):
        return "tokens", lambda trace: float(trace.metadata[_TOKENS])
    return "words", lambda trace: float(sum(map(_words, _prompt_texts(trace))))


def _words(text: str) -> int:
    """Count a text's words; what stands in place of a redacted one says how many it had."""
    told = Placeholder.read(text)
    return told.words if told else len(words_of(text))


def _prompt_texts(trace: Trace) -> list[str]:
    passages, _ = trace.effective_prompt
    return [text for passage in passages or () for text in (passage.title, passage.text) if text]


def _comparable(utilities: Sequence[TraceUtility]) -> tuple[str, ...]:
    """Refuse utilities that do not measure the same, and note what else differs between them."""
    for what in ("references", "kind", "preset"):
        found = sorted({str(getattr(utility, what)) for utility in utilities})
        if len(found) > 1:
            message = f"The utilities differ in their {what} ({', '.join(found)}); measure all traces with the same."
            raise IncomparableError(message)
    receivers = sorted({utility.receiver for utility in utilities})
    beliefs = f"The utilities are of different receivers, each against its own belief: {', '.join(receivers)}."
    approximations = sorted({name for utility in utilities for name in utility.approximations})
    return tuple(
        note
        for note in (
            beliefs if len(receivers) > 1 else "",
            f"Entailment was approximated: {', '.join(approximations)}." if approximations else "",
            "The answers stood in for references: this is self-consistency, not correctness."
            if utilities[0].references == "answer"
            else "",
        )
        if note
    )


def _refuse_lone(settings: Sequence[Setting], questions: Sequence[str], by: Sequence[str]) -> None:
    if len(settings) < 2:  # noqa: PLR2004 - a comparison takes two
        message = f"All traces have the same {', '.join(by)} ({settings[0].name}); a study needs two settings at least."
        raise IncomparableError(message)
    if not questions:
        message = f"No question was measured under all {len(settings)} settings; record the same questions under each."
        raise IncomparableError(message)


def _baseline(wanted: Setting | str | None, settings: Sequence[Setting]) -> Setting:
    if wanted is None:
        return settings[0]
    name = wanted if isinstance(wanted, str) else wanted.name
    found = [setting for setting in settings if _squeeze_name(setting.name) == _squeeze_name(name)]
    if not found:
        message = f"No trace was measured under the baseline {name}. There are: {'; '.join(s.name for s in settings)}."
        raise IncomparableError(message)
    return found[0]


def _squeeze_name(name: str) -> str:
    """Shorten a setting's name to a key that can be typed."""
    return "".join(name.split()).replace("–", "-").casefold()


def _figures(
    settings: Sequence[Setting],
    first: int,
    table: Floats,
    questions: Sequence[tuple[str, str]],
    *,
    margin: float,
    seed: int,
) -> tuple[SettingFigures, ...]:
    worth, belief, length = (table[..., column] for column in range(3))
    utilities, beliefs, lengths = (mean_intervals(column) for column in (worth, belief, length))
    best, shares = on_frontier(worth.mean(axis=0), length.mean(axis=0)), frontier_shares(worth, length, seed=seed)
    others = [index for index in range(len(settings)) if index != first]
    differences = _correct_tests(compare_pairs(worth[:, [first] * len(others)], worth[:, others], seed=seed))
    against = dict(zip(others, differences, strict=True))
    return tuple(
        SettingFigures(
            setting=setting,
            utility=utilities[index],
            belief=beliefs[index],
            length=lengths[index],
            on_frontier=bool(best[index]),
            frontier_share=float(shares[index]),
            against_baseline=against.get(index),
            below_zero=int((worth[:, index] < 0).sum()),
            hurt=_hurt(worth[:, first], worth[:, index], questions, margin),
        )
        for index, setting in enumerate(settings)
    )


def _hurt(before: Floats, after: Floats, questions: Sequence[tuple[str, str]], margin: float) -> tuple[HurtQuestion, ...]:
    hurt = [
        HurtQuestion(text, key, float(old), float(new))
        for (key, text), old, new in zip(questions, before, after, strict=True)
        if old - new > margin + _ROUNDING
    ]
    return tuple(sorted(hurt, key=lambda each: each.change))


def _correct_tests(paired: Sequence[PairedDifference]) -> list[UtilityDifference]:
    """Correct one family of tests."""
    adjusted = holm([each.p_value for each in paired])
    return [UtilityDifference(each.interval, each.p_value, p_value) for each, p_value in zip(paired, adjusted, strict=True)]


def _effects(settings: Sequence[Setting], first: Setting, worth: Floats, by: Sequence[str], seed: int) -> tuple[Effect, ...]:
    """Compare every level of every component with the baseline's, over the pairs of settings that differ in nothing else.

    A level without such a pair has no measurable effect (`_untold` names it).
    """
    found: list[tuple[str, Level, Level, int]] = []
    sides: list[tuple[Floats, Floats]] = []
    for component in by if len(by) > 1 else ():
        reference = first.level(component)
        for level in _levels(settings, first, component):
            if pairs := _pairs(settings, component, reference, level):
                before, after = (worth[:, list(side)].mean(axis=1) for side in zip(*pairs, strict=True))
                found.append((component, reference, level, len(pairs)))
                sides.append((before, after))
    if not sides:
        return ()
    befores, afters = (np.column_stack(columns) for columns in zip(*sides, strict=True))
    differences = _correct_tests(compare_pairs(befores, afters, seed=seed))
    return tuple(Effect(*about, difference) for about, difference in zip(found, differences, strict=True))


def _levels(settings: Sequence[Setting], first: Setting, component: str) -> list[Level]:
    """List a component's levels but for the baseline's."""
    return sorted({setting.level(component) for setting in settings} - {first.level(component)}, key=order_of)


def _untold(settings: Sequence[Setting], first: Setting, by: Sequence[str], effects: Sequence[Effect]) -> list[str]:
    """Name the levels whose effect cannot be separated from that of other components."""
    told = {(effect.component, effect.level) for effect in effects}
    levels = [(component, level) for component in by if len(by) > 1 for level in _levels(settings, first, component)]
    return [
        f"The effect of {component}={format_level(level)} cannot be told: it is never all that differs from the baseline's "
        "value."
        for component, level in levels
        if (component, level) not in told
    ]


def _pairs(settings: Sequence[Setting], component: str, reference: Level, level: Level) -> list[tuple[int, int]]:
    """List the pairs of settings, by index, that differ in this component alone: at the reference, and at the level."""
    pairs = [*combinations(range(len(settings)), 2)]
    return [
        (before, after)
        for pair in pairs
        for before, after in (pair, pair[::-1])
        if settings[before].level(component) == reference
        and settings[after].level(component) == level
        and settings[before].without(component) == settings[after].without(component)
    ]
