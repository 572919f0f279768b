"""A measure of the user's own, in a few lines: treated everywhere as one of the package's own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_cover import (
    Evaluation,
    Measure,
    Models,
    NotApplicable,
    NumberResult,
    Question,
    Score,
    Store,
    Trace,
    compare,
    evaluate,
    evaluate_files,
    measure_of,
    write_traces,
)
from rag_cover.errors import InvalidValueError, StoreError
from rag_cover.hooks import hook
from rag_cover.measures import UnknownResult
from rag_cover.plugin_manager import plugins
from rag_cover.recording import Recording
from rag_cover.testing import KeywordEntailer, KeywordScorer
from tests.recording.parts import ANSWER, ask

MODELS = Models(judge=KeywordScorer(), entailer=KeywordEntailer())
ANSWERS = {"Who?": "Jane Austen wrote it.", "When?": "In about 1815.", "Where?": None}


def answer_length(trace: Trace) -> NumberResult | NotApplicable:
    if trace.answer is None:
        return NotApplicable("there is no answer")
    return NumberResult(len(trace.answer.split()), f"words of {trace.answer!r}")


LENGTH = measure_of(answer_length, name="answer_length")


@pytest.fixture
def traces() -> list[Trace]:
    return [Trace(question=Question(question), answer=answer) for question, answer in ANSWERS.items()]


class _Plugin:
    @hook
    def measures(self) -> list[Measure]:
        return [LENGTH]


@pytest.fixture
def installed() -> Iterator[None]:
    """Install the measure as a plugin's."""
    plugin = _Plugin()
    plugins().register(plugin)
    yield
    plugins().unregister(plugin)


def _values(evaluation: Evaluation) -> list[object]:
    return [result.measured.get("answer_length") for result in evaluation.results]


WANTED = [NumberResult(4, "words of 'Jane Austen wrote it.'"), NumberResult(3, "words of 'In about 1815.'"), None]


def test_it_is_evaluated_as_a_value(traces: list[Trace]) -> None:
    found = evaluate(traces, measures=[LENGTH], models=MODELS)

    assert _values(found) == WANTED
    assert found.results[2].outcomes["answer_length"] == NotApplicable("there is no answer")
    assert found.results[0]["answer_length"].value == 4
    with pytest.raises(KeyError, match="'answer_length' is not applicable: there is no answer"):
        found.results[2]["answer_length"]


@pytest.mark.usefixtures("installed")
def test_a_plugins_measure_is_evaluated_by_name_beside_the_packages_own(traces: list[Trace]) -> None:
    found = evaluate(traces, measures=["coverage", "answer_length"], models=MODELS)

    assert _values(found) == WANTED
    assert found.results[0].coverage is not None


def test_one_that_always_fails_is_counted_and_its_metric_says_why(traces: list[Trace]) -> None:
    def break_down(_: Trace) -> float:
        message = "no such dictionary"
        raise LookupError(message)

    broken = measure_of(break_down, name="answer_length", higher_is_better=True)
    found = evaluate(traces, measures=["coverage", broken], models=MODELS)

    summary, comparison = found.summary(), compare(found, found)
    assert summary.outcomes["answer_length"].failed == len(traces)
    assert summary.metrics["answer_length"].interval is None
    assert summary.metrics["answer_length"].undefined_because == "LookupError: no such dictionary"
    assert comparison.metrics["answer_length"].difference is None


def test_it_is_stored_resumed_and_reopened(traces: list[Trace], tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    calls: list[str] = []

    def counted(trace: Trace) -> NumberResult | NotApplicable:
        calls.append(trace.question.text)
        return answer_length(trace)

    measure = measure_of(counted, name="answer_length")
    evaluate(traces[:2], measures=[measure], models=MODELS, store=path)
    again = evaluate(traces, measures=[measure], models=MODELS, store=path, resume=True)

    assert calls == ["Who?", "When?", "Where?"]
    assert _values(again) == _values(Evaluation.open(path)) == WANTED
    assert [result.measured.get("answer_length") for result in Store(path).results()] == WANTED


def test_a_new_version_of_it_is_measured_again(traces: list[Trace], tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    evaluate(traces, measures=[LENGTH], models=MODELS, store=path)
    other = measure_of(lambda _: 1.0, name="answer_length", version=2)

    again = evaluate(traces, measures=[other], models=MODELS, store=path, resume=True)

    assert _values(again) == [NumberResult(1.0)] * 3


def test_it_is_summed_up_with_an_interval_and_compared(traces: list[Trace]) -> None:
    longer = [trace.model_copy(update={"answer": f"{trace.answer or ''} Indeed."}) for trace in traces]
    first, second = (evaluate(each, measures=[LENGTH], models=MODELS) for each in (traces, longer))

    metric = first.summary().metrics["answer_length"]
    compared = compare(first, second).metrics["answer_length"]

    assert metric.interval is not None
    assert (metric.interval.estimate, metric.interval.n) == (3.5, 2)
    assert metric.interval.lower is not None
    assert metric.interval.lower == pytest.approx(3.5 - 12.706 * 0.5, abs=0.001)  # two questions tell little
    assert compared.difference == pytest.approx(10 / 3 - 3.5)


def test_it_is_in_the_report_and_the_data_frame(traces: list[Trace], tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    found = evaluate(traces, measures=[LENGTH], models=MODELS)

    found.to_html(tmp_path / "report.html")
    frame = found.to_dataframe()

    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    row = page[page.index("Answer length<small") :].partition("</tr>")[0]
    assert ">3.5<" in row
    assert "undefined" not in row
    assert frame["answer_length"].dropna().tolist() == [4, 3]


def test_it_is_redacted(traces: list[Trace], tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"

    found = evaluate(traces, measures=[LENGTH], models=MODELS, store=path, redact=True)

    values = [result["answer_length"] for result in found.results[:2]]
    assert [each.value for each in values] == [4, 3]
    assert not any("Austen" in json.dumps(result.to_dict()) for result in found.results)


def test_it_is_recorded_live() -> None:
    with Recording(measures=[LENGTH], models=MODELS) as recording:
        ask(recording)
        assert recording.flush(60)
        evaluation = recording.evaluation

    assert [result["answer_length"].value for result in evaluation.results] == [len(ANSWER.split())]
    assert evaluation.summary().metrics["answer_length"].interval is not None


def test_it_runs_over_files(traces: list[Trace], tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    write_traces(tmp_path / "traces.jsonl", traces)

    found = evaluate_files([tmp_path / "traces.jsonl"], into=tmp_path / "results", measures=[LENGTH], models=MODELS)

    assert _values(found) == WANTED


def test_it_is_an_evaluator_of_llama_index() -> None:
    pytest.importorskip("llama_index.core")
    from rag_cover_llama_index import MeasureEvaluator

    evaluator = MeasureEvaluator(LENGTH, fail_under=5)
    found = evaluator.evaluate("Who?", "Jane Austen wrote it.")

    assert (found.score, found.passing, found.feedback) == (4, False, "words of 'Jane Austen wrote it.'")
    assert evaluator.evaluate("Who?").invalid_reason == "there is no answer"
    assert found.model_dump()["result"] == {"value": 4, "reason": "words of 'Jane Austen wrote it.'"}


def test_it_is_an_evaluator_of_langchain() -> None:
    pytest.importorskip("langsmith")
    from rag_cover_langchain import MeasureEvaluator

    found = MeasureEvaluator(LENGTH)(inputs="Who?", outputs="Jane Austen wrote it.")

    assert (found["key"], found["score"], found["comment"]) == ("answer_length", 4, "words of 'Jane Austen wrote it.'")


@dataclass(frozen=True)
class Letters:
    """A result of a type of its own."""

    count: int
    first: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Letters:
        return cls(**data)

    @property
    def values(self) -> dict[str, float | None]:
        return {"count": self.count}


@dataclass(frozen=True)
class LettersMeasure:
    """A measure whose results are `Letters`."""

    name = "letters"
    version = 1
    parameters: Any = ()
    required_inputs = ("an answer",)
    required_models = ()
    optional_models = ()
    result_type: type[Any] = Letters
    metrics = ()

    def not_applicable_reason(self, trace: Trace) -> str | None:
        return "letters needs an answer" if trace.answer is None else None

    def measure(self, traces: list[Trace], models: object) -> list[Letters]:
        del models
        return [Letters(len(trace.answer or ""), (trace.answer or "")[:1]) for trace in traces]

    def score(self, result: Letters) -> Score:
        return Score(result.count)


def _letters() -> Any:
    return LettersMeasure()


def test_a_store_with_results_of_an_unknown_measure_opens_and_keeps_them(traces: list[Trace], tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    evaluate(traces[:2], measures=["groundedness", _letters()], models=MODELS, store=path)

    reopened = Evaluation.open(path)

    assert [result["letters"] for result in reopened.results] == [
        UnknownResult({"count": 21, "first": "J"}, f"{__name__}:Letters"),
        UnknownResult({"count": 14, "first": "I"}, f"{__name__}:Letters"),
    ]
    assert "groundedness" in reopened.results[0].outcomes
    (note,) = reopened.summary().notes
    assert note.startswith(f"results of 'letters' ({__name__}:Letters) are not summed up, since that measure is not installed")
    known = Evaluation.open(path, measures=[_letters()])
    assert [result["letters"] for result in known.results] == [Letters(21, "J"), Letters(14, "I")]
    assert not known.summary().notes


def test_a_result_with_a_text_that_has_no_mark_is_refused_before_anything_is_redacted(traces: list[Trace]) -> None:
    with pytest.raises(InvalidValueError, match="'letters' cannot be redacted: Letters.first is a str without a mark"):
        evaluate(traces, measures=[_letters()], models=MODELS, redact=True)


def test_a_result_that_cannot_be_stored_is_refused_before_anything_is_measured(traces: list[Trace]) -> None:
    measure: Any = LettersMeasure(result_type=dict)

    with pytest.raises(InvalidValueError, match="'letters' cannot be stored: dict has no to_dict, from_dict"):
        evaluate(traces, measures=[measure], models=MODELS)


def test_what_is_no_measure_is_refused_with_what_it_lacks(traces: list[Trace]) -> None:
    wrong: Any = answer_length

    with pytest.raises(InvalidValueError, match=r"is no measure: it has no name, .*measure_of makes one of a function"):
        evaluate(traces, measures=[wrong], models=MODELS)


def test_a_name_of_the_packages_own_is_refused(traces: list[Trace]) -> None:
    mine = measure_of(answer_length, name="coverage")

    with pytest.raises(InvalidValueError, match="'coverage' cannot be used: that is the name of one of the package's own"):
        evaluate(traces, measures=[mine], models=MODELS)


def test_what_the_function_raises_is_the_failure_of_its_trace_alone(traces: list[Trace]) -> None:
    found = evaluate(traces, measures=[measure_of(lambda trace: len(trace.answer or 0), name="n")], models=MODELS)  # type: ignore[arg-type]

    assert [result.measured.get("n") for result in found.results] == [NumberResult(21), NumberResult(14), None]
    assert [failure.kind for failure in found.results[2].failures.values()] == ["TypeError"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "4"])
def test_what_is_no_number_is_a_failure(traces: list[Trace], value: Any) -> None:
    found = evaluate(traces[:1], measures=[measure_of(lambda _: value, name="n")], models=MODELS)

    assert [failure.kind for failure in found.results[0].failures.values()] == ["InvalidValueError"]


def test_two_measures_of_numbers_are_summed_up_apart(traces: list[Trace]) -> None:
    five, ten = (measure_of(lambda _, value=value: value, name=name) for name, value in (("five", 5), ("ten", 10)))  # type: ignore[misc]

    summary = evaluate(traces, measures=[five, ten], models=MODELS).summary()

    means = [metric.interval.estimate for name in ("five", "ten") if (metric := summary.metrics[name]).interval]
    assert means == [5, 10]


def test_what_a_function_says_of_a_trace_that_it_does_not_apply_to_is_redacted(traces: list[Trace]) -> None:
    measure = measure_of(lambda trace: NotApplicable(f"no {trace.answer}"), name="never")

    found = evaluate(traces, measures=[measure], models=MODELS, redact=True)

    assert "Austen" not in str([result.outcomes for result in found.results])


@pytest.mark.parametrize("value", [np.float32(0.5), np.int64(4), np.bool_(True), Decimal("0.5"), True, np.array(0.5)])  # noqa: FBT003
def test_numbers_of_every_kind_are_numbers(value: Any) -> None:
    assert NumberResult(value).value == float(value)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"name": "pipeline"}, "that is a column of the data frame"),
        ({"name": "answer_relevance"}, "the name of one of the package's own measures"),
        ({"required_models": ("scorerr",)}, "it asks for a model 'scorerr'; models are a tuple of scorer, locator"),
        ({"parameters": {"words": {"a"}}}, "its parameters are no JSON data"),
    ],
)
def test_a_measure_with_a_wrong_member_is_refused(traces: list[Trace], changed: dict[str, Any], problem: str) -> None:
    measure: Any = type("Wrong", (LettersMeasure,), changed)()
    if "parameters" in changed:
        measure = LettersMeasure(**changed)

    with pytest.raises(InvalidValueError, match=problem):
        evaluate(traces, measures=[measure], models=MODELS)


@pytest.mark.parametrize("results", [[], [1, 2], [None, None]])
def test_wrong_results_are_failures_that_say_what_is_wrong(traces: list[Trace], results: list[Any]) -> None:
    class Wrong(LettersMeasure):
        def measure(self, traces: list[Trace], models: object) -> list[Any]:
            del traces, models
            return results

    measure: Any = Wrong()
    found = evaluate(traces[:2], measures=[measure], models=MODELS)

    failures = [failure.message for result in found.results for failure in result.failures.values()]
    assert len(failures) == 2
    assert all("letters returned" in failure for failure in failures)


def test_a_reason_that_cannot_be_told_is_the_failure_of_its_trace(traces: list[Trace]) -> None:
    class Wrong(LettersMeasure):
        def not_applicable_reason(self, trace: Trace) -> str | None:
            return "no answer" if len(trace.answer) == 0 else None  # type: ignore[arg-type]  # what is tested

    measure: Any = Wrong()
    found = evaluate(traces, measures=[measure], models=MODELS)

    assert [sorted(result.failures) for result in found.results] == [[], [], ["letters"]]


@pytest.mark.parametrize(
    "options", [{"name": "two words"}, {"name": None}, {"low": 1, "high": 0}, {"version": 0}, {"version": "2"}, {"low": "0"}]
)
def test_options_that_make_no_measure_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError, match="This makes no measure"):
        measure_of(answer_length, **{"name": "n", **options})


def test_a_value_out_of_its_range_is_a_failure(traces: list[Trace]) -> None:
    found = evaluate(traces[:1], measures=[measure_of(lambda _: 2.0, name="n", low=0, high=1)], models=MODELS)

    assert [failure.message for failure in found.results[0].failures.values()] == ["n is 2, and its values lie in [0, 1]"]


def test_a_report_of_it_alone_is_about_it(traces: list[Trace], tmp_path: Path) -> None:
    found = evaluate(traces, measures=[LENGTH])

    found.to_html(tmp_path / "report.html")

    page = tmp_path.joinpath("report.html").read_text(encoding="utf-8")
    assert "Answer length: <strong>3.5</strong>" in page
    assert "Core coverage" not in page
    assert "NoneType" not in page


def test_a_store_and_a_trace_file_may_be_named_by_a_text(traces: list[Trace], tmp_path: Path) -> None:
    write_traces(tmp_path / "traces.jsonl", traces)

    found = evaluate(str(tmp_path / "traces.jsonl"), measures=[LENGTH], store=str(tmp_path / "results.sqlite"))

    assert _values(found) == WANTED


def test_a_resumed_store_does_not_lose_what_another_measure_found(traces: list[Trace], tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    evaluate(traces, measures=[LENGTH, "groundedness"], models=MODELS, store=path)

    with pytest.raises(StoreError, match=r"holds results of answer_length, which this run does not measure: .* Name it too"):
        evaluate(traces, measures=["groundedness"], models=MODELS, store=path, resume=True)

    assert _values(Evaluation.open(path)) == WANTED


def test_versions_that_differ_are_noted_in_a_comparison(traces: list[Trace]) -> None:
    other = measure_of(answer_length, name="answer_length", version=2)
    first, second = (evaluate(traces, measures=[each], models=MODELS) for each in (LENGTH, other))

    notes = compare(first, second).notes

    assert "answer_length was measured by its versions 1 and 2: what differs may be the measure." in notes
