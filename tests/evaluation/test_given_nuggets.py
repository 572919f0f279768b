"""Evaluations on nuggets that are given for the run: whom they go before, what is missing, and what results depend on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.backends import CalibrationShift
from rag_cover.decomposition.given_nuggets import GivenNuggets
from rag_cover.errors import InputError, InvalidValueError
from rag_cover.evaluation import Evaluation, evaluate
from rag_cover.nuggets import Nugget
from rag_cover.questions import Question, SubQuestion
from rag_cover.redaction import Redaction
from rag_cover.registry import Models
from rag_cover.stores.nugget_files import QuestionNuggets
from rag_cover.testing import KeywordEntailer, KeywordScorer
from rag_cover.traces import Trace

SCATTERS, GRASS = "Air scatters short waves.", "Grass is green."


@dataclass(frozen=True)
class EntailingScorer(KeywordScorer):
    entailer: KeywordEntailer = field(default_factory=KeywordEntailer)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return self.entailer.entail(pairs)


SKY = Trace(
    question=Question("Why is the sky blue?", id="sky"), answer=SCATTERS, sub_questions=(SubQuestion("Why?", role="core"),)
)
SEA = Trace(question=Question("Why is the sea blue?"), answer=GRASS)
OWN = Trace(question=Question("Why is grass green?"), answer=GRASS, nuggets=(Nugget(GRASS, importance="vital"),))


def nugget_file(folder: Path, *rows: object) -> Path:
    path = folder / "nuggets.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def measured(traces: Sequence[Trace], nuggets: object, **options: object) -> Evaluation:
    return evaluate(traces, measures=["coverage"], models=Models(judge=EntailingScorer()), nuggets=nuggets, **options)  # type: ignore[arg-type]


def test_given_nuggets_go_before_the_sub_questions_and_the_nuggets_of_traces(tmp_path: Path) -> None:
    path = nugget_file(
        tmp_path,
        {"query": "Another wording", "qid": "sky", "nuggets": [{"text": SCATTERS, "importance": "vital"}]},
        {"question": "why is grass  GREEN?", "nuggets": [{"text": "Leaves hold chlorophyll.", "importance": "vital"}]},
    )

    sky, grass = measured([SKY, OWN], path).results

    assert sky.coverage is not None
    assert grass.coverage is not None
    assert [each.text for each in sky.coverage.sub_questions] == [SCATTERS]
    assert [each.text for each in grass.coverage.sub_questions] == ["Leaves hold chlorophyll."]
    assert (sky.coverage.core_coverage, grass.coverage.core_coverage) == (1.0, 0.0)


def test_a_question_without_given_nuggets_keeps_those_of_its_trace_and_fails_without_any() -> None:
    sky, grass, sea = measured([SKY, OWN, SEA], {"Something else": [SCATTERS]}).results

    assert grass.coverage is not None
    assert [each.text for each in grass.coverage.sub_questions] == [GRASS]
    assert [result.failures["coverage"].kind for result in (sky, sea)] == ["no nuggets", "no nuggets"]


def test_nuggets_are_given_by_text_or_by_id_and_as_texts() -> None:
    sky, sea = measured([SKY, SEA], {"sky": [Nugget(SCATTERS, importance="vital")], "Why is the sea blue?": [GRASS]}).results

    assert sky.coverage is not None
    assert sea.coverage is not None
    assert sky.coverage.core_coverage == 1.0
    assert sea.coverage.sub_questions[0].role is None


def test_other_nuggets_are_measured_again_and_the_same_ones_are_not(tmp_path: Path) -> None:
    given = {"sky": [Nugget(SCATTERS, importance="vital")]}
    store = tmp_path / "run.sqlite"
    measured([SKY], given, store=store)
    judge = EntailingScorer()

    def resume(nuggets: dict[str, list[Nugget]]) -> int:
        evaluate([SKY], measures=["coverage"], models=Models(judge=judge), nuggets=nuggets, store=store, resume=True)
        return judge.entailer.asked.calls

    assert resume(given) == 0
    assert resume({"sky": [Nugget(GRASS, importance="vital")]}) > 0


def test_redacted_results_hold_no_word_of_a_nugget(tmp_path: Path) -> None:
    asked = Nugget("Leaves are bright.", importance="vital", question="Which leaves are bright?")
    measured(
        [SKY, OWN],
        {"sky": [Nugget(SCATTERS, importance="vital"), asked]},
        store=tmp_path / "run.sqlite",
        redact=Redaction(b"k" * 32),
    )

    kept = (tmp_path / "run.sqlite").read_bytes()
    assert not [word for word in (b"scatters", b"bright", b"Grass") if word in kept]


def test_a_result_on_nuggets_survives_its_store(tmp_path: Path) -> None:
    evaluation = measured(
        [SKY], {"sky": [Nugget(SCATTERS, importance="vital", question="Why?")]}, store=tmp_path / "run.sqlite"
    )

    assert Evaluation.open(tmp_path / "run.sqlite").results[0].coverage == evaluation.results[0].coverage


def test_two_lists_for_one_question_are_refused() -> None:
    lists = [
        QuestionNuggets(question=text, nuggets=(Nugget(SCATTERS), *more)) for text, more in (("Why?", ()), ("why?", ("x",)))
    ]

    with pytest.raises(InvalidValueError, match="'why\\?' has two different lists of nuggets"):
        GivenNuggets.of(lists)


def test_a_bad_file_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    path = nugget_file(tmp_path, {"query": "Why?", "nuggets": [{"text": "x", "importance": "core"}]})

    with pytest.raises(InputError, match=r"nuggets.jsonl, line 1, at \$.nuggets\[0\].importance: expected 'vital' or 'okay'"):
        measured([SKY], str(path), store=tmp_path / "run.sqlite")
    assert not (tmp_path / "run.sqlite").exists()


def test_nuggets_that_are_no_file_and_no_mapping_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="a mapping of questions to nuggets"):
        measured([SKY], ["x"])


class ShiftedScorer(EntailingScorer):
    """A judge whose errors on labelled sets of questions are known."""

    calibration_shifts = {"reply": CalibrationShift(shift=0.0, spread=0.5, sets=9, labels=1000, agreed=800)}  # noqa: RUF012


def test_a_note_says_that_the_judge_s_errors_on_statements_are_not_known() -> None:
    def notes_of(judge: EntailingScorer, trace: Trace) -> tuple[str, ...]:
        return evaluate([trace], measures=["coverage"], models=Models(judge=judge)).summary().notes

    told = [
        any("nuggets that are statements" in note for note in notes_of(judge, trace))
        for judge, trace in ((ShiftedScorer(), OWN), (ShiftedScorer(), SKY), (EntailingScorer(), OWN))
    ]

    assert told == [True, False, False]
