"""The shell of the GitHub action and of the GitLab job, run on a repository with real evaluations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_cover.cli.gate_outcome import MARKER

yaml = pytest.importorskip("yaml", reason="needs PyYAML")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="the steps are of bash")]

HEAT, GRANT = "A heat pump costs about 12,000 euros.", "The county pays a grant of 3,000 euros."


def _write(path: Path, answers: int) -> None:
    lines = [
        {
            "question": f"What does heat pump {each} cost, and who pays a part of it?",
            "sub_questions": [
                {"text": "What does a heat pump cost?", "role": "core"},
                {"text": "Who pays a grant for a heat pump?", "role": "core"},
            ],
            "steps": [{"passages": [HEAT, GRANT]}],
            "answer": f"{HEAT} {GRANT}" if each < answers else "I like trains.",
        }
        for each in range(10)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)  # noqa: S607  # whichever git there is
    _write(tmp_path / "main.jsonl", 10)
    _write(tmp_path / "same.jsonl", 10)
    _write(tmp_path / "worse.jsonl", 2)
    return tmp_path


@pytest.fixture
def shell(repository: Path) -> Callable[..., int]:
    tool = repository / "bin" / "rag-cover"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from rag_cover.cli import main; main()" "$@"\n')
    tool.chmod(0o755)

    def run(script: str, **variables: str) -> int:
        path = f"{tool.parent}{os.pathsep}{os.environ['PATH']}"
        outputs = {name: str(repository / name.lower()) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        environment = os.environ | {"PATH": path} | outputs | variables
        return subprocess.run(["bash", "-e", "-c", script], cwd=repository, env=environment, check=False).returncode  # noqa: S607

    return run


def test_the_action_fails_a_worse_change_and_leaves_comment_and_report(
    source_tree: Path, repository: Path, shell: Callable[..., int]
) -> None:
    (step,) = yaml.safe_load((source_tree / "action.yml").read_text())["runs"]["steps"]
    given = {"BASELINE": "main.jsonl", "OPTIONS": "", "FOLDER": "out"}

    assert shell(step["run"], CANDIDATE="same.jsonl", **given) == 0
    assert shell(step["run"], CANDIDATE="worse.jsonl", **given) == 1

    comment = (repository / "out/comment.md").read_text(encoding="utf-8")
    assert comment.startswith(f"{MARKER}\n### rag_cover: failed")
    assert "Cause: 8 more core sub-questions lost" in comment.replace("\\", "")
    assert (repository / "out/report.html").exists()
    assert (repository / "github_step_summary").read_text(encoding="utf-8").count(MARKER) == 2
    assert "comment=out/comment.md" in (repository / "github_output").read_text()


def test_options_of_the_action_may_stand_on_several_lines(
    source_tree: Path, repository: Path, shell: Callable[..., int]
) -> None:
    (step,) = yaml.safe_load((source_tree / "action.yml").read_text())["runs"]["steps"]
    options = "--fail-under core_coverage=0.01\n--fail-under core_coverage=1.0\n"
    (repository / "out").mkdir()
    (repository / "out/comment.md").write_text("of an earlier run")

    assert shell(step["run"], BASELINE="main.jsonl", CANDIDATE="worse.jsonl", OPTIONS=options, FOLDER="out") == 1
    assert "core_coverage=1" in (repository / "out/comment.md").read_text()
    assert shell(step["run"], BASELINE="main.jsonl", CANDIDATE="missing.jsonl", OPTIONS=options, FOLDER="out") == 3
    assert not (repository / "out/comment.md").exists()


def test_the_gitlab_job_does_the_same(source_tree: Path, repository: Path, shell: Callable[..., int]) -> None:
    job: dict[str, Any] = yaml.safe_load((source_tree / "ci-templates/rag-cover.gitlab-ci.yml").read_text())["rag-cover-gate"]
    variables = job["variables"] | {"BASELINE": "main.jsonl", "GATE_OPTIONS": "--fail-under core_coverage=0.9"}

    assert shell("\n".join(job["script"]), **variables | {"CANDIDATE": "worse.jsonl"}) == 1
    assert shell("\n".join(job["script"]), **variables | {"CANDIDATE": "same.jsonl"}) == 0
    assert (repository / job["artifacts"]["reports"]["junit"]).exists()
