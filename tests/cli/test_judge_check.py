from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.backends import Backend, ScoringItem
from rag_cover.hooks import hook
from rag_cover.judge_check import JudgeCheck, canary_verdicts
from rag_cover.plugin_manager import plugins
from rag_cover.testing import KeywordScorer

KNOWN = {(canary.given, canary.text): canary.expected == "covered" for canary in canary_verdicts(KeywordScorer())}


@dataclass(frozen=True)
class Able:
    """Knows the canaries, and of other texts the share of the question's words they hold."""

    threshold: float = 0.5
    fingerprint: str = "able"

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        words = KeywordScorer().correctness(items)
        known = [KNOWN.get((item.question, item.text)) for item in items]
        return np.array([word if each is None else each for word, each in zip(words, known, strict=True)], dtype=np.float32)


@dataclass(frozen=True)
class _Plugin:
    @hook
    def backends(self) -> list[Backend]:
        return [Backend("able", "passes the canaries", scorer=lambda _model: Able())]


@pytest.fixture(autouse=True)
def _able_judge() -> Iterator[None]:
    plugin = _Plugin()
    plugins().register(plugin, "able-judge")
    yield
    plugins().unregister(plugin)


@pytest.fixture
def labels(folder: Path) -> Path:
    """Write sixty labelled and twenty unlabelled rows; the judge is wrong on every sixth."""
    lines = ["question_id,sub_question,role,answer,covered"]
    for number in range(80):
        text = f"The sky {number} is blue" if number % 2 else "Grass grows"
        label = "" if number >= 60 else "yes" if (number % 2 == 1) != (number % 6 == 0) else "no"
        lines.append(f"q{number // 2},Is sky {number} blue?,{'core' if number % 4 else 'background'},{text},{label}")
    path = folder / "labels.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


JUDGE = ("--judge", "able")


def test_a_check_says_how_far_the_judge_can_be_trusted(command: Callable[..., Any], labels: Path) -> None:
    done = command("judge", "check", "--labels", labels, *JUDGE)

    assert (done.exit_code, done.stderr) == (0, "")
    assert "The judge agrees with 83% of 60 labels (95% interval 73–90)." in done.stdout
    assert "Canaries: 46 of 46 plain cases are judged rightly." in done.stdout
    assert "Cohen's kappa" in done.stdout
    assert "clearly worse than the judge's own" in " ".join(done.stdout.replace("│", " ").split())
    assert "60 of 80" in done.stdout
    assert "No interval for background, core: " not in done.stdout
    assert "No interval for background: 15 labels; an interval needs 50." in done.stdout


def test_json_is_one_document_that_can_be_read_back(command: Callable[..., Any], labels: Path) -> None:
    done = command("judge", "check", "--labels", labels, *JUDGE, "--json")

    check = JudgeCheck.from_dict(json.loads(done.stdout))
    assert check.judge == "able"
    assert check.reference_free is not None
    assert (check.reference_free.labelled, check.reference_free.unlabelled, check.reference_free.questions) == (60, 20, 30)


def test_figures_are_written_where_they_are_told(command: Callable[..., Any], labels: Path, folder: Path) -> None:
    done = command("judge", "check", "--labels", labels, *JUDGE, "--out", "check.json")

    assert "Figures: check.json" in done.stdout
    printed = command("judge", "check", "--labels", labels, *JUDGE, "--json").stdout
    assert json.loads((folder / "check.json").read_text(encoding="utf-8")) == json.loads(printed)


def test_more_rows_come_from_another_file(command: Callable[..., Any], labels: Path, folder: Path) -> None:
    rows = [{"sub_question": f"Is lake {number} deep?", "answer": "Lakes are wet"} for number in range(30)]
    (folder / "more.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    done = command("judge", "check", "--labels", labels, "--unlabelled", "more.jsonl", *JUDGE, "--json")

    assert json.loads(done.stdout)["reference_free"]["unlabelled"] == 50


def test_a_judge_that_fails_its_canaries_is_named_and_exits_with_1(command: Callable[..., Any], labels: Path) -> None:
    done = command("judge", "check", "--labels", labels, "--judge", "words")

    assert done.exit_code == 1
    assert "The judge fails: " in done.stdout
    assert done.stderr.startswith("Check failed: ")
    assert "plain cases of answering are judged wrongly" in done.stderr


def test_quiet_prints_only_what_failed(command: Callable[..., Any], labels: Path) -> None:
    able, words = (command("judge", "check", "--labels", labels, "--judge", name, "--quiet") for name in ("able", "words"))

    assert (able.exit_code, able.stdout, able.stderr) == (0, "", "")
    assert (words.stdout, words.exit_code) == ("", 1)


def test_labels_that_mean_the_opposite_are_told(command: Callable[..., Any], folder: Path) -> None:
    lines = ["question_id,sub_question,role,answer,covered"]
    for number in range(40):
        text, label = ("The sky is blue", "no") if number % 2 else ("Grass grows", "yes")
        lines.append(f"q{number},Is the sky blue?,core,{text},{label}")
    (folder / "exchanged.csv").write_text("\n".join(lines), encoding="utf-8")

    done = command("judge", "check", *JUDGE, "--labels", "exchanged.csv")

    flat = " ".join(done.stdout.replace("│", " ").split())
    assert "ROC-AUC 0.00 is below that of guessing, 0.5: are 0 and 1 exchanged in the labels?" in flat
    assert "--threshold" not in flat


def test_other_names_of_columns_are_told(command: Callable[..., Any], folder: Path) -> None:
    (folder / "urteile.csv").write_text("Frage;Antwort;Urteil\nIst es so?;Es ist so;ja\n", encoding="utf-8")
    named = ("--column", "question=Frage", "--column", "text=Antwort", "--column", "label=Urteil")

    done = command("judge", "check", "--labels", "urteile.csv", *named, *JUDGE)

    assert done.exit_code == 3
    assert "urteile.csv, line 2, at row 1, $.Urteil: the string 'ja' is no label; write 1 or 0" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "--labels"),
        (["--labels", "nowhere.csv"], 3, "there is no such file"),
        (["--labels", "labels.csv", "--unlabelled", "labels.csv"], 3, "this row has a label"),
        (["--labels", "labels.csv", "--judge", "wrods"], 2, "Did you mean 'words'?"),
        (["--labels", "labels.csv", "--column", "text"], 2, "is not FIELD=COLUMN"),
        (["--labels", "labels.csv", "--out", "no/such/folder.json"], 3, "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_told(command: Callable[..., Any], labels: Path, words: list[str], code: int, said: str) -> None:
    done = command("judge", "check", *words) if "--judge" in words else command("judge", "check", *words, *JUDGE)

    assert labels.exists()
    assert done.exit_code == code
    assert said in done.stderr


def test_the_command_has_a_summary_and_an_example(command: Callable[..., Any]) -> None:
    assert "judge" in command("--help").stdout
    assert "Compare a judge with your own labels" in command("judge", "--help").stdout
    assert "rag-cover judge check --labels labels.csv" in command("judge", "check", "--help").stdout
