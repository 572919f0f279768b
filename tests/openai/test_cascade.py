"""A cascade whose model is behind a server: budgets hold, runs are resumed, failures are counted, nothing is asked unnamed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rag_cover.backends import CertainCuts, ScoringItem
from rag_cover.cascade import CascadeJudge, CascadeSettings
from rag_cover.cascade.judge import FAILED_CALLS
from rag_cover.cli import app
from rag_cover.errors import BackendNotFoundError, InvalidValueError
from rag_cover.evaluation import Evaluation, Progress, evaluate
from rag_cover.evaluation.files import evaluate_files
from rag_cover.llm.usage import Price
from rag_cover.questions import Passage, Question, Role, SubQuestion
from rag_cover.recording import Recording
from rag_cover.registry import Models, open_scorer
from rag_cover.reports import write_report
from rag_cover.reports.text import cascade_sentence
from rag_cover.stores import write_traces
from rag_cover.testing import ScriptedScorer
from rag_cover.traces import RetrievalStep, Trace

MODEL = "openai:small"
CUTS: CertainCuts = {"passage": (0.2, 0.8), "reply": (0.2, 0.8)}


class DoubtfulScorer(ScriptedScorer):
    """Is unsure of what holds a number that 3 divides."""

    def correctness(self, items: Sequence[ScoringItem]) -> Any:
        self.asked.count(len(items))
        return ScriptedScorer({(item.question, item.text): _doubt(item.text) for item in items}).correctness(items)


def _doubt(text: str) -> float:
    number = int(re.findall(r"\d+", text)[0])
    return 0.3 + number / 1_000 if number % 3 == 0 else 0.9


def reply(body: dict[str, Any]) -> str:
    """Find nothing answered."""
    numbers = re.findall(r"<question number=\"(\d+)\">", body["messages"][1]["content"])
    return json.dumps({"verdicts": [{"question": int(number), "answered": False, "probability": 0.1} for number in numbers]})


def trace(number: int) -> Trace:
    return Trace(
        question=Question(f"What colour is sky {number}?"),
        steps=(RetrievalStep(query="sky", passages=(Passage(f"Sky {number} is blue."), Passage(f"Sky {number} is far."))),),
        answer=f"Sky {number} is blue today.",
        sub_questions=(SubQuestion("Is it blue?", role=Role.CORE), SubQuestion("Is it far?", role=Role.BACKGROUND)),
    )


TRACES = [trace(number) for number in range(60)]  # 20 unsure of: 60 texts of 120 verdicts


@pytest.fixture
def model(server: Any, options: dict[str, Any]) -> Any:
    server.reply = reply
    return open_scorer(MODEL, **options)


def judged_by(model: Any, **settings: Any) -> Models:
    return Models(judge=CascadeJudge(DoubtfulScorer(certain=CUTS), model, CascadeSettings(**settings)))


def measure(models: Models, traces: Sequence[Trace] = TRACES, **options: Any) -> Evaluation:
    return evaluate(traces, measures=["coverage"], models=models, **options)


def asked_answers(server: Any) -> Counter[str]:
    return Counter(re.findall(r"Sky \d+ is \w+(?: today)?", body["messages"][1]["content"])[0] for body in server.requests)


def test_without_a_budget_all_that_is_unsure_is_asked_and_told(server: Any, model: Any) -> None:
    evaluation = measure(judged_by(model, audit=0.0))

    use = evaluation.summary().cascade
    assert use is not None
    assert (use.counts.verdicts, use.counts.asked, use.counts.failed, use.counts.over_budget) == (360, 120, 0, 0)
    assert len(server.requests) == 60
    assert use.agreement is None
    answers = [result.coverage.sub_questions[0].answer for result in evaluation.results if result.coverage]
    assert [answer.covered for answer in answers if answer] == [number % 3 != 0 for number in range(60)]
    assert all(answer.certain for answer in answers if answer)


def test_a_server_that_is_down_is_soon_asked_no_more_and_the_summary_says_why(
    server: Any, options: dict[str, Any], fault: Any, tmp_path: Path
) -> None:
    policy = replace(options["policy"], max_concurrency=1)
    server.fault_of = lambda _: fault(status=500, message="The database is on fire.")
    models = judged_by(open_scorer(MODEL, **options | {"policy": policy}), audit=0.0)

    evaluation = measure(models, store=tmp_path / "kept.sqlite", workers=1)

    assert len(server.requests) == FAILED_CALLS * policy.attempts
    for summary in (evaluation.summary(), Evaluation.open(tmp_path / "kept.sqlite").summary()):
        assert summary.cascade is not None
        assert (summary.cascade.counts.asked, summary.cascade.counts.failed) == (0, 120)
        said = "the server answered 500: The database is on fire.; after 3 such calls in a row it is not asked again"
        assert f"for 120 verdicts the model failed (openai:small: {said})" in cascade_sentence(summary)


def test_failures_that_are_not_in_a_row_shut_no_server_out(server: Any, options: dict[str, Any], fault: Any) -> None:
    policy = replace(options["policy"], max_concurrency=1, attempts=1)
    server.reply = reply
    server.fault_of = lambda _: fault(status=500) if len(server.requests) % 3 else None
    models = judged_by(open_scorer(MODEL, **options | {"policy": policy}), audit=0.0)

    use = measure(models, workers=1).summary().cascade

    assert use is not None
    assert len(server.requests) == 60
    assert (use.counts.asked, use.counts.failed) == (40, 80)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 8])
@pytest.mark.parametrize("calls", [0, 1, 7, 33, 60])
def test_a_budget_is_met_exactly_with_any_number_of_threads(server: Any, model: Any, calls: int, workers: int) -> None:
    evaluation = measure(judged_by(model, max_calls=calls, audit=0.0), workers=workers)

    use = evaluation.summary().cascade
    assert use is not None
    assert len(server.requests) == calls
    assert (use.counts.asked, use.counts.over_budget) == (2 * calls, 120 - 2 * calls)
    unsure = [verdict for result in evaluation.results if result.coverage for verdict in verdicts_of(result.coverage)]
    assert sum(not verdict.certain for verdict in unsure) == 120 - 2 * calls


def verdicts_of(coverage: Any) -> list[Any]:
    return [verdict for each in coverage.sub_questions for verdict in (each.answer, *each.chunks)]


def test_a_budget_goes_to_the_answers_to_core_sub_questions_that_are_nearest_to_the_cut(server: Any, model: Any) -> None:
    measure(judged_by(model, max_calls=4, audit=0.0))

    assert set(asked_answers(server)) == {f"Sky {number} is blue today" for number in (57, 54, 51, 48)}  # 0.3 + n/1000


def test_a_budget_holds_where_traces_share_texts_and_replies_cannot_be_used(server: Any, model: Any) -> None:
    server.reply = lambda _: "I would rather not say."
    twice = [*TRACES, *(replace_pipeline(each, name) for each in TRACES for name in ("other", "third"))]

    evaluation = measure(judged_by(model, max_calls=40, audit=0.2), twice, workers=4)

    use = evaluation.summary().cascade
    assert use is not None
    assert 0 < len(server.requests) <= 40
    assert use.counts.failed > 0
    assert use.counts.asked == use.counts.audited == 0


def replace_pipeline(each: Trace, name: str) -> Trace:
    return each.model_copy(update={"pipeline": name})


def test_the_same_budget_gives_the_same_results_whatever_the_threads_and_the_order(server: Any, model: Any) -> None:
    first = measure(judged_by(model, max_calls=20, audit=0.1), workers=1)
    second = measure(judged_by(model, max_calls=20, audit=0.1), TRACES[::-1], workers=8)

    assert [each.outcomes for each in first.results] == [each.outcomes for each in second.results][::-1]
    assert first.judge == second.judge
    assert len(server.requests) == 2 * first.spending.usage[0].calls <= 40


def test_the_audit_estimates_the_agreement_with_an_interval(model: Any) -> None:
    use = measure(judged_by(model, audit=0.3)).summary().cascade

    assert use is not None
    assert use.counts.agreed == 0  # the first judge is sure that all is covered, the model that nothing is
    assert 50 <= use.counts.audited <= 95
    agreement = use.agreement
    assert agreement is not None
    assert agreement.lower is not None
    assert agreement.upper is not None
    assert agreement.estimate == pytest.approx((use.counts.asked + use.counts.audited) / 360)
    assert agreement.lower <= agreement.estimate <= agreement.upper
    assert agreement.n == use.counts.audited


def test_a_failing_server_leaves_the_embedded_verdicts_and_is_counted(server: Any, model: Any, fault: Any) -> None:
    server.fault_of = lambda _: fault(status=400, message="no")

    evaluation = measure(judged_by(model, audit=0.0))

    summary = evaluation.summary()
    assert summary.cascade is not None
    assert (summary.cascade.counts.failed, summary.cascade.counts.asked, summary.failed) == (120, 0, 120)
    assert all(result.coverage is not None and not result.failures for result in evaluation.results)
    assert summary.metrics["core_coverage"].interval is not None


def test_resuming_asks_again_what_failed_and_nothing_else(server: Any, model: Any, fault: Any, tmp_path: Path) -> None:
    store, models = tmp_path / "store.sqlite", judged_by(model, max_calls=30, audit=0.1)
    failing = {"Sky 57 ", "Sky 54 "}
    server.fault_of = lambda body: (
        fault(status=400, message="no") if any(sky in body["messages"][1]["content"] for sky in failing) else None
    )
    before = measure(models, store=store)
    failed = before.summary().cascade
    assert failed is not None
    assert failed.counts.failed > 0
    server.fault_of, done = (lambda _: None), len(server.answered)
    server.requests.clear()

    after = measure(models, store=store, resume=True)

    use = after.summary().cascade
    assert use is not None
    assert use.counts.failed == 0
    assert done + len(server.requests) <= 30
    assert all("Sky 57 " in each or "Sky 54 " in each for each in asked_answers(server))
    assert [each.outcomes for each in after.results] == [each.outcomes for each in measure(models).results]


def test_a_run_that_was_killed_is_gone_on_with_to_the_same_results_within_the_same_budget(
    server: Any, model: Any, tmp_path: Path
) -> None:
    models, store = judged_by(model, max_calls=20, audit=0.05), tmp_path / "store.sqlite"

    def stop(progress: Progress) -> None:
        if progress.done >= 32:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(models, store=store, workers=1, progress=stop)
    evaluation = measure(models, store=store, workers=1, resume=True)
    calls = len(server.requests)
    whole = measure(models)

    assert calls == len(server.requests) - calls <= 20
    assert [each.outcomes for each in evaluation.results] == [each.outcomes for each in whole.results]


def test_a_limit_of_the_cost_is_kept(server: Any, model: Any) -> None:
    price = Price(prompt=1.0, completion=1.0)
    one = model.forecast([ScoringItem("Is it blue?", "Sky 0 is blue today.", user_question="What colour is sky 0?")])

    evaluation = measure(judged_by(model, max_cost=5 * one.cost(price), price=price, audit=0.0))

    assert 1 <= len(server.requests) <= 5
    cost = evaluation.spending.cost({MODEL: price})
    assert cost is not None
    assert cost <= 5 * one.cost(price)


def test_files_of_any_size_are_not_measured_within_a_budget(model: Any, tmp_path: Path) -> None:
    write_traces(tmp_path / "traces.jsonl", TRACES)

    with pytest.raises(InvalidValueError, match="a budget .* is planned over all traces in memory"):
        evaluate_files(tmp_path / "traces.jsonl", tmp_path / "out", models=judged_by(model, max_calls=5), format="jsonl")


def test_a_recording_has_no_budget(model: Any) -> None:
    with pytest.raises(InvalidValueError, match="measure them with rag_cover.evaluate"):
        Recording(models=judged_by(model, max_calls=5))


def test_a_store_that_holds_an_evaluation_is_refused_before_anything_is_judged(model: Any, tmp_path: Path) -> None:
    measure(judged_by(model, max_calls=1), TRACES[:3], store=tmp_path / "store.sqlite")
    models = judged_by(model, max_calls=1)

    with pytest.raises(OSError, match="holds an evaluation"):
        measure(models, TRACES[:3], store=tmp_path / "store.sqlite")

    assert models.judge.first.asked.calls == 0  # type: ignore[union-attr]  # a cascade


@pytest.fixture
def file(server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    server.reply = reply
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.chdir(tmp_path)
    passages = (Passage("A heat pump costs 12,000 euros, some say."), Passage("Grants exist in a few regions of the country."))
    written = [
        Trace(
            question=Question(f"What does heat pump {number} cost, and who pays part of it?"),
            steps=(RetrievalStep(query="heat", passages=passages),),
            answer="It may be about 12,000 euros, depending on the house; grants exist.",
            sub_questions=(
                SubQuestion("What does a heat pump cost?", role=Role.CORE),
                SubQuestion("Who pays a part of it?", role=Role.CORE),
                SubQuestion("When was it installed?", role=Role.BACKGROUND),
            ),
        )
        for number in range(4)
    ]
    write_traces(tmp_path / "traces.jsonl", written)
    return tmp_path / "traces.jsonl"


def run(*words: str | Path) -> Any:
    return CliRunner().invoke(app, ["evaluate", *map(str, words), "--measure", "coverage"])


def test_the_command_tells_in_terminal_json_and_report_what_was_asked(server: Any, file: Path) -> None:
    judge = ["--judge", "cascade:embedded+openai:small", "--audit", "1"]
    shown = run(file, *judge)
    document = json.loads(run(file, *judge, "--json", "--force").stdout)

    told = document["summary"]["cascade"]
    assert told["verdicts"] == told["asked"] + told["audited"]
    assert told["agreement"]["estimate"] == told["share_asked"] == 1.0
    sentence = "Cascade: 100% of 36 verdicts asked of the model"
    assert sentence in " ".join(shown.stdout.replace("│", " ").split())
    assert sentence in Path("traces-coverage.html").read_text(encoding="utf-8")
    assert document["spending"]["usage"][0]["cache_hits"] == len(server.requests) == 3  # texts, each asked about once


def test_the_command_keeps_to_its_budget(server: Any, file: Path) -> None:
    result = run(file, "--judge", "cascade:embedded+openai:small", "--max-calls", "1", "--json")

    assert result.exit_code == 0, result.output
    assert len(server.requests) <= 1
    assert json.loads(result.stdout)["summary"]["cascade"]["verdicts"] == 36


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--judge", "cascade:embedded"], "names one judge"),
        (["--judge", "cascade:"], "names no judge"),
        (["--judge", "cascade"], "names no judge"),
        (["--judge", "cascade:embedded+opnai:small"], "No backend is called 'opnai'"),
        (["--judge", "cascade:embedded+ray"], "No backend is called 'ray'"),
        (["--judge", "cascade:openai:small+embedded"], "it does not tell which of its verdicts it is sure of"),
        (["--max-calls", "5"], "this is for a cascade of judges"),
        (["--judge", "openai:small", "--audit", "0.1"], "this is for a cascade of judges"),
        (["--judge", "cascade:embedded+openai:small", "--max-cost", "1"], "the price of the model is not known"),
    ],
)
def test_wrong_names_and_options_say_what_to_do(server: Any, file: Path, words: list[str], problem: str) -> None:
    result = run(file, *words)

    said = " ".join((result.output + str(result.exception or "")).replace("│", " ").split())
    assert result.exit_code != 0
    assert problem in said
    assert not server.requests


def test_a_cascade_that_nobody_names_is_never_asked(server: Any, file: Path) -> None:
    assert run(file, "--no-store", "--no-report").exit_code == 0
    assert not server.requests


def test_a_name_is_checked_before_anything_is_opened() -> None:
    with pytest.raises(BackendNotFoundError):
        Models(judge="cascade:embedded+opnai:small").check(["scorer"])


def test_a_report_tells_of_failures_and_of_what_was_over_the_budget(
    server: Any, model: Any, fault: Any, tmp_path: Path
) -> None:
    server.fault_of = lambda body: fault(status=400, message="no") if "Sky 57 " in body["messages"][1]["content"] else None
    evaluation = measure(judged_by(model, max_calls=10))

    write_report(tmp_path / "report.html", evaluation.results, replace(evaluation.summary()))

    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "for 2 verdicts the model failed (openai:small: the server answered 400: no), the first judge’s stands" in page
    assert "unsure verdicts over the budget stay the first judge’s" in page
