"""An augmentation goes to JSON and back, and becomes a trace that measures as any other."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from rag_cover import evaluate
from rag_cover.augmentation.result import Augmentation, AugmentationMode, Purchase, Sought
from rag_cover.backends import Failure, Message
from rag_cover.belief import TraceUtility
from rag_cover.coverage import CoverageResult, augment
from rag_cover.questions import Passage, Question, Role, SubQuestion
from rag_cover.registry import Models
from rag_cover.testing import (
    KeywordEntailer,
    KeywordScorer,
    ScriptedGenerator,
    ScriptedReceiver,
    ScriptedRetriever,
)
from rag_cover.traces import RetrievalStep, Trace

QUESTION = Question("Why is the sky blue and grass green?", id="q1", references="Air scatters short waves.")
SKY, GRASS = "Why is the sky blue?", "Why is grass green?"
BACKGROUND = SubQuestion("What is light?", role=Role.BACKGROUND)
AIR = Passage("The sky is blue because air scatters light.", id="air", title="Sky", score=0.5, metadata={"page": [1, None]})
LEAF, CLOUD = Passage("Grass is green because of chlorophyll."), Passage("Clouds are white.", id="cloud")

TEXT = st.text(max_size=8)
WORDS = TEXT.filter(str.strip)
MAYBE = st.none() | TEXT
SHARE = st.none() | st.floats(0, 1)
PASSAGES = st.lists(st.builds(Passage, TEXT, id=MAYBE, title=MAYBE, score=SHARE), max_size=3).map(tuple)
STEPS = st.lists(st.builds(RetrievalStep, query=TEXT, passages=PASSAGES, error=MAYBE), max_size=4).map(
    lambda steps: tuple(step.model_copy(update={"id": f"step-{number}"}) for number, step in enumerate(steps, 1))
)
SOUGHT = st.builds(
    Sought,
    text=TEXT,
    given=WORDS,
    role_source=st.sampled_from([None, "given", "rules", "model:x"]),
    step=MAYBE,
    covered_at_first=st.none() | st.booleans(),
    covered=st.none() | st.booleans(),
    probability=SHARE,
    answer=MAYBE,
)
AUGMENTATIONS = st.builds(
    Augmentation,
    question=st.builds(Question, WORDS, id=MAYBE, references=st.lists(TEXT, max_size=2)),
    mode=st.sampled_from(["definition", "subquestions", "retrieval", "end-to-end", "auto"]),
    sub_questions=st.lists(SOUGHT, max_size=3).map(tuple),
    steps=STEPS,
    passages=PASSAGES,
    prompt=st.lists(st.builds(Message, st.sampled_from(["system", "user"]), TEXT), max_size=2).map(tuple),
    answer=MAYBE,
    bought=st.lists(st.builds(Purchase, TEXT, TEXT, st.lists(TEXT, max_size=2).map(tuple), SHARE), max_size=2).map(tuple),
    others=st.lists(st.builds(SubQuestion, WORDS, role=st.sampled_from(Role)), max_size=2).map(tuple),
    rounds=st.integers(0, 4),
    threshold=SHARE,
    failures=st.lists(st.builds(Failure, TEXT, TEXT, st.integers(1, 3), MAYBE), max_size=2).map(tuple),
    notes=st.lists(TEXT, max_size=2).map(tuple),
)


def augmented(
    mode: AugmentationMode = "retrieval", *, sub_questions: tuple[SubQuestion | str, ...] = (SKY, GRASS)
) -> Augmentation:
    return augment(
        QUESTION,
        ScriptedRetriever({QUESTION.text: [CLOUD], SKY: [AIR], GRASS: [LEAF, CLOUD], "Who?": TimeoutError("60 s")}),
        ScriptedGenerator(default="Air scatters light, and grass is green because of chlorophyll."),
        mode=mode,
        scorer=KeywordScorer(),
        sub_questions=sub_questions,
        receiver=ScriptedReceiver({"air": ("Air scatters short waves.",)}, prior=("Magic.",)),
        entailer=KeywordEntailer(),
        k=2,
    )


def sub_questions_of(trace: Trace) -> list[str]:
    return [each.text for each in trace.sub_questions or ()]


@given(AUGMENTATIONS)
def test_any_augmentation_goes_to_json_and_back(found: Augmentation) -> None:
    assert Augmentation.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False))) == found


def test_what_was_measured_goes_along() -> None:
    found = augmented(sub_questions=(SKY, BACKGROUND, "Who?"))

    back = Augmentation.from_dict(json.loads(json.dumps(found.to_dict())))

    assert back == found
    assert back.utility is not None
    assert back.failures
    assert back.passages[0].metadata == {"page": [1, None]}


@given(AUGMENTATIONS)
def test_any_augmentation_is_a_trace_that_goes_to_json_and_back(found: Augmentation) -> None:
    trace = found.trace(pipeline="augmented")

    assert Trace.model_validate_json(trace.to_json()) == trace
    assert trace.pipeline == "augmented"
    assert len(set(sub_questions_of(trace))) == len(sub_questions_of(trace))


def test_a_trace_holds_the_searches_and_what_was_kept() -> None:
    found = augmented(sub_questions=(SKY, "Who?"))

    trace = found.trace()

    assert [(step.id, step.kind, step.error) for step in trace.steps] == [
        ("step-1", "retrieve", None),
        ("step-2", "retrieve", None),
        ("step-3", "retrieve", "TimeoutError: 60 s"),
        ("kept", "rerank", None),
    ]
    assert trace.steps[-1].input_ids == ("step-1", "step-2")
    assert trace.prompt == trace.contexts()[-1] == found.passages
    assert (trace.question, trace.answer) == (QUESTION, found.answer)


def test_a_trace_names_every_sub_question_once() -> None:
    found = augmented(sub_questions=(SKY, GRASS, SKY, "#1", SubQuestion(SKY, role="background"), BACKGROUND))

    trace = found.trace()

    assert sub_questions_of(trace)[:2] == [SKY, GRASS]
    assert sub_questions_of(trace).count(SKY) == 1
    assert [each.role for each in trace.sub_questions or ()][:2] == [Role.CORE, Role.CORE]


def test_sub_questions_that_are_equal_without_their_slots_are_one() -> None:
    found = augment(
        QUESTION,
        ScriptedRetriever(default=[CLOUD]),
        scorer=KeywordScorer(),
        sub_questions=["Who?", "Why?", "When was #1 born?", "When was #2 born?", "#1"],
    )

    assert sub_questions_of(found.trace()) == ["Who?", "Why?", "When was born?"]


def test_without_sub_questions_a_trace_leaves_them_open() -> None:
    assert augmented(sub_questions=()).trace().sub_questions is None


def test_an_answer_that_was_put_together_was_written_from_all_that_was_found() -> None:
    found = augmented("end-to-end")

    trace = found.trace()

    assert len(found.passages) == 2
    assert trace.prompt == trace.contexts()[-1] == (AIR, LEAF, CLOUD)
    assert all(step.kind == "retrieve" for step in trace.steps)


def test_a_trace_tells_how_it_came_about() -> None:
    told = augmented(sub_questions=(SKY, "Who?")).trace().metadata["augmentation"]

    assert (told["mode"], told["calls"]) == ("retrieval", 3)
    assert told["sub_questions"][0]["covered_at_first"] is False
    assert "answer" not in told["sub_questions"][0]
    assert told["bought"][0]["covered"] == [SKY]
    assert told["failures"][0]["kind"] == "retrieval"
    assert "rounds" not in told


def test_a_trace_measures_as_any_other() -> None:
    models = Models(judge=KeywordScorer(), entailer=KeywordEntailer(), receiver=ScriptedReceiver())
    traces = [augmented(mode).trace(pipeline=mode) for mode in ("retrieval", "end-to-end", "auto")]

    evaluated = evaluate(traces, models=models, measures=["coverage", "utility"])

    for result in evaluated.results:
        coverage, utility = result.outcomes["coverage"], result.outcomes["utility"]
        assert isinstance(coverage, CoverageResult)
        assert isinstance(utility, TraceUtility)
        assert [each.text for each in coverage.sub_questions] == [SKY, GRASS]


def test_what_is_uncovered_was_judged() -> None:
    sought = [Sought("a", "a", covered=False), Sought("b", "b", covered=True), Sought("c", "c", covered=None)]

    assert Augmentation(QUESTION, "auto", tuple(sought), (), ()).uncovered == ("a",)
