"""How far can the judge be trusted on your texts? It is asked about texts that people labelled, and held against them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rag_cover.backends import Scorer, fingerprint_of, reply_threshold_of
from rag_cover.errors import InvalidValueError
from rag_cover.importers import read_labels
from rag_cover.judge_check.assessment import assess, notes_on_labels
from rag_cover.judge_check.result import JudgeCheck
from rag_cover.judge_check.sanity_checks import canary_verdicts, explain_canary_failure
from rag_cover.labels import LabelledText
from rag_cover.measures import ModelKind
from rag_cover.model_calls import ask_probabilities
from rag_cover.registry import Models

__all__ = ["check_judge"]

_WITH_REFERENCES = 0.5  # the cut of a calibrated probability; what a judge fits is its reference-free one
_KINDS: tuple[ModelKind, ...] = ("scorer", "entailer")

_Rows = Iterable[LabelledText] | Path | str


def check_judge(
    labels: _Rows,
    *,
    judge: str | Scorer = "embedded",
    unlabelled: _Rows = (),
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
) -> JudgeCheck:
    """Compare a judge with people's labels and with pairs that any working judge gets right.

    Args:
        labels: labelled rows, or the path of a table of them (`read_labels`); those without a label count as unlabelled.
        judge: the name of a judge, or the judge.
        unlabelled: more rows without labels, of which the labelled ones are a random sample: they make shares covered surer.
        columns: where the tables have other names, such as ``{"text": "Antwort"}``.
        seed: seed of the random generator.

    Raises:
        InputError: a file that cannot be read; says the line and the field.
        InvalidValueError: no row has a label, or an unlabelled row has one.
        ModelFailedError: the judge returned no probabilities.
    """
    known = _rows(labels, columns, labelled=True)
    more, repeated = _without_known(_rows(unlabelled, columns, labelled=False), known)
    rows = (*known, *more)
    opened = Models(judge=judge).open(_KINDS)
    scorer = opened["scorer"]
    found = ask_probabilities(scorer, (row.item for row in rows))
    canaries = canary_verdicts(scorer, opened.get("entailer"))
    free, referred = ([row for row in rows if bool(row.references) is kind] for kind in (False, True))
    return JudgeCheck(
        judge=fingerprint_of(scorer),
        canaries=canaries,
        failed_because=explain_canary_failure(canaries),
        reference_free=assess(free, found, cut=_free_cut(scorer, free), seed=seed),
        with_references=assess(referred, found, cut=_WITH_REFERENCES, seed=seed),
        notes=(*_note_repeated(repeated), *notes_on_labels(rows, found)),
    )


def _free_cut(scorer: Scorer, rows: Sequence[LabelledText]) -> float:
    """Return the cut of rows without references: that for replies where all of them are replies."""
    return reply_threshold_of(scorer) if rows and all(row.user_question for row in rows) else scorer.threshold


def _rows(source: _Rows, columns: Mapping[str, str] | None, *, labelled: bool) -> tuple[LabelledText, ...]:
    if isinstance(source, Path | str):
        return read_labels(source, columns=columns, labelled=labelled)
    rows = tuple(source)
    if labelled and all(row.label is None for row in rows):
        message = "no row has a label; give some rows label=True or label=False"
        raise InvalidValueError(message)
    if not labelled and any(row.label is not None for row in rows):
        message = "an unlabelled row has a label; hand it over among the labels"
        raise InvalidValueError(message)
    return rows


def _without_known(rows: tuple[LabelledText, ...], known: tuple[LabelledText, ...]) -> tuple[tuple[LabelledText, ...], int]:
    """Leave out unlabelled rows that are labelled as well, and count them: a row counts once."""
    labelled = {(row.item, row.cluster) for row in known if row.label is not None and not row.chosen}
    kept = tuple(row for row in rows if (row.item, row.cluster) not in labelled)
    return kept, len(rows) - len(kept)


def _note_repeated(count: int) -> tuple[str, ...]:
    rows = "1 unlabelled row is" if count == 1 else f"{count:,} unlabelled rows are"
    return (f"{rows} among the labelled ones too, and counted there alone",) if count else ()
