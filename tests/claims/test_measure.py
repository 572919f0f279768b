"""Claims measured on traces: which texts are compared, by whom claims are made, and where the results go."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from rag_cover import (
    Evaluation,
    Models,
    NotApplicable,
    Passage,
    Question,
    RetrievalStep,
    Trace,
    compare,
    evaluate,
    write_traces,
)
from rag_cover.backends import Abstention, Failure, ScoringItem
from rag_cover.claims import ClaimPrompts, ClaimsMeasure, ClaimsResult
from rag_cover.cli import app
from rag_cover.errors import InputError, InvalidValueError
from rag_cover.testing import KeywordScorer, ScriptedGenerator

ASKED = "What do you know of the river Nile?"
NORTH, SEA, SALT = "The Nile flows to the north.", "The Nile ends in the sea.", "Salt is made of rocks."


class Nested:
    """A text entails a statement that it holds, word for word, and `north` what `up` says."""

    fingerprint = "nested"

    def __init__(self) -> None:
        self.calls: list[int] = []

    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        self.calls.append(len(pairs))
        rows = [(0.9, 0.1, 0.0) if _bare(hypothesis) in _bare(premise) else (0.1, 0.9, 0.0) for premise, hypothesis in pairs]
        return np.array(rows, dtype=np.float32)


def _bare(text: str) -> str:
    return text.rstrip(".").casefold()


def models(entailer: Nested | None = None, generator: ScriptedGenerator | None = None) -> Models:
    return Models(judge=KeywordScorer(), entailer=entailer or Nested(), generator=generator, abstention=NeverAbstains())


class NeverAbstains:
    fingerprint = "never"

    def abstains(self, items: Sequence[ScoringItem]) -> list[Abstention]:
        return ["wholly" if "not know" in item.text else "no" for item in items]


def trace(answer: str | None, *gold: str, passages: Sequence[str] | None = None, prompt: Sequence[str] | None = None) -> Trace:
    steps = () if passages is None else (RetrievalStep(passages=tuple(map(Passage, passages))),)
    shown = None if prompt is None else tuple(map(Passage, prompt))
    return Trace(question=Question(ASKED, references=gold), answer=answer, steps=steps, prompt=shown)


def measured(*traces: Trace, by: Models | None = None) -> list[ClaimsResult]:
    found = evaluate(traces, measures=["claims"], models=by or models())
    return [result["claims"] for result in found.results]


def test_claims_of_both_answers_are_held_against_each_other_and_the_passages() -> None:
    (result,) = measured(trace(f"{NORTH} {SALT}", f"{NORTH} {SEA}", passages=[f"{NORTH} {SEA}", SALT, "Nothing of it."]))

    assert [(claim.text, claim.by_answer) for claim in result.answer_claims or ()] == [(NORTH, 1.0), (SALT, pytest.approx(0.1))]
    assert [claim.by_answer for claim in result.gold_claims or ()] == [1.0, pytest.approx(0.1)]
    assert result.values == {
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
        "claim_recall": 1.0,
        "context_precision": pytest.approx(1 / 3),
        "context_utilization": 0.5,
        "noise_sensitivity_in_relevant": 0.0,
        "noise_sensitivity_in_irrelevant": 0.5,
        "hallucination": 0.0,
        "self_knowledge": 0.0,
        "faithfulness": 1.0,
    }


def test_all_traces_are_asked_about_in_one_call() -> None:
    entailer = Nested()

    measured(*(trace(f"{NORTH} {SALT}", SEA, passages=[SEA + " ", SALT]) for _ in range(3)), by=models(entailer))

    assert len(entailer.calls) == 1


def test_retrieval_is_told_from_what_the_prompt_shows() -> None:
    (result,) = measured(trace(SEA, SEA, passages=[SEA, SALT], prompt=[SALT]))

    assert (result.retrieved, result.in_prompt) == ((0, 1), (1,))
    values = result.values
    assert (values["claim_recall"], values["context_utilization"], values["faithfulness"]) == (1.0, None, 0.0)
    assert values["self_knowledge"] == 1.0


def test_without_a_gold_answer_only_faithfulness_is_known() -> None:
    (result,) = measured(trace(NORTH, passages=[NORTH]))

    assert {name for name, value in result.values.items() if value is not None} == {"faithfulness"}
    assert result.gold_claims is None


def test_without_an_answer_only_retrieval_is_known() -> None:
    (result,) = measured(trace(None, NORTH, passages=[NORTH]))

    assert {name for name, value in result.values.items() if value is not None} == {"claim_recall", "context_precision"}


def test_without_passages_only_precision_recall_and_f1_are_known() -> None:
    (result,) = measured(trace(NORTH, NORTH))

    assert {name for name, value in result.values.items() if value is not None} == {"precision", "recall", "f1"}


@pytest.mark.parametrize("lacking", [trace(NORTH), trace(None, NORTH), trace(None, passages=[NORTH])])
def test_one_text_alone_is_compared_with_nothing(lacking: Trace) -> None:
    (result,) = evaluate([lacking], measures=["claims"], models=models()).results

    assert result.outcomes["claims"] == NotApplicable("claims needs two of an answer, a gold answer, and passages")


def test_of_several_gold_answers_the_one_that_the_answer_agrees_with_counts() -> None:
    (result,) = measured(trace(NORTH, SALT, NORTH))

    assert (result.reference, result.values["f1"]) == (1, 1.0)


def test_a_sentence_that_declines_is_no_claim() -> None:
    (result,) = measured(trace("I do not know that.", NORTH, passages=[NORTH]))

    assert (result.answer_claims, result.values["recall"], result.values["precision"]) == ((), 0.0, None)


def test_markup_and_citations_are_no_part_of_claims_and_premises() -> None:
    (result,) = measured(trace(f"- **{NORTH[:-1]}** [1].\n- What else?", NORTH, passages=[NORTH]))

    assert result.values["f1"] == result.values["faithfulness"] == 1.0


def test_a_short_answer_is_read_after_the_question() -> None:
    class Reader(Nested):
        def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
            self.seen = set(pairs)
            return super().entail(pairs)

    reader = Reader()
    measured(trace("North.", "It flows north, as few rivers do."), by=models(reader))

    assert ("It flows north, as few rivers do.", f"{ASKED} North.") in reader.seen
    assert (f"{ASKED} North.", "It flows north, as few rivers do.") in reader.seen


def test_a_language_model_writes_the_claims_of_each_text_once() -> None:
    reply = json.dumps({"claims": [NORTH, SEA, SEA]})
    generator = ScriptedGenerator({"purpose: claims": reply})

    results = measured(*[trace("It goes up and then out.", "Up, out.", passages=[SEA])] * 2, by=models(generator=generator))

    assert [claim.text for claim in results[0].answer_claims or ()] == [NORTH, SEA]
    assert (results[0].values["faithfulness"], results[0].made_by) == (0.5, "scripted")
    assert (results[0].answer_claims or ())[0].start is None
    assert generator.asked.items == 2


def test_a_reply_that_cannot_be_read_fails_its_trace_alone() -> None:
    good = json.dumps({"claims": [NORTH]})
    script: dict[str, str | Failure] = {"Bad": "no JSON here", "Down": Failure("timeout", "60 s"), "purpose": good}
    traces = [trace(text, passages=[NORTH]) for text in ("Bad text.", "Fine text.", "Down it is.")]

    found = evaluate(traces, measures=["claims"], models=models(generator=ScriptedGenerator(script))).results

    assert [list(result.failures) for result in found] == [["claims"], [], ["claims"]]
    assert "the claims of a text could not be had" in found[0].failures["claims"].message
    assert found[1]["claims"].values["faithfulness"] == 1.0


def test_a_text_that_claims_nothing_has_no_claims() -> None:
    generator = ScriptedGenerator(default='{"claims": []}')

    (result,) = measured(trace("Hello!", NORTH, passages=[NORTH]), by=models(generator=generator))

    assert (result.answer_claims, result.values["precision"]) == ((), None)


def test_prompts_can_be_edited_and_are_part_of_the_result_key(tmp_path: Path) -> None:
    mine = tmp_path / "claims.toml"
    mine.write_text("extract = 'List the claims.'", encoding="utf-8")

    prompts = ClaimPrompts.read(mine)
    system, user = prompts.extracting("Why? </question>", "Because.")

    assert system.content == "List the claims."
    assert user.content.count("</question>") == 1
    assert ClaimsMeasure(prompts=prompts).parameters != ClaimsMeasure().parameters
    mine.write_text("extracts = 'x'", encoding="utf-8")
    with pytest.raises(InputError, match="Did you mean 'extract'"):
        ClaimPrompts.read(mine)


def test_a_threshold_outside_of_0_and_1_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="give a number from 0 to 1"):
        ClaimsMeasure(threshold=1.5)


def test_results_are_stored_summed_up_compared_and_reported(tmp_path: Path) -> None:
    good = [trace(NORTH, NORTH, passages=[NORTH]), trace(None, passages=[NORTH])]
    bad = [each.model_copy(update={"answer": SALT}) for each in good[:1]]
    store = tmp_path / "claims.sqlite"

    first = evaluate(good, measures=["claims"], models=models(), store=store)
    second = evaluate(bad, measures=["claims"], models=models())
    first.to_html(tmp_path / "report.html")

    assert Evaluation.open(store).results[0]["claims"] == first.results[0]["claims"]
    interval = first.summary().metrics["f1"].interval
    assert interval is not None
    assert (interval.estimate, interval.n) == (1.0, 1)
    assert compare(first, second).metrics["f1"].difference == -1.0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Claims faithfulness: <b>1</b>" in page
    assert page.count("1 claim of the answer and 1 claim of the gold answer, by sentences") == 1


def test_redacted_results_quote_no_claim(tmp_path: Path) -> None:
    store = tmp_path / "claims.sqlite"

    evaluation = evaluate([trace(NORTH, SEA, passages=[SALT])], measures=["claims"], models=models(), store=store, redact=True)

    kept = json.dumps(evaluation.results[0].to_dict())
    assert not any(word in kept for word in ("Nile", "Salt", "north"))
    assert evaluation.results[0]["claims"].values["f1"] == 0.0


def test_the_command_measures_them_by_name(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    write_traces(tmp_path / "traces.jsonl", [trace(f"{NORTH} [1]", NORTH, passages=[NORTH])])
    names = ["--measure", "claims", "--measure", "citations", "--no-store", "--no-report", "--json"]

    result = CliRunner().invoke(app, ["evaluate", str(tmp_path / "traces.jsonl"), *names, "--fail-under", "f1=0.9"])

    assert result.exit_code == 0, result.output
    metrics = json.loads(result.stdout)["summary"]["metrics"]
    assert [metrics[name]["estimate"] for name in ("precision", "citation_recall")] == [1.0, 1.0]
