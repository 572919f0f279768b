"""Answers compared over the wire: the command asks in both orders, tells what it cost, and asks nothing twice."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rag_cover.cli import app
from rag_cover.evaluation import evaluate
from rag_cover.questions import Question
from rag_cover.registry import Models
from rag_cover.testing import KeywordScorer
from rag_cover.traces import Trace

MODEL = "openai:small"


def trace(number: int, pipeline: str, answer: str) -> Trace:
    return Trace(question=Question(f"Why is sky {number} blue?"), answer=answer, pipeline=pipeline)


@pytest.fixture
def stores(server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Evaluate 6 plain answers and 6 broad ones, of which the last says the same."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    plain = [trace(number, "plain", f"Sky {number} is blue.") for number in range(6)]
    broad = [trace(number, "broad", f"Sky {number} is blue, since air scatters light.") for number in range(5)]
    models = Models(judge=KeywordScorer())
    evaluate(plain, models=models, measures=["coverage"], store=tmp_path / "plain.sqlite")
    broad.append(trace(5, "broad", "Sky  5 is blue.\n"))
    evaluate(broad, models=models, measures=["coverage"], store=tmp_path / "broad.sqlite")
    return "plain.sqlite", "broad.sqlite"


def run(*words: str) -> Any:
    options = ("--pairwise", "--generator", MODEL)
    result = CliRunner().invoke(app, ["compare", *words, *options])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def the_longer(body: dict[str, Any]) -> str:
    first, second = re.findall(r"<answer number=\"\d\">\n(.*?)\n</answer>", body["messages"][1]["content"], re.DOTALL)
    return json.dumps({"reason": "It says why.", "better": "1" if len(first) > len(second) else "2"})


def the_first(_: dict[str, Any]) -> str:
    return '{"reason": "It comes first.", "better": "1"}'


def test_a_model_judges_in_both_orders_and_what_it_cost_is_shown(server: Any, stores: tuple[str, str], tmp_path: Path) -> None:
    server.reply = the_longer

    done = run(*stores, "--report", "page.html")

    assert done.exit_code == 0
    assert "broad wins 92% against plain (95% interval" in done.stdout
    assert "Judged by openai:small, in both orders." in done.stdout
    assert "the verdict changed with the order in 0% of 5 pairs" in done.stdout
    assert "1 pair of identical answers counted as a tie without asking." in done.stdout
    assert re.search(r"openai:small\s+compare\s+10 ", done.stdout)
    assert "broad" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_what_was_asked_once_is_kept_whichever_file_comes_first(server: Any, stores: tuple[str, str]) -> None:
    server.reply = the_longer
    first = json.loads(run(*stores, "--json").stdout)
    asked = len(server.requests)

    again = json.loads(run(*stores[::-1], "--json").stdout)
    cached = len(server.requests) - asked
    run(*stores, "--no-cache", "--quiet")

    assert (asked, cached, len(server.requests)) == (10, 0, 20)
    assert first["win_rates"][0]["losses"] == again["win_rates"][0]["wins"] == 5
    assert again["spending"]["usage"][0]["cache_hits"] == 10
    assert {reason for each in first["verdicts"] for reason in each["reasons"]} == {"It says why."}


def test_a_judge_that_takes_what_comes_first_is_caught(server: Any, stores: tuple[str, str]) -> None:
    server.reply = the_first

    shown = run(*stores).stdout
    document = json.loads(run(*stores, "--json").stdout)

    told = "The judge favours what is shown first; both orders were asked, so that no side gains by it."
    assert told in " ".join(shown.split())
    assert document["position_bias"]["changed"]["estimate"] == document["position_bias"]["first_won"]["estimate"] == 1
    assert document["win_rates"][0]["rate"]["estimate"] == 0.5


def test_pairs_that_failed_are_counted_and_no_ties(server: Any, stores: tuple[str, str], fault: Callable[..., Any]) -> None:
    server.reply = the_longer
    server.fault_of = lambda body: fault(status=404, message="No such model.") if "sky 3 " in str(body["messages"]) else None

    shown = run(*stores).stdout
    document = json.loads(run(*stores, "--json").stdout)

    (rate,) = document["win_rates"]
    assert (rate["losses"], rate["ties"], rate["identical"], rate["failed"]) == (4, 1, 1, 1)
    assert "1 pair without a verdict: not found: " in shown
    assert [each["failed"] for each in document["unjudged"]] == [True]
