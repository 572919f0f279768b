"""What is judged, what it comes to, and where the uncovered was lost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import ValidationError

from rag_cover.backends import Abstention, CertainCuts, ScoringItem, mode_of
from rag_cover.coverage import CoverageRow, coverage_metrics, coverage_table, judge_coverage
from rag_cover.coverage.result import CoverageResult, Loss, SubQuestionCoverage
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.questions import Passage, Question, Role, SubQuestion
from rag_cover.testing import KeywordLocator, KeywordScorer, ScriptedLocator, ScriptedScorer
from rag_cover.traces import RetrievalStep, Trace

WHY = SubQuestion(text="Why is the sky blue?", role=Role.CORE)
WHEN = SubQuestion(text="When is the sky red?", role=Role.FOLLOW_UP)
BLUE = "The sky is blue: air scatters short waves."
RED = "The sky is red at dusk."
GRASS = "Grass is green."


def trace(
    *retrieved: str | Passage,
    answer: str | None = GRASS,
    prompt: tuple[str, ...] | None = None,
    asked: tuple[SubQuestion, ...] = (WHY,),
) -> Trace:
    steps = (RetrievalStep(query="sky", passages=tuple(map(passage, retrieved))),) if retrieved else ()
    return Trace(
        question=Question(text="Why is the sky blue?"),
        steps=steps,
        prompt=None if prompt is None else tuple(map(passage, prompt)),
        answer=answer,
        sub_questions=asked,
    )


def passage(text: str | Passage) -> Passage:
    return Passage(text=text) if isinstance(text, str) else text


def only(results: Sequence[CoverageResult]) -> SubQuestionCoverage:
    (result,) = results
    (judged,) = result.sub_questions
    return judged


@dataclass
class Listener:
    """Covers everything, and keeps what it was asked."""

    threshold: float = 0.5
    asked: list[ScoringItem] = field(default_factory=list)

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        self.asked += items
        return np.ones(len(items), dtype=np.float32)


def test_courtesies_of_question_and_answer_are_not_judged() -> None:
    polite = trace(answer=f"Sure! {BLUE}").model_copy(
        update={"question": Question(text="Hello, can you help me? Why is the sky blue? Thanks!")}
    )
    listener = Listener()

    result = only(judge_coverage([polite], listener))

    replies = {(item.user_question, item.text) for item in listener.asked if item.text.strip() == BLUE}
    assert replies == {("Why is the sky blue?", f"      {BLUE}")}
    assert result.answer is not None
    assert result.answer.covered


def test_every_distinct_pair_of_all_traces_is_judged_in_one_call() -> None:
    scorer = KeywordScorer()
    traces = [trace(BLUE, RED, answer=BLUE, prompt=(GRASS,), asked=(WHY, WHEN)), trace(BLUE, answer=RED, asked=(WHY, WHEN))]

    judge_coverage(traces, scorer)

    assert scorer.asked.calls == 1
    controls = 2  # of the core sub-question: the question again, and a refusal
    assert scorer.asked.items == 2 * (len({BLUE, RED, GRASS}) + len({"answer: " + BLUE, "answer: " + RED})) + controls


def test_only_what_is_covered_is_located() -> None:
    locator = KeywordLocator()
    traces = [trace(BLUE, GRASS, answer=BLUE, prompt=(RED,))]

    judge_coverage(traces, KeywordScorer(threshold=1.0), locator=locator)

    assert locator.asked.calls == 1
    assert locator.asked.items == 2  # BLUE as a passage and as the answer


def test_without_anything_to_judge_no_model_is_asked() -> None:
    scorer, locator = KeywordScorer(), KeywordLocator()

    results = judge_coverage([trace(answer=None), trace(BLUE, asked=())], scorer, locator=locator)

    assert scorer.asked.calls == locator.asked.calls == 0
    assert results[1].sub_questions == ()
    assert results[1].rating is None
    assert judge_coverage([], scorer) == []


def test_a_text_covers_from_the_threshold_on() -> None:
    scorer = ScriptedScorer({(WHY.text, BLUE): 0.7, (WHY.text, RED): 0.69}, threshold=0.7)

    judged = only(judge_coverage([trace(BLUE, RED)], scorer))

    assert judged.chunks is not None
    assert [(verdict.probability, verdict.covered) for verdict in judged.chunks] == [(0.7, True), (0.69, False)]


def test_the_callers_threshold_goes_before_the_scorers() -> None:
    scorer = ScriptedScorer({(WHY.text, BLUE): 0.4}, threshold=0.5)

    (result,) = judge_coverage([trace(BLUE)], scorer, threshold=0.4)

    assert result.threshold == 0.4
    assert result.sub_questions[0].retrieved


def test_a_threshold_that_is_no_probability_is_refused() -> None:
    scorer = KeywordScorer()

    with pytest.raises(InvalidValueError, match=r"threshold is 1\.5"):
        judge_coverage([trace(BLUE)], scorer, threshold=1.5)


def test_blank_texts_are_never_sent_and_cover_nothing() -> None:
    scorer = ScriptedScorer(default=1.0)
    empty = Passage(text=" \n", title="Why the sky is blue")

    judged = only(judge_coverage([trace(empty, answer="")], scorer, locator=KeywordLocator()))

    assert scorer.asked.calls == 0
    assert judged.answer is not None
    assert judged.chunks is not None
    assert [(v.probability, v.covered, v.fragment) for v in (judged.answer, *judged.chunks)] == [(0.0, False, None)] * 2
    assert judged.loss is Loss.NOT_RETRIEVED


def test_a_passage_is_judged_with_its_title() -> None:
    titled = Passage(text="It scatters light.", title="Blue sky")
    scorer = ScriptedScorer({(WHY.text, "Blue sky\nIt scatters light."): 0.9})

    judged = only(judge_coverage([trace(titled)], scorer))

    assert judged.retrieved


def test_a_title_at_the_start_of_the_text_is_not_repeated() -> None:
    titled = Passage(text="Blue sky. It scatters light.", title="blue sky")
    scorer = ScriptedScorer({(WHY.text, titled.text): 0.9})

    judged = only(judge_coverage([trace(titled)], scorer))

    assert judged.retrieved


@pytest.mark.parametrize(
    ("located", "fragment"),
    [("It scatters", "It scatters"), ("sky\nIt scatters", "It scatters"), ("Blue sky", None), ("Blue sky\n", None)],
)
def test_fragments_are_offsets_of_the_passages_own_text(located: str, fragment: str | None) -> None:
    titled = Passage(text="It scatters light.", title="Blue sky")
    key = (WHY.text, "Blue sky\nIt scatters light.")

    judged = only(judge_coverage([trace(titled)], ScriptedScorer({key: 0.9}), locator=ScriptedLocator({key: located})))

    assert judged.chunks is not None
    found = judged.chunks[0].fragment
    assert (found.of(titled.text) if found else None) == fragment


def test_the_position_is_where_the_answers_fragment_begins() -> None:
    answer = "Grass is green. The sky is blue."
    scorer = ScriptedScorer({(WHY.text, answer): 0.8})
    locator = ScriptedLocator({(WHY.text, answer): "The sky"})

    judged = only(judge_coverage([trace(answer=answer)], scorer, locator=locator))

    assert judged.position == 4 / 7


def test_without_a_locator_there_are_no_fragments_or_positions() -> None:
    scorer = KeywordScorer()

    judged = only(judge_coverage([trace(BLUE, answer=BLUE)], scorer))

    assert judged.answer is not None
    assert judged.answer.covered
    assert judged.answer.fragment is None
    assert judged.position is None


@pytest.mark.parametrize(
    ("retrieved", "prompt", "answer", "loss"),
    [
        ((GRASS,), (GRASS,), GRASS, Loss.NOT_RETRIEVED),
        ((BLUE, GRASS), (GRASS,), GRASS, Loss.DROPPED),
        ((BLUE, GRASS), (BLUE,), GRASS, Loss.UNUSED),
        ((BLUE, GRASS), None, GRASS, Loss.UNUSED),
        ((), (BLUE,), GRASS, Loss.UNUSED),
        ((), (GRASS,), GRASS, Loss.NOT_RETRIEVED),
        ((GRASS,), (BLUE,), GRASS, Loss.UNUSED),
        ((), None, GRASS, None),
        ((BLUE,), (BLUE,), None, None),
        ((BLUE,), (BLUE,), BLUE, None),
    ],
)
def test_what_the_answer_leaves_out_was_lost_somewhere(
    retrieved: tuple[str, ...], prompt: tuple[str, ...] | None, answer: str | None, loss: Loss | None
) -> None:
    given_trace = trace(*retrieved, prompt=prompt, answer=answer)

    judged = only(judge_coverage([given_trace], KeywordScorer(threshold=1.0)))

    assert judged.loss is loss


def test_what_a_reranker_drops_is_lost_between_retrieval_and_prompt() -> None:
    retrieve = RetrievalStep(passages=(passage(BLUE), passage(GRASS)))
    rerank = RetrievalStep(passages=(passage(GRASS),), kind="rerank")
    reranked = Trace(question=Question(text="Sky?"), steps=(retrieve, rerank), answer=GRASS, sub_questions=(WHY,))

    (result,) = judge_coverage([reranked], KeywordScorer(threshold=1.0))

    assert result.prompt_assumed
    assert result.sub_questions[0].loss is Loss.DROPPED


def after(*steps: RetrievalStep, prompt: tuple[Passage, ...] | None = None, answer: str | None = GRASS) -> SubQuestionCoverage:
    judged = Trace(question=Question(text="Sky?"), steps=steps, prompt=prompt, answer=answer, sub_questions=(WHY,))
    return only(judge_coverage([judged], KeywordScorer(threshold=1.0)))


FOUND_GRASS = RetrievalStep(query="Grass?", passages=(passage(GRASS),))
TIMED_OUT = RetrievalStep(query=WHY.text, error="TimeoutError: no reply in 60 s")


def test_what_was_asked_of_a_sub_engine_that_failed_is_lost_because_its_retrieval_failed() -> None:
    judged = after(FOUND_GRASS, TIMED_OUT)

    assert judged.retrieved is False
    assert judged.loss is Loss.FAILED


@pytest.mark.parametrize("query", ["why is  the sky BLUE", " Why is the sky blue? ", "Why is the sky blue?!"])
def test_a_failed_query_is_told_without_case_spaces_and_the_mark_at_its_end(query: str) -> None:
    assert after(FOUND_GRASS, RetrievalStep(query=query, kind="tool", error="it broke")).loss is Loss.FAILED


def test_where_every_retrieval_failed_all_that_the_answer_leaves_out_was_lost_by_that() -> None:
    assert after(RetrievalStep(query="Sky?", error="TimeoutError"), prompt=()).loss is Loss.FAILED


@pytest.mark.parametrize("query", ["", "?", "Sky?", WHEN.text, "Why is the sky blue at noon?"])
def test_a_failure_of_another_query_does_not_explain_what_was_not_retrieved(query: str) -> None:
    assert after(FOUND_GRASS, RetrievalStep(query=query, error="it broke")).loss is Loss.NOT_RETRIEVED


def test_a_sub_question_without_words_is_not_that_of_a_step_without_a_query() -> None:
    broken = Trace(
        question=Question(text="Sky?"),
        steps=(RetrievalStep(error="it broke"),),
        answer=GRASS,
        sub_questions=(SubQuestion(text="?", role=Role.CORE),),
    )

    assert only(judge_coverage([broken], ScriptedScorer(default=0.0))).loss is Loss.NOT_RETRIEVED


def test_a_reranker_that_failed_is_no_failed_retrieval() -> None:
    assert after(FOUND_GRASS, RetrievalStep(query=WHY.text, kind="rerank", error="it broke")).loss is Loss.NOT_RETRIEVED


def test_what_came_all_the_same_was_not_lost_to_the_failure() -> None:
    found_blue = RetrievalStep(query="Sky?", passages=(passage(BLUE),))

    assert after(TIMED_OUT, found_blue).loss is Loss.UNUSED
    assert after(TIMED_OUT, found_blue, prompt=(passage(GRASS),)).loss is Loss.DROPPED
    assert after(TIMED_OUT, prompt=(passage(BLUE),)).loss is Loss.UNUSED
    assert after(TIMED_OUT, answer=BLUE).loss is None
    assert after(TIMED_OUT, answer=None).loss is None


def test_without_retrieval_steps_chunks_are_unknown_not_empty() -> None:
    judged = only(judge_coverage([trace(prompt=(BLUE,))], KeywordScorer()))

    row = coverage_table(CoverageResult((judged,), (), 0.5, None, prompt_assumed=False, decomposed_by="given")).rows[0]

    assert judged.chunks is None
    assert judged.retrieved is None
    assert row == CoverageRow(Role.CORE, answered=False, chunks=None)


def test_a_retrieval_that_found_nothing_has_no_chunks_and_is_known() -> None:
    nothing = Trace(question=Question(text="Sky?"), steps=(RetrievalStep(),), answer=GRASS, sub_questions=(WHY,))

    judged = only(judge_coverage([nothing], KeywordScorer()))

    assert judged.chunks == ()
    assert judged.loss is Loss.NOT_RETRIEVED


def test_untyped_sub_questions_are_typed_by_rules_and_marked() -> None:
    untyped = trace(BLUE, asked=(SubQuestion(text="What is the sky?"), WHEN))

    (result,) = judge_coverage([untyped], KeywordScorer())

    roles = [(judged.role, judged.role_source) for judged in result.sub_questions]
    assert roles == [(Role.BACKGROUND, "rules"), (Role.FOLLOW_UP, "given")]


def test_sub_questions_of_which_none_has_a_role_or_is_typed_core_are_all_core() -> None:
    untyped = trace(BLUE, asked=(SubQuestion(text="What is the sky?"), SubQuestion(text="What is light?")))

    (result,) = judge_coverage([untyped], KeywordScorer())

    assert [judged.role for judged in result.sub_questions] == [Role.CORE, Role.CORE]


def test_with_typing_off_untyped_sub_questions_count_in_no_role() -> None:
    untyped = trace(BLUE, answer=BLUE, asked=(SubQuestion(text="What is the sky?"),))

    (result,) = judge_coverage([untyped], KeywordScorer(), untyped="leave")

    assert result.sub_questions[0].role is None
    assert result.rating is None
    assert not coverage_metrics([coverage_table(result)]).answered


def test_a_trace_without_sub_questions_is_decomposed_by_rules() -> None:
    bare = Trace(question=Question(text="Why is the sky blue?"), answer=BLUE)

    (result,) = judge_coverage([bare], KeywordScorer())

    assert result.decomposed_by == "rules"
    assert result.sub_questions[0].text == "Why is the sky blue?"


def test_a_decomposer_makes_the_sub_questions_of_traces_that_bring_none() -> None:
    bare = Trace(question=Question(text="Why is the sky blue?"), answer=BLUE)

    ours, given_ones = judge_coverage([bare, trace(BLUE)], KeywordScorer(), decomposer=lambda _: [WHEN])

    assert (ours.decomposed_by, given_ones.decomposed_by) == ("model", "given")
    assert ours.sub_questions[0].text == WHEN.text


TEXTS = st.one_of(st.sampled_from([BLUE, RED, GRASS, "", "  "]), st.text(max_size=30))
PASSAGES = st.lists(st.builds(Passage, text=TEXTS, title=st.one_of(st.none(), st.text(max_size=5))), max_size=3).map(tuple)
STEPS = st.lists(st.builds(RetrievalStep, passages=PASSAGES, kind=st.sampled_from(["retrieve", "rerank"])), max_size=3).map(
    tuple
)
TRACES = st.builds(
    Trace,
    question=st.just(Question(text="Why is the sky blue?")),
    steps=STEPS,
    prompt=st.one_of(st.none(), PASSAGES),
    answer=st.one_of(st.none(), TEXTS),
    sub_questions=st.lists(st.sampled_from([WHY, WHEN]), max_size=2).map(tuple),
)


@given(st.lists(TRACES, max_size=4))
def test_judging_traces_together_or_apart_is_the_same(traces: list[Trace]) -> None:
    scorer, locator = KeywordScorer(), KeywordLocator()

    together = judge_coverage(traces, scorer, locator=locator)

    assert together == [judge_coverage([each], scorer, locator=locator)[0] for each in traces]


QUERIES = st.sampled_from(["", "?", "Sky?", WHY.text, WHEN.text.upper()])
ERRORS = st.sampled_from([None, "", "it broke"])
KINDS = st.sampled_from(["retrieve", "tool", "rerank", "filter"])
MAYBE_BROKEN = st.builds(RetrievalStep, query=QUERIES, passages=PASSAGES, kind=KINDS, error=ERRORS)


@given(TRACES, st.lists(MAYBE_BROKEN, max_size=3).map(tuple))
def test_errors_change_nothing_but_the_name_of_what_was_not_retrieved(
    judged_trace: Trace, steps: tuple[RetrievalStep, ...]
) -> None:
    broken = judged_trace.model_copy(update={"steps": steps})
    whole = judged_trace.model_copy(update={"steps": tuple(step.model_copy(update={"error": None}) for step in steps)})

    with_errors, without = judge_coverage([broken, whole], KeywordScorer())

    assert Loss.FAILED not in [judged.loss for judged in without.sub_questions]
    assert [_renamed(judged) for judged in with_errors.sub_questions] == list(without.sub_questions)


def _renamed(judged: SubQuestionCoverage) -> SubQuestionCoverage:
    return replace(judged, loss=Loss.NOT_RETRIEVED) if judged.loss is Loss.FAILED else judged


@given(TRACES)
def test_verdicts_line_up_with_what_they_are_about(judged_trace: Trace) -> None:
    (result,) = judge_coverage([judged_trace], KeywordScorer(), locator=KeywordLocator())

    for judged in result.sub_questions:
        assert (judged.answer is None) == (judged_trace.answer is None)
        for verdict, chunk in zip(judged.chunks or (), judged_trace.chunks if judged.chunks is not None else (), strict=True):
            assert verdict.covered == (verdict.probability >= result.threshold)
            assert verdict.fragment is None or 0 <= verdict.fragment.start < verdict.fragment.end <= len(chunk.text)


@given(TRACES)
def test_results_survive_being_written_and_read(judged_trace: Trace) -> None:
    (result,) = judge_coverage([judged_trace], KeywordScorer(), locator=KeywordLocator())

    read = CoverageResult.from_dict(result.to_dict())

    assert read == result


@dataclass(frozen=True)
class ModeScorer:
    """Gives each mode a probability of its own, and has cuts of its own for each."""

    threshold: float = 0.5
    reply_threshold: float = 0.3
    reads_references: bool = True
    certain: CertainCuts = field(default_factory=lambda: {"passage": (0.2, 0.9), "reply": (0.1, 0.4)})

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        chances = {"passage": 0.6, "reply": 0.35, "reference": 0.45}
        return np.array([chances[mode_of(item)] for item in items], dtype=np.float32)


@dataclass(frozen=True)
class Refuser:
    """Says that whatever begins with "Sorry" abstains."""

    def abstains(self, items: Sequence[ScoringItem]) -> list[Abstention]:
        return ["wholly" if item.text.startswith("Sorry") else "no" for item in items]


def test_an_answer_is_judged_as_a_reply_with_a_cut_of_its_own() -> None:
    (result,) = judge_coverage([trace(BLUE, answer=BLUE)], ModeScorer())

    judged = only([result])
    assert judged.answer is not None
    assert (judged.answer.probability, judged.answer.covered, result.reply_threshold) == (0.35, True, 0.3)
    assert judged.chunks is not None
    assert judged.chunks[0].probability == 0.6


def test_a_verdict_between_the_two_cuts_of_its_mode_is_unsure() -> None:
    judged = only(judge_coverage([trace(BLUE, answer=BLUE)], ModeScorer()))

    assert judged.answer is not None
    assert judged.chunks is not None
    assert (judged.answer.certain, judged.chunks[0].certain) == (False, False)


def test_with_a_threshold_of_the_callers_all_verdicts_are_certain() -> None:
    judged = only(judge_coverage([trace(BLUE, answer=BLUE)], ModeScorer(), threshold=0.5))

    assert judged.answer is not None
    assert judged.answer.certain


def test_a_sub_question_with_references_is_judged_against_them() -> None:
    asked = SubQuestion("Why is the sky blue?", role=Role.CORE, references=("scattering",))

    judged = only(judge_coverage([trace(answer=BLUE, asked=(asked,))], ModeScorer()))

    assert judged.answer is not None
    assert (judged.answer.probability, judged.answer.covered) == (0.45, False)


def test_a_passage_must_agree_with_a_reference_and_answer_without_it() -> None:
    asked = SubQuestion("Why is the sky blue?", role=Role.CORE, references=("scattering",))

    judged = only(judge_coverage([trace(BLUE, answer=None, asked=(asked,))], ModeScorer()))

    assert judged.chunks is not None
    assert (judged.chunks[0].probability, judged.chunks[0].covered) == (0.45, False)


def test_a_passage_that_quotes_a_reference_must_only_answer() -> None:
    asked = SubQuestion("Why is the sky blue?", role=Role.CORE, references=("Short waves.", "scattering"))

    judged = only(judge_coverage([trace(BLUE, answer=BLUE, asked=(asked,))], ModeScorer()))

    assert judged.chunks is not None
    assert judged.answer is not None
    assert (judged.chunks[0].probability, judged.chunks[0].covered) == (0.6, True)
    assert judged.answer.probability == 0.45, "an answer is compared with the references whatever it quotes"


def test_a_passage_is_not_compared_with_a_bare_yes_or_no() -> None:
    asked = SubQuestion("Is the sky blue?", role=Role.CORE, references=("Yes.", "no"))

    judged = only(judge_coverage([trace(BLUE, answer=BLUE, asked=(asked,))], ModeScorer()))

    assert judged.chunks is not None
    assert judged.answer is not None
    assert (judged.chunks[0].probability, judged.answer.probability) == (0.6, 0.45)


def test_a_question_that_is_its_own_only_sub_question_uses_its_references() -> None:
    asked = Question("Why is the sky blue?", references=("scattering", " "))
    given = Trace(question=asked, answer=BLUE, sub_questions=(SubQuestion("why is the sky blue"),))

    judged = only(judge_coverage([given], ModeScorer(), untyped="rules"))

    assert judged.answer is not None
    assert judged.answer.probability == 0.45


def test_a_scorer_that_reads_no_references_is_asked_without_them() -> None:
    asked = SubQuestion("Why is the sky blue?", role=Role.CORE, references=("scattering",))

    judged = only(judge_coverage([trace(answer=BLUE, asked=(asked,))], ModeScorer(reads_references=False)))

    assert judged.answer is not None
    assert judged.answer.probability == 0.35


def test_a_blank_reference_of_a_sub_question_is_refused() -> None:
    with pytest.raises(ValidationError, match="a reference of a sub-question is blank"):
        SubQuestion("Why?", references=("",))


def test_an_answer_that_abstains_is_told_and_refuses_what_it_does_not_cover() -> None:
    sorry = "Sorry, I do not know."

    (result,) = judge_coverage([trace(BLUE, answer=sorry)], ScriptedScorer(), abstention=Refuser())

    assert result.abstained == "wholly"
    assert result.sub_questions[0].answer is not None
    assert result.sub_questions[0].answer.refused
    assert CoverageResult.from_dict(result.to_dict()) == result


@dataclass(frozen=True)
class PartRefuser:
    """Says of each question how far every answer declines it."""

    says: Mapping[str, Abstention]

    def abstains(self, items: Sequence[ScoringItem]) -> list[Abstention]:
        return [self.says.get(item.question, "no") for item in items]


@pytest.mark.parametrize(
    ("whole", "surely", "contradicted"),
    [("partly", 0.9, True), ("partly", 0.6, False), ("wholly", 0.9, False), ("no", 0.9, True)],
)
def test_a_part_that_only_its_answer_declines_contradicts_an_unsure_passage(
    whole: Abstention, surely: float, *, contradicted: bool
) -> None:
    scorer = ModeScorer(reply_threshold=0.4, certain={"passage": (0.2, surely), "reply": (0.1, 0.4)})
    detector = PartRefuser({"Why is the sky blue?": whole, "Since when?": "wholly"})
    asked = SubQuestion("Since when?", role=Role.CORE)

    judged = only(judge_coverage([trace(BLUE, answer=GRASS, asked=(asked,))], scorer, abstention=detector))

    assert judged.loss is Loss.UNUSED
    assert judged.evidence is not None
    assert judged.evidence.contradicted == contradicted


@pytest.mark.parametrize(
    ("question", "clear"), [("When was the director of film Jaws born?", False), ("When was Steven Spielberg born?", True)]
)
def test_that_no_passage_answers_a_nested_question_is_no_clear_loss(question: str, clear: bool) -> None:  # noqa: FBT001  # a row
    asked = SubQuestion(question, role=Role.CORE)

    judged = only(judge_coverage([trace(BLUE, answer=GRASS, asked=(asked,))], ScriptedScorer()))

    assert (judged.loss, judged.is_loss_clear) == (Loss.NOT_RETRIEVED, clear)


@pytest.mark.parametrize(("second", "told"), [("wholly", "wholly"), ("no", "partly")])
def test_an_answer_that_declines_each_of_several_parts_declines_wholly(second: Abstention, told: Abstention) -> None:
    asked = (SubQuestion("Since when?"), SubQuestion("And where?"))
    detector = PartRefuser({"Why is the sky blue?": "partly", "Since when?": "wholly", "And where?": second})

    (result,) = judge_coverage([trace(BLUE, answer=GRASS, asked=asked)], ScriptedScorer(), abstention=detector)

    assert result.abstained == told


def test_an_answer_that_covers_each_of_several_parts_declines_none() -> None:
    asked = (SubQuestion("Since when?"), SubQuestion("And where?"))
    detector = PartRefuser({"Why is the sky blue?": "partly"})
    scorer = ScriptedScorer(default=0.9)

    (result,) = judge_coverage([trace(BLUE, answer=GRASS, asked=asked)], scorer, abstention=detector)

    assert result.abstained == "no"


def test_without_a_detector_nothing_is_said_of_abstention() -> None:
    (result,) = judge_coverage([trace(answer=BLUE)], ScriptedScorer())

    assert result.abstained is None


def test_a_detector_that_returns_another_word_has_failed() -> None:
    class Odd:
        def abstains(self, items: Sequence[ScoringItem]) -> list[Any]:
            return ["perhaps" for _ in items]

    with pytest.raises(ModelFailedError, match="it must return one of no, partly, wholly each"):
        judge_coverage([trace(answer=BLUE)], ScriptedScorer(), abstention=Odd())
