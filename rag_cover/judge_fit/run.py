"""A judge fitted to a file of labels: which labels count, what the judge reads of their texts, and where the fit is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Mode, Scorer, ScoringItem, fingerprint_of, reply_threshold_of
from rag_cover.errors import InvalidValueError
from rag_cover.importers import read_labels
from rag_cover.judge_check import canary_verdicts, explain_canary_failure
from rag_cover.judge_fit.fitting import LabelledFeatures, fit_mode
from rag_cover.judge_fit.result import JudgeFit, ModeFit
from rag_cover.labels import LabelledText
from rag_cover.measures import TraceResult
from rag_cover.questions import plain_query
from rag_cover.registry import Models
from rag_cover.score_fits import FittableScorer, FittedMode, ScoreFeatures
from rag_cover.stats.logistic import probabilities

__all__ = ["fit_judge", "open_fittable"]

_MODES: tuple[Mode, ...] = ("passage", "reply")


def fit_judge(
    labels: Iterable[LabelledText] | Path | str,
    *,
    judge: str | Scorer = "embedded",
    results: Iterable[TraceResult] | None = None,
    columns: Mapping[str, str] | None = None,
    save_as: str | Path | None = None,
    overwrite: bool = False,
    seed: int = 0,
) -> JudgeFit:
    """Fit a judge to people's labels of texts without references, passages and replies apart; nothing is trained.

    Args:
        labels: labelled rows, or the path of a table of them (`read_labels`).
        judge: the judge to begin with, or its name.
        results: those of an evaluation (`Evaluation.results`): labels of its answers and passages alone count then, and it
            tells which text replies to which question.
        columns: where the table has other names, such as ``{"text": "Antwort"}``.
        save_as: the name under which the judge is kept (``embedded:NAME``), or its folder as a Path, where some mode's fit is
            clearly better; None: it is not kept.
        overwrite: write over a judge of that name.
        seed: seed of how questions are dealt.

    Raises:
        InputError: a file that cannot be read; says the line and the field.
        InvalidValueError: the judge cannot be fitted, or no row has a label.
        StoreError: the judge cannot be kept there, or another is.
    """
    scorer = open_fittable(judge)
    if save_as is not None:
        scorer.fitted_folder(save_as)  # a wrong name is refused before anything is judged
    rows = read_labels(labels, columns=columns) if isinstance(labels, Path | str) else tuple(labels)
    chosen, notes = _choose_rows(rows, None if results is None else _Judged.of(results))
    features = scorer.score_features([row.item for row in chosen])
    unread = sum(each is None for each in features)
    notes += _note(
        unread,
        "passage is about something else by the judge's first stage, and was left out",
        "passages are about something else by the judge's first stage, and were left out",
    )
    modes = tuple(
        _refuse_broken(fit_mode(mode, found, scorer.score_weights, cut=_cut_of(scorer, mode), seed=seed), scorer)
        for mode in _MODES
        if (found := list(_of_mode(mode, chosen, features)))
    )
    if not modes:
        message = f"no label can be used: {'; '.join(notes) or 'there are none'}"
        raise InvalidValueError(message)
    fit = JudgeFit(fingerprint_of(scorer), modes, tuple(notes))
    if save_as is None or not fit.fitted:
        return fit
    return replace(fit, saved=scorer.save_fitted(save_as, fit.fitted, overwrite=overwrite))


def open_fittable(judge: str | Scorer) -> _Fittable:
    """Open a judge that can be fitted.

    Raises:
        InvalidValueError: this one cannot.
    """
    scorer = Models(judge=judge).open(["scorer"])["scorer"]
    if not isinstance(scorer, FittableScorer):
        name = judge if isinstance(judge, str) else type(judge).__name__
        message = f"the judge {name!r} cannot be fitted to labels: its probabilities are its own; --judge embedded can"
        raise InvalidValueError(message)
    return scorer  # type: ignore[return-value]  # opened as a scorer


class _Fittable(FittableScorer, Scorer, Protocol):
    """A scorer that can be fitted."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """What an evaluation judged: the user's question and its key, by sub-question and answer, and by passage."""

    answers: Mapping[tuple[str, str], tuple[str, str]]
    passages: Mapping[str, str]

    @classmethod
    def of(cls, results: Iterable[TraceResult]) -> _Judged:
        answers: dict[tuple[str, str], tuple[str, str]] = {}
        passages: dict[str, str] = {}
        for result in results:
            asked, trace = result.trace.question, result.trace
            key = asked.id or asked.text
            texts = [each.text for each in result.coverage.sub_questions] if result.coverage else [asked.text]
            for text in texts if trace.answer else ():
                answers[plain_query(text), plain_query(trace.answer or "")] = asked.text, key
            for passage in trace.chunks:
                passages.setdefault(plain_query(passage.text), key)
        return cls(answers, passages)

    def place(self, row: LabelledText) -> LabelledText | None:
        """Return a label with the question that its text replies to, or whose passage it is; None where it was not judged."""
        asked, text = plain_query(row.question), plain_query(row.text)
        if (found := self.answers.get((asked, text))) is not None:
            return replace(row, user_question=found[0], key=row.key or found[1])
        if (key := self.passages.get(text)) is not None and not row.user_question:
            return replace(row, key=row.key or key)
        return None


def _choose_rows(rows: Sequence[LabelledText], judged: _Judged | None) -> tuple[list[LabelledText], list[str]]:
    """Choose the labels that count, and say how many do not."""
    labelled = [row for row in rows if row.label is not None and not row.references]
    referred = sum(bool(row.references) and row.label is not None for row in rows)
    notes = _note(referred, "label goes by references, and was left alone", "labels go by references, and were left alone")
    if judged is not None:
        placed = [judged.place(row) for row in labelled]
        notes += _note(
            sum(row is None for row in placed),
            "label is of a text that the results do not hold",
            "labels are of texts that the results do not hold",
        )
        labelled = [row for row in placed if row is not None]
    both = Counter(item for item, _ in {(row.item, row.label) for row in labelled})
    notes += _note(sum(count > 1 for count in both.values()), "text is labelled both ways", "texts are labelled both ways")
    return labelled, notes


def _note(count: int, one: str, several: str) -> list[str]:
    """Say how many there are of something that is left out; nothing where there are none.

    >>> _note(2, "label is old", "labels are old"), _note(0, "label is old", "labels are old")
    (['2 labels are old'], [])
    """
    return [f"{count:,} {one if count == 1 else several}"] if count else []


def _of_mode(mode: Mode, rows: Sequence[LabelledText], features: Sequence[ScoreFeatures | None]) -> Iterator[LabelledFeatures]:
    for row, found in zip(rows, features, strict=True):
        if found is not None and bool(row.user_question) is (mode == "reply"):
            yield LabelledFeatures(found, bool(row.label), row.cluster)


@dataclass(frozen=True, slots=True)
class _FittedScorer:
    """The judge as it would be with one mode fitted, without references."""

    scorer: _Fittable
    mode: Mode
    fitted: FittedMode

    @property
    def threshold(self) -> float:
        return self.fitted.cut if self.mode == "passage" else self.scorer.threshold

    @property
    def reply_threshold(self) -> float:
        return self.fitted.cut if self.mode == "reply" else reply_threshold_of(self.scorer)

    @property
    def fingerprint(self) -> str:
        return f"{fingerprint_of(self.scorer)}:fitted"

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        found = self.scorer.correctness(items)
        for row, (item, features) in enumerate(zip(items, self.scorer.score_features(items), strict=True)):
            is_mine = bool(item.user_question) is (self.mode == "reply")
            if features is not None and is_mine and features.kind in self.fitted.weights:
                found[row] = probabilities(np.dot(self.fitted.weights[features.kind], features.values))
        return found


def _refuse_broken(fit: ModeFit, scorer: _Fittable) -> ModeFit:
    """Refuse a fit by which the judge gets plain cases wrong that it gets right as it is: texts unlike the labelled ones."""
    if fit.fitted is None or explain_canary_failure(canary_verdicts(scorer)) is not None:
        return fit
    problem = explain_canary_failure(canary_verdicts(_FittedScorer(scorer, fit.mode, fit.fitted)))
    if problem is None:
        return fit
    reason = (
        f"fitted, the judge would get texts unlike the labelled ones wrong: {problem}; label texts of all kinds and lengths"
    )
    return replace(fit, fitted=None, refused_because=reason)


def _cut_of(scorer: Scorer, mode: Mode) -> float:
    return reply_threshold_of(scorer) if mode == "reply" else scorer.threshold
