"""What the page shows, as JSON data: a verdict's texts cut to what fits one glance, and the findings in sentences.

Texts come from outside. They are sent as text and put into the page as text; characters that would hide or reorder something
are shown as symbols (`rag_cover.reports.sanitise.visible`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from rag_cover.backends import Span
from rag_cover.labelling.agreement import AnnotatorAgreement, AnnotatorDisagreement
from rag_cover.labelling.findings import HALF_WIDTH, LEAST_TO_PLAN, Findings
from rag_cover.labelling.items import LabelItem, find_fragment
from rag_cover.labelling.session import LabelSession
from rag_cover.questions import Role, plain_query
from rag_cover.reports.sanitise import visible
from rag_cover.reports.text import SHARE, format_count, interval_label, percent
from rag_cover.stats.prediction_powered import LEAST_LABELS, LEAST_QUESTIONS
from rag_cover.stores.labels import Label

__all__ = ["agreement_view", "disagreement_view", "findings_sentences", "item_view", "progress_view"]

_QUESTION_WORDS = 16
_TEXT_WORDS = 30
_AROUND = 4  # words shown on each side of a fragment, so that it can be understood
_WORD = re.compile(r"\S+")
_LONGEST = 100_000  # characters of a text that a page is sent


def item_view(item: LabelItem) -> dict[str, Any]:
    """Gather what the page shows of a verdict; nothing tells what the judge said, which would lead the annotator."""
    question = _shorten(item.question.text, _QUESTION_WORDS)
    is_same = plain_query(item.question.text) == plain_query(item.facet)
    return {
        "key": item.key,
        "question": [] if is_same else question,
        "facet": visible(item.facet),
        "role": item.role or "",
        "roles": _roles(item),
        "is_nugget": item.is_nugget,
        "kind": item.kind,
        "title": visible(item.title or ""),
        "parts": _parts(item),
    }


def progress_view(session: LabelSession) -> dict[str, Any]:
    """Gather what the page shows of how far an annotator is."""
    labels, random, skipped = session.counts()
    said = f"{format_count(labels, 'label')}, {random:,} at random"
    return {
        "labels": labels,
        "random": random,
        "text": f"{said}, {skipped} skipped" if skipped else said,
        "annotator": visible(session.annotator),
        "can_undo": session.can_undo,
        "corrections": len(session.corrections),
    }


def findings_sentences(findings: Findings) -> list[str]:
    """Say what the labels tell so far, one sentence for each finding."""
    return [*_headline(findings), *_accuracy(findings), *_plan(findings)]


def agreement_view(each: AnnotatorAgreement) -> dict[str, Any]:
    """Gather what the page shows of two annotators."""
    kappa = "undefined" if each.kappa is None else f"{each.kappa.estimate:.2f}"
    bounds = (each.kappa.lower, each.kappa.upper) if each.kappa else (None, None)
    between = "undefined" if bounds[0] is None or bounds[1] is None else f"{bounds[0]:.2f} to {bounds[1]:.2f}"
    return {
        "annotators": f"{visible(each.first)} and {visible(each.second)}",
        "labels": each.labels,
        "agreed": "–" if each.agreed is None else percent(each.agreed.estimate),
        "kappa": kappa,
        "interval": between,
    }


def disagreement_view(each: AnnotatorDisagreement) -> dict[str, Any]:
    """Gather what the page shows of a disagreement."""
    said = [{"annotator": visible(name), "label": _grade(label)} for name, label in sorted(each.said.items())]
    return item_view(each.item) | {"said": said, "settled": _grade(each.settled) if each.settled else ""}


def _grade(label: Label) -> str:
    return "partly" if label.partly else "yes" if label.label else "no"


def _roles(item: LabelItem) -> list[dict[str, str]]:
    if item.is_nugget:
        return [{"value": Role.CORE, "label": "vital"}, {"value": Role.BACKGROUND, "label": "okay"}]
    return [{"value": role, "label": str(role)} for role in Role]


def _shorten(text: str, words: int) -> list[dict[str, Any]]:
    found = [*_WORD.finditer(text)]
    if len(found) <= words:
        return [_part(text)]
    end = found[words - 1].end()
    return [_part(text[:end]), _part(text[end:_LONGEST], hidden=True)]


def _parts(item: LabelItem) -> list[dict[str, Any]]:
    """Cut a text into what is shown and what is folded, the judge's fragment marked."""
    text, fragment = item.text[:_LONGEST], find_fragment(item)
    fragment = Span(0, 0) if fragment is None or fragment.end > len(text) else fragment
    window = _window(text, fragment)
    edges = sorted({0, window.start, fragment.start, fragment.end, window.end, len(text)})
    return [
        _part(
            text[start:end],
            hidden=not window.start <= start < window.end,
            mark=fragment.start <= start < fragment.end,
        )
        for start, end in pairwise(edges)
        if text[start:end].strip() or window.start <= start < window.end
    ]


def _window(text: str, fragment: Span) -> Span:
    """Choose what is shown: the fragment, cut where it is long, and some words around it."""
    words = [*_WORD.finditer(text)]
    if len(words) <= _TEXT_WORDS + _AROUND:
        return Span(0, len(text))
    first = next((place for place, word in enumerate(words) if word.end() > fragment.start), 0)
    last = next((place for place, word in enumerate(words) if word.end() >= fragment.end), len(words) - 1)
    inside = min(last - first + 1, _TEXT_WORDS)
    before = min(_AROUND, first, max(0, _TEXT_WORDS - inside))
    start = first - before
    end = min(len(words), max(first + inside, start + _TEXT_WORDS))
    return Span(words[start].start(), words[end - 1].end())


def _part(text: str, *, hidden: bool = False, mark: bool = False) -> dict[str, Any]:
    return {"text": visible(text), "hidden": hidden, "mark": mark}


def _headline(findings: Findings) -> Iterable[str]:
    if findings.judged is None:
        yield "No answer has a core sub-question, so that there is no headline to correct."
        return
    judged = f"the judge alone says {percent(findings.judged)}"
    if findings.headline is None:
        yield f"Nothing is known of this judge’s errors yet: {judged} of core sub-questions are answered."
        return
    people, sure = percent(findings.headline.estimate), interval_label(findings.headline, SHARE)
    yield f"People would find {people} of core sub-questions answered ({sure}); {judged}."
    if not findings.rests_on_labels:
        whose = "other sets" if findings.has_other_sets else "few labels"
        yield (
            f"This estimate takes the judge’s errors from {whose}. From {LEAST_LABELS} random labels of "
            f"{LEAST_QUESTIONS} questions on, it takes them from your labels."
        )


def _accuracy(findings: Findings) -> Iterable[str]:
    if findings.accuracy is not None:
        share, sure = percent(findings.accuracy.estimate), interval_label(findings.accuracy, SHARE)
        yield f"The judge agrees with {share} of {format_count(findings.random, 'random label')} ({sure})."
    if findings.chosen:
        yield (
            f"Of {format_count(findings.chosen, 'label')} of verdicts that were chosen as hard ones, the judge agrees with "
            f"{findings.chosen_agreed}. These labels are not a random sample and change no share."
        )


def _plan(findings: Findings) -> Iterable[str]:
    points = f"± {100 * HALF_WIDTH:.0f} points"
    if findings.random < LEAST_TO_PLAN:
        yield f"From {LEAST_TO_PLAN} random labels on, this page estimates how many labels you need for {points}."
    elif findings.reachable is not None:
        yield (
            f"{points} are out of reach: with labels of all {findings.population:,} core verdicts, the interval is about ± "
            f"{100 * findings.reachable:.0f} points. With more questions, it becomes narrower."
        )
    elif findings.needed is not None and (more := findings.needed - findings.random) > 0:
        yield f"About {format_count(more, 'more random label')} make the interval {points}."
    else:
        yield f"The labels at hand are enough for {points}."
