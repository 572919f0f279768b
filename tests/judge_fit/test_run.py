"""The embedded judge is fitted to labels of real answers, kept under a name, and is another judge from then on."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag_cover.backends import fingerprint_of
from rag_cover.demo import trace_paths
from rag_cover.demo.labelled import read_labelled_answers
from rag_cover.errors import CorruptFileError, InvalidValueError, OutputExistsError
from rag_cover.evaluation import Evaluation, evaluate
from rag_cover.judge_fit import fit_judge
from rag_cover.labels import LabelledText
from rag_cover.questions import Passage
from rag_cover.registry import Models, open_scorer
from rag_cover.reports.text import judge_error_sentence
from rag_cover.stats.logistic import logits_of, probabilities
from rag_cover.stores import read_traces
from rag_cover.testing import KeywordScorer
from rag_cover.traces import RetrievalStep, Trace

pytest.importorskip("rag_cover_embedded.judge")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("judge fit")]


@pytest.fixture(scope="module")
def shifted() -> tuple[LabelledText, ...]:
    """Label the demo's answers as people of another mind: stricter than the judge, by its own log-odds and chance."""
    rows = [*read_labelled_answers("narrow"), *read_labelled_answers("forgetful")]
    logits = logits_of(open_scorer("embedded").correctness([row.item for row in rows]), edge=1e-6)
    chances, rng = probabilities(3.0 * logits - 1.6), random.Random(2)
    return tuple(replace(row, label=rng.random() < chance) for row, chance in zip(rows, chances, strict=True))


@pytest.fixture(autouse=True)
def own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("APPDATA", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.mark.nightly
def test_labels_of_a_shifted_domain_make_a_named_judge_that_agrees_better(shifted: Sequence[LabelledText]) -> None:
    fit = fit_judge(shifted, save_as="mine")

    assert fit.saved is not None
    assert fit.saved.name == "embedded:mine"
    assert fit.fitted["reply"].shift.labels == 296
    mine, shipped = open_scorer("embedded:mine"), open_scorer("embedded")
    items, labels = [row.item for row in shifted], np.array([row.label for row in shifted])
    agreed, before = (float(((judge.correctness(items) >= 0.5) == labels).mean()) for judge in (mine, shipped))
    assert agreed > before + 0.03


def test_a_fitted_judge_has_a_fingerprint_of_its_own_by_which_results_are_kept_apart(
    shifted: Sequence[LabelledText], tmp_path: Path
) -> None:
    fit = fit_judge(shifted, save_as="mine")
    trace, store = Trace(question="What is the capital of France?", answer="It is Paris."), tmp_path / "results.sqlite"

    first = evaluate([trace], measures=["coverage"], store=store)
    before = first.results[0].coverage
    again = evaluate([trace], measures=["coverage"], models=Models(judge="embedded:mine"), store=store, resume=True)

    assert fit.saved is not None
    assert again.judge == fit.saved.fingerprint == fingerprint_of(open_scorer("embedded:mine")) != first.judge
    assert Evaluation.open(store).judge == fit.saved.fingerprint
    assert again.shifts["reply"] == fit.fitted["reply"].shift
    after = again.results[0].coverage
    assert before is not None
    assert after is not None
    assert before != after


def test_the_intervals_of_a_fitted_judge_rest_on_its_labels(shifted: Sequence[LabelledText]) -> None:
    fit_judge(shifted, save_as="mine")
    traces = [Trace(question=f"What is the capital of {land}?", answer="It is Paris.") for land in ("France", "Norway", "Peru")]

    summary = evaluate(traces, measures=["coverage"], models=Models(judge="embedded:mine")).summary()

    assert re.search(r"fitted to other questions, it agrees with \d\d% of the 296 labels", judge_error_sentence(summary))


def test_what_was_not_fitted_stays_as_it_was(shifted: Sequence[LabelledText]) -> None:
    fit_judge(shifted, save_as="mine")
    mine, shipped = open_scorer("embedded:mine"), open_scorer("embedded")
    passages = [replace(row, user_question="").item for row in shifted[:20]]

    assert mine.correctness(passages).tolist() == shipped.correctness(passages).tolist()


def test_the_fit_is_of_the_probabilities_that_the_judge_gives(shifted: Sequence[LabelledText]) -> None:
    judge = open_scorer("embedded")
    items = [replace(row.item, user_question=row.item.user_question and row.question) for row in shifted[:40]]  # read once

    given = judge.correctness(items)
    made = [
        float(probabilities(np.dot(judge.score_weights[each.kind], each.values)))  # type: ignore[attr-defined]
        for each in judge.score_features(items)  # type: ignore[attr-defined]
    ]

    assert [p >= 0.5 for p in made] == [p >= 0.5 for p in given]
    assert np.mean(np.abs(np.array(made) - given) < 1e-3) > 0.9  # a text of several windows is read to the first that answers


@pytest.mark.nightly
def test_labels_at_random_are_refused_and_nothing_is_kept(shifted: Sequence[LabelledText], tmp_path: Path) -> None:
    rng = random.Random(3)

    fit = fit_judge([replace(row, label=rng.random() < 0.5) for row in shifted], save_as=tmp_path / "judge")

    assert fit.saved is None
    assert fit.refused_because is not None
    assert not (tmp_path / "judge").exists()
    assert fit.to_dict()["modes"][0]["refused_because"] in fit.refused_because


@pytest.mark.nightly
def test_a_judge_that_is_there_is_not_written_over_unless_that_is_said(shifted: Sequence[LabelledText], tmp_path: Path) -> None:
    first = fit_judge(shifted, save_as=tmp_path / "judge").saved
    assert first is not None

    with pytest.raises(OutputExistsError, match="exists already"):
        fit_judge(shifted, save_as=tmp_path / "judge")
    opened = fingerprint_of(open_scorer(f"embedded:{tmp_path / 'judge'}"))
    second = fit_judge(shifted[1:], save_as=tmp_path / "judge", overwrite=True).saved

    assert second is not None
    assert opened == first.fingerprint != second.fingerprint == fingerprint_of(open_scorer(f"embedded:{tmp_path / 'judge'}"))


@pytest.mark.nightly
def test_a_fitted_judge_can_be_fitted_again(shifted: Sequence[LabelledText]) -> None:
    fit_judge(shifted, save_as="mine")

    again = fit_judge(shifted, judge="embedded:mine")

    assert again.judge == fingerprint_of(open_scorer("embedded:mine"))
    assert again.refused_because is not None
    assert "not clearly better" in again.refused_because


@pytest.mark.nightly
def test_a_judge_fitted_to_another_network_says_to_fit_it_again(shifted: Sequence[LabelledText], tmp_path: Path) -> None:
    saved = fit_judge(shifted, save_as=tmp_path / "judge").saved
    assert saved is not None
    about = saved.folder / "judge.json"
    content = about.read_text(encoding="utf-8")
    shipped = open_scorer("embedded")._base / "judge.json"  # type: ignore[attr-defined]
    network = next(line for line in shipped.read_text(encoding="utf-8").splitlines() if "judge.onnx" in line).split('"')[3]
    about.write_text(content.replace(network, "0" * 64), encoding="utf-8")

    with pytest.raises(CorruptFileError, match="fit it again"):
        open_scorer(f"embedded:{saved.folder}")


def test_a_fitted_judge_whose_file_is_damaged_says_to_fit_it_again(tmp_path: Path) -> None:
    (tmp_path / "judge.json").write_bytes(b"\x00\x01")

    with pytest.raises(CorruptFileError, match="Fit the judge again"):
        open_scorer(f"embedded:{tmp_path}")


def test_results_tell_which_text_replies_to_what_and_which_labels_count(shifted: Sequence[LabelledText]) -> None:
    evaluation = evaluate(
        [trace for path in trace_paths() for trace in read_traces(path)][:1],
        measures=["coverage"],
        models=Models(judge=KeywordScorer()),
    )
    unplaced = [replace(row, user_question="", key=None) for row in shifted]

    fit = fit_judge(unplaced, results=evaluation.results)

    mode = fit.modes[0]
    assert (mode.mode, mode.questions) == ("reply", 1)
    assert 5 <= mode.labels <= 16
    assert any("the results do not hold" in note for note in fit.notes)


def test_labels_of_passages_are_fitted_apart_from_those_of_replies() -> None:
    passage = "Paris is the capital of France."
    trace = Trace(question="What is it?", steps=(RetrievalStep(passages=(Passage(passage),)),), answer="Paris.")
    evaluation = evaluate([trace], measures=["coverage"], models=Models(judge=KeywordScorer()))
    rows = [LabelledText("What is it?", text, label=True) for text in (passage, "Paris.", "Something else.")]

    fit = fit_judge(rows, results=evaluation.results)

    assert [(mode.mode, mode.labels) for mode in fit.modes] == [("passage", 1), ("reply", 1)]
    assert "100" in str(fit.refused_because)


def test_what_cannot_be_fitted_is_refused_in_words() -> None:
    with pytest.raises(InvalidValueError, match="cannot be fitted to labels"):
        fit_judge([LabelledText("Why?", "So.", label=True)], judge=KeywordScorer())
    with pytest.raises(InvalidValueError, match="no label can be used: 1 label goes by references"):
        fit_judge([LabelledText("Why?", "So.", label=True, references=("So.",))])
    with pytest.raises(InvalidValueError, match="no judge is called so. There are: mine|holds none"):
        open_scorer("embedded:nobody")
    with pytest.raises(InvalidValueError, match="is no name of a judge"):
        fit_judge([LabelledText("Why?", "So.", label=True)], save_as="../elsewhere")
