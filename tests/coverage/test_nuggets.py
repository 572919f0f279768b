"""Coverage measured on nuggets: by their question, or as statements that texts state, in part or as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.backends import ScoringItem, Span
from rag_cover.coverage import CoverageMeasure, Loss, judge_coverage
from rag_cover.coverage.nugget_scores import NuggetScores
from rag_cover.coverage.result import CoverageResult
from rag_cover.errors import ModelFailedError
from rag_cover.frames import rows_of
from rag_cover.measures import TraceResult
from rag_cover.nuggets import Assignment, Nugget
from rag_cover.questions import Passage, Question, Role, SubQuestion
from rag_cover.statements import StatementItem, StatementVerdict
from rag_cover.testing import KeywordEntailer, KeywordScorer
from rag_cover.traces import RetrievalStep, Trace

SCATTERS = "Air scatters short waves."
OZONE = "Ozone absorbs orange light."
BLUE = Nugget(SCATTERS, importance="vital")
ABSORBED = Nugget(OZONE, importance="okay")
ASKED = Nugget("Short waves are blue.", importance="vital", question="Which waves does air scatter?")


@dataclass(frozen=True)
class EntailingScorer(KeywordScorer):
    """Scores questions and entails statements, both by words, as the embedded judge does both by weights."""

    entailer: KeywordEntailer = field(default_factory=KeywordEntailer)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return self.entailer.entail(pairs)


@dataclass(frozen=True)
class PartialJudge(KeywordScorer):
    """Tells partial support: a text that has some of a statement's words and not all of them states a part of it."""

    def judge_statements(self, items: Sequence[StatementItem]) -> list[StatementVerdict]:
        shares = self.correctness([ScoringItem(item.statement, item.text) for item in items]).tolist()
        return [StatementVerdict(float(share == 1), partial=0 < share < 1) for share in shares]


def trace(*nuggets: Nugget, answer: str | None = SCATTERS, retrieved: Sequence[str] = (), **more: object) -> Trace:
    steps = (RetrievalStep(query="sky", passages=tuple(map(Passage, retrieved))),) if retrieved else ()
    return Trace(question=Question("Why is the sky blue?"), steps=steps, answer=answer, nuggets=nuggets, **more)


def judged(given: Trace, judge: KeywordScorer | None = None) -> CoverageResult:
    (result,) = judge_coverage([given], judge or EntailingScorer())
    return result


def test_a_nugget_without_a_question_is_covered_by_the_text_that_entails_it() -> None:
    scorer = EntailingScorer()

    result = judged(trace(BLUE, ABSORBED), scorer)

    assert [(each.text, each.role, each.answer and each.answer.covered) for each in result.sub_questions] == [
        (SCATTERS, Role.CORE, True),
        (OZONE, Role.BACKGROUND, False),
    ]
    assert (result.on_nuggets, result.decomposed_by, result.core_coverage) == (True, "given", 1.0)
    assert scorer.asked.calls == 0


def test_a_nugget_with_a_question_is_judged_as_that_sub_question() -> None:
    as_nugget = judged(trace(ASKED, retrieved=(SCATTERS,)))
    (as_sub_question,) = judge_coverage(
        [trace(retrieved=(SCATTERS,), sub_questions=(SubQuestion(str(ASKED.question), role="core"),))], EntailingScorer()
    )

    (nugget,), (sub_question,) = as_nugget.sub_questions, as_sub_question.sub_questions
    assert (nugget.text, nugget.question) == (ASKED.text, ASKED.question)
    assert (nugget.answer, nugget.chunks, nugget.in_prompt) == (
        sub_question.answer,
        sub_question.chunks,
        sub_question.in_prompt,
    )


def test_sub_questions_of_a_trace_go_before_its_nuggets() -> None:
    result = judged(trace(BLUE, sub_questions=(SubQuestion("Why is the sky blue?", role="core"),)))

    assert not result.on_nuggets
    assert [each.text for each in result.sub_questions] == ["Why is the sky blue?"]


def test_nuggets_of_a_trace_go_before_a_decomposer() -> None:
    (result,) = judge_coverage([trace(BLUE)], EntailingScorer(), decomposer=lambda _: (SubQuestion("Why?"),))

    assert [each.text for each in result.sub_questions] == [SCATTERS]


def test_a_known_empty_list_of_nuggets_is_no_reason_to_decompose() -> None:
    result = judged(trace())

    assert (result.sub_questions, result.on_nuggets, result.core_coverage) == ((), True, None)
    assert CoverageMeasure().score(result).reason == "none of its 0 nuggets is vital"


def test_a_lost_nugget_was_lost_somewhere() -> None:
    unused = judged(trace(ABSORBED, retrieved=(OZONE,))).sub_questions[0]
    missing = judged(trace(ABSORBED, retrieved=(SCATTERS,))).sub_questions[0]

    assert (unused.loss, missing.loss) == (Loss.UNUSED, Loss.NOT_RETRIEVED)


def test_the_sentence_that_entails_a_nugget_is_its_fragment() -> None:
    answer = f"It depends. {SCATTERS} Grass is green."

    (nugget,) = judged(trace(BLUE, answer=answer)).sub_questions

    assert nugget.answer is not None
    assert nugget.answer.fragment == Span(12, 37)
    assert nugget.position == pytest.approx(3 / 9)


def test_nuggets_without_an_importance_count_in_no_role() -> None:
    result = judged(trace(Nugget(SCATTERS)))

    assert result.sub_questions[0].role is None
    assert result.core_coverage is None
    assert result.nugget_scores == NuggetScores(1.0, 1.0, None, None, None, None)


def test_a_part_of_a_nugget_does_not_cover_it_and_is_half_of_it_in_the_scores() -> None:
    result = judged(trace(BLUE, ABSORBED, answer="Air scatters light."), PartialJudge())

    assert [each.answer and each.answer.assignment for each in result.sub_questions] == [
        Assignment.PARTIAL_SUPPORT,
        Assignment.PARTIAL_SUPPORT,
    ]
    assert result.core_coverage == 0.0
    assert result.nugget_scores == NuggetScores(0.5, 0.0, 0.5, 0.0, 0.5, 0.0)


def test_the_verdict_on_a_part_survives_being_written_and_read() -> None:
    result = judged(trace(BLUE, ASKED, answer="Air scatters light.", retrieved=(SCATTERS,)), PartialJudge())

    assert CoverageResult.from_dict(result.to_dict()) == result
    assert result.to_dict()["sub_questions"][0]["answer"]["partial"] is True


def test_results_of_sub_questions_are_written_as_before() -> None:
    written = judged(trace(sub_questions=(SubQuestion("Why is the sky blue?", role="core"),))).to_dict()

    assert "on_nuggets" not in written
    assert not {"partial", "question"} & {*written["sub_questions"][0], *written["sub_questions"][0]["answer"]}


def test_a_judge_that_cannot_entail_says_what_to_do() -> None:
    with pytest.raises(ModelFailedError, match="cannot tell whether a text states a nugget.*give each nugget its question"):
        judged(trace(BLUE), KeywordScorer())


def test_the_score_and_the_rows_speak_of_nuggets() -> None:
    given = trace(BLUE, ABSORBED, answer="Air scatters light.")
    result = judged(given, PartialJudge())

    rows = list(rows_of(TraceResult(given, {"coverage": result})))

    assert CoverageMeasure().score(result).reason == "0 of 1 vital nuggets are stated"
    assert [(row["sub_question"], row["unit"], row["answer_partial"]) for row in rows] == [
        (SCATTERS, "nugget", True),
        (OZONE, "nugget", True),
    ]
    assert rows[0]["nuggets_all"] == 0.5
