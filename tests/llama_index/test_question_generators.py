from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import VectorStoreIndex
from llama_index.core.query_engine import RetrieverQueryEngine, SubQuestionQueryEngine
from llama_index.core.question_gen.types import SubQuestion as FrameworkSubQuestion
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import QueryBundle
from llama_index.core.tools import QueryEngineTool
from llama_index.core.tools.types import ToolMetadata

from rag_cover import Question, SubQuestion
from rag_cover.errors import InvalidValueError
from rag_cover_llama_index.question_generators import RagCoverQuestionGenerator, TypedSubQuestion
from tests.llama_index.loops import Gate
from tests.llama_index.parts import ScriptedLLM

TWO = "Why is the sky blue and how much does a heat pump cost?"
SKY = ToolMetadata(name="sky_notes", description="Notes on light, colours and the weather in the sky.")
HOUSE = ToolMetadata(name="house_manual", description="Heating a house: heat pumps, their prices and insulation.")


def asked(made: list[FrameworkSubQuestion]) -> list[tuple[str, str]]:
    return [(each.sub_question, each.tool_name) for each in made]


def given(*sub_questions: SubQuestion) -> RagCoverQuestionGenerator:
    def split(_question: Question) -> tuple[SubQuestion, ...]:
        return sub_questions

    return RagCoverQuestionGenerator(split)


def test_core_sub_questions_go_to_the_nearest_tool() -> None:
    made = RagCoverQuestionGenerator().generate([SKY, HOUSE], QueryBundle(TWO))

    assert ("Why is the sky blue?", "sky_notes") in asked(made)
    assert ("How much does a heat pump cost?", "house_manual") in asked(made)
    assert all(isinstance(each, TypedSubQuestion) and each.role == "core" for each in made)


def test_a_sub_question_says_how_near_its_tool_is() -> None:
    (made,) = given(SubQuestion("How much does a heat pump cost?", role="core")).generate([SKY, HOUSE], QueryBundle(TWO))

    assert isinstance(made, TypedSubQuestion)
    assert (made.role, made.role_source) == ("core", "given")
    assert made.similarity is not None
    assert 0 < made.similarity < 1


def test_one_tool_is_asked_everything() -> None:
    made = RagCoverQuestionGenerator().generate([HOUSE], QueryBundle(TWO))

    assert {tool for _, tool in asked(made)} == {"house_manual"}
    assert all(isinstance(each, TypedSubQuestion) and each.similarity is None for each in made)


def test_fanned_out_every_tool_is_asked_each() -> None:
    generator = RagCoverQuestionGenerator(lambda _: [SubQuestion("Why is the sky blue?")], fan_out=True)

    assert asked(generator.generate([SKY, HOUSE], QueryBundle(TWO))) == [
        ("Why is the sky blue?", "sky_notes"),
        ("Why is the sky blue?", "house_manual"),
    ]


def test_a_question_of_no_known_shape_is_asked_itself() -> None:
    assert asked(RagCoverQuestionGenerator().generate([SKY], QueryBundle("blue sky"))) != []
    assert asked(given().generate([SKY], QueryBundle("blue sky"))) == [("blue sky", "sky_notes")]


def test_other_roles_are_asked_where_they_are_wanted() -> None:
    subs = (SubQuestion("What is light?", role="background"), SubQuestion("Why is the sky blue?", role="core"))

    assert asked(given(*subs).generate([SKY], QueryBundle(TWO))) == [("Why is the sky blue?", "sky_notes")]
    both = RagCoverQuestionGenerator(lambda _: subs, roles=("core", "background"))
    assert [text for text, _ in asked(both.generate([SKY], QueryBundle(TWO)))] == ["What is light?", "Why is the sky blue?"]


def test_a_sub_question_without_a_role_counts_as_core() -> None:
    (made,) = given(SubQuestion("Why is the sky blue?")).generate([SKY], QueryBundle(TWO))

    assert isinstance(made, TypedSubQuestion)
    assert (made.sub_question, made.role) == ("Why is the sky blue?", None)


def test_the_question_stands_in_for_what_builds_on_an_earlier_answer() -> None:
    question = "When was the director of Jaws born?"
    generator = given(SubQuestion("Who directed Jaws?"), SubQuestion("When was #1 born?"))

    made = generator.generate([SKY], QueryBundle(question))

    assert [text for text, _ in asked(made)] == ["Who directed Jaws?", question]


def test_the_question_is_not_asked_twice() -> None:
    generator = given(SubQuestion(TWO), SubQuestion("What does #1 mean?"))

    assert [text for text, _ in asked(generator.generate([SKY], QueryBundle(TWO)))] == [TWO]


def test_a_number_that_the_question_itself_has_is_no_earlier_answer() -> None:
    made = given(SubQuestion("Who sang the #1 song?")).generate([SKY], QueryBundle("Who sang the #1 song of 1999?"))

    assert [text for text, _ in asked(made)] == ["Who sang the #1 song?"]


def test_no_more_are_made_than_asked_for() -> None:
    generator = RagCoverQuestionGenerator(max_sub_questions=1)

    assert len(generator.generate([SKY, HOUSE], QueryBundle(TWO))) == 1


def test_a_language_model_splits_and_types() -> None:
    split = '{"sub_questions": ["What scatters blue light?", "What is light?"]}'
    typed = '{"types": [{"number": 1, "type": "core"}, {"number": 2, "type": "background"}]}'
    llm = ScriptedLLM(script={"Write at most": split, "Give the type": typed})

    (made,) = RagCoverQuestionGenerator(llm).generate([SKY], QueryBundle(TWO))

    assert isinstance(made, TypedSubQuestion)
    assert (made.sub_question, made.role_source) == ("What scatters blue light?", "model:scripted")


def test_where_a_model_cannot_split_rules_do_and_that_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    generator = RagCoverQuestionGenerator(ScriptedLLM(default="no JSON"))

    with caplog.at_level(logging.WARNING):
        made = generator.generate([SKY], QueryBundle(TWO))

    assert "How much does a heat pump cost?" in [text for text, _ in asked(made)]
    assert "Rules split" in caplog.text


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"roles": ("cor",)}, "no role is called 'cor'. Did you mean 'core'"),
        ({"max_sub_questions": 0}, "max_sub_questions is 0"),
        ({"decomposer": 3}, "decomposer is 'rules'"),
        ({"embedder": 3}, "'int' cannot serve as embedder"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_made(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        RagCoverQuestionGenerator(**settings)


def test_what_cannot_be_asked_is_refused() -> None:
    generator, nameless = RagCoverQuestionGenerator(), ToolMetadata(description="Something.")

    with pytest.raises(InvalidValueError, match="there is no tool to ask"):
        generator.generate([], QueryBundle(TWO))
    with pytest.raises(InvalidValueError, match="tool 1 has no name"):
        generator.generate([SKY, nameless], QueryBundle(TWO))
    with pytest.raises(InvalidValueError, match="the question is blank"):
        generator.generate([SKY], QueryBundle(" "))


def test_the_same_is_made_in_a_loop_without_blocking_it() -> None:
    gate = Gate()

    def wait(_question: Question) -> list[SubQuestion]:
        gate.wait()
        return [SubQuestion("Why is the sky blue?")]

    made = gate.run(RagCoverQuestionGenerator(wait).agenerate([SKY], QueryBundle(TWO)))

    assert asked(made) == [("Why is the sky blue?", "sky_notes")]


def test_one_generator_serves_16_threads_at_once() -> None:
    generator, together = RagCoverQuestionGenerator(), threading.Barrier(16)
    alone = asked(generator.generate([SKY, HOUSE], QueryBundle(TWO)))

    def ask(_: int) -> list[tuple[str, str]]:
        together.wait()
        return asked(generator.generate([SKY, HOUSE], QueryBundle(TWO)))

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(ask, range(16))) == [alone] * 16


@pytest.mark.parametrize("use_async", [False, True])
def test_a_sub_question_engine_answers_by_them(index: VectorStoreIndex, *, use_async: bool) -> None:
    llm = ScriptedLLM(
        script={
            "Sub question": "Both are answered.",
            "Query: How much does a heat pump cost?": "12,000 euros.",
            "Query: Why is the sky blue?": "Air scatters blue light.",
        }
    )
    synthesizer = get_response_synthesizer(llm=llm)
    engine = RetrieverQueryEngine(index.as_retriever(), synthesizer)
    tools = [QueryEngineTool(query_engine=engine, metadata=metadata) for metadata in (SKY, HOUSE)]
    whole = SubQuestionQueryEngine(RagCoverQuestionGenerator(), synthesizer, tools, verbose=False, use_async=use_async)

    response = asyncio.run(whole.aquery(TWO)) if use_async else whole.query(TWO)

    assert str(response) == "Both are answered."
    answers = "\n".join(node.get_content() for node in response.source_nodes)
    assert "Sub question: How much does a heat pump cost?\nResponse: 12,000 euros." in answers
    assert "Sub question: Why is the sky blue?\nResponse: Air scatters blue light." in answers


def test_it_has_no_templates() -> None:
    generator = RagCoverQuestionGenerator()

    generator.update_prompts({})

    assert generator.get_prompts() == {}
