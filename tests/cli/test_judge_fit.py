"""``rag-cover judge fit``: what it prints, keeps and refuses."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rag_cover.cli import app
from rag_cover.demo.labelled import read_labelled_answers
from rag_cover.registry import open_scorer
from rag_cover.stats.logistic import logits_of, probabilities

pytest.importorskip("rag_cover_embedded.judge")
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "APPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Write labels of the demo's answers by people who are stricter than the judge."""
    rows = [*read_labelled_answers("narrow"), *read_labelled_answers("forgetful")]
    logits = logits_of(open_scorer("embedded").correctness([row.item for row in rows]), edge=1e-6)
    rng, path = random.Random(2), tmp_path / "labels.jsonl"
    lines = [
        {"question_id": row.key, "question": row.user_question, "sub_question": row.question, "answer": row.text}
        | {"covered": int(rng.random() < chance)}
        for row, chance in zip(rows, probabilities(3.0 * logits - 1.6), strict=True)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def _run(*words: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["judge", "fit", *map(str, words)], env={"COLUMNS": "200"})
    return result.exit_code, result.output


def test_a_judge_is_kept_under_a_name_and_judges_from_then_on(labels: Path) -> None:
    code, said = _run("--labels", labels, "--name", "mine")

    assert code == 0
    assert "The judge is fitted to 296 labels of replies." in said
    assert "replies: log-loss" in said
    assert "use it with --judge embedded:mine" in said
    Path("answers.jsonl").write_text('{"question": "What is the capital of France?", "answer": "Paris."}\n', "utf-8")
    judged = CliRunner().invoke(app, ["evaluate", "answers.jsonl", "--judge", "embedded:mine", "--json"])
    assert judged.exit_code == 0
    shipped = CliRunner().invoke(app, ["evaluate", "answers.jsonl", "--json", "--no-store", "--no-report"])
    names = [json.loads(each.stdout)["summary"]["judge"] for each in (judged, shipped)]
    assert names[0] != names[1]


@pytest.mark.nightly
def test_one_that_is_there_is_refused_before_the_fit_and_replaced_with_force(labels: Path) -> None:
    _run("--labels", labels, "--out", "judge", "--quiet")

    refused, said = _run("--labels", labels, "--out", "judge")
    replaced, _ = _run("--labels", labels, "--out", "judge", "--force")

    assert (refused, replaced) == (3, 0)
    assert "exists already" in said


@pytest.mark.nightly
def test_random_labels_end_with_exit_code_1_and_the_reason(labels: Path) -> None:
    rng = random.Random(3)
    lines = [json.loads(line) | {"covered": int(rng.random() < 0.5)} for line in labels.read_text("utf-8").splitlines()]
    labels.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    code, said = _run("--labels", labels, "--name", "mine")
    as_json = _run("--labels", labels, "--json", "--quiet")

    assert code == as_json[0] == 1
    assert "Fit refused: reply: " in said
    assert not Path("config").exists()


@pytest.mark.parametrize(
    ("content", "words", "code", "problem"),
    [
        (None, [], 3, "labels.jsonl"),
        ("", [], 3, "the file holds no rows"),
        ("\x00\x01\x02", [], 3, "line 1"),
        ('{"question": "Why?", "text": "So.", "label": 1}\n', [], 1, "1 label; a fit needs 100"),
        ('{"question": "Why?", "text": "So.", "label": 1}\n', ["--name", "a/b"], 2, "is no name of a judge"),
        ('{"question": "Why?", "text": "So.", "label": 1}\n', ["--name", "cuda"], 2, "names a device, not a judge"),
        ('{"question": "Why?", "text": "So.", "label": 1}\n', ["--name", "a", "--out", "b"], 2, "leave --name or --out out"),
        ('{"question": "Why?", "text": "So.", "label": 1}\n', ["nowhere.sqlite"], 3, "nowhere.sqlite"),
        ('{"question": "Why?", "text": "So.", "label": 1}\n', ["--judge", "embedded:nobody"], 2, "no judge is called so"),
    ],
    ids=["missing", "empty", "binary", "one label", "bad name", "a device", "name and folder", "no store", "no such judge"],
)
def test_wrong_input_is_one_sentence(tmp_path: Path, content: str | None, words: list[str], code: int, problem: str) -> None:
    path = tmp_path / "labels.jsonl"
    if content is not None:
        path.write_text(content, encoding="utf-8")

    found, said = _run("--labels", path, *words)

    assert (found, problem in said.replace("\n", " ")) == (code, True), said
    assert "Traceback" not in said
