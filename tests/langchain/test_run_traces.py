"""Traced runs as traces: retrievals inside them, rerankers, agents, what a server kept of them, what an example knows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.tools import create_retriever_tool, tool
from langchain_core.tracers.base import BaseTracer
from langchain_core.tracers.schemas import Run
from langchain_core.vectorstores import InMemoryVectorStore
from langsmith.schemas import Run as ServedRun

from rag_cover import Trace
from rag_cover.errors import InputError
from rag_cover.stores import read_traces
from rag_cover.testing import KeywordEntailer, KeywordScorer
from rag_cover_langchain.callbacks import RagCoverCallbackHandler
from rag_cover_langchain.evaluators import GroundednessEvaluator, SubQuestionCoverageEvaluator
from rag_cover_langchain.run_traces import revive
from rag_cover_langchain.traces import trace_of, trace_of_traced
from tests.langchain.langsmiths import example
from tests.langchain.parts import ScriptedAgentModel, ScriptedChatModel

QUESTION = "Why is the sky blue?"
ANSWER = "The sky is blue because air scatters blue light."


class Keeping(BaseTracer):
    """Keeps the root runs that it traced."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[Any] = []

    def _persist_run(self, run: Run) -> None:
        self.runs.append(run)


def traced(pipeline: Runnable[Any, Any], asked: Any) -> Any:
    keeping = Keeping()
    with suppress(RuntimeError):
        pipeline.invoke(asked, {"callbacks": [keeping]})
    (run,) = keeping.runs
    return run


def served(run: Any) -> ServedRun:
    """Return a run as LangSmith's server gives it back: as JSON data."""

    def written(each: Any) -> dict[str, Any]:
        fields = ("id", "name", "run_type", "inputs", "outputs", "error", "tags", "start_time", "end_time", "trace_id")
        known = {name: getattr(each, name) for name in fields}
        return known | {"child_runs": [written(child) for child in each.child_runs]}

    def plain(value: Any) -> Any:
        if isinstance(value, Document | AIMessage | HumanMessage | ToolMessage):
            return value.model_dump()
        return str(value)

    return ServedRun(**json.loads(json.dumps(written(run), default=plain)))


def steps_of(trace: Trace) -> list[tuple[str, str, list[str | None]]]:
    return [(step.kind, step.query, [passage.id for passage in step.passages]) for step in trace.steps]


def asking(store: InMemoryVectorStore, model: ScriptedChatModel) -> Runnable[Any, Any]:
    prompted: Runnable[Any, Any] = RunnableLambda(
        lambda state: f"{state['question']}\n" + "\n".join(each.page_content for each in state["found"][:1])
    )
    retrieved = {"found": store.as_retriever(search_kwargs={"k": 2}), "question": RunnablePassthrough()}
    return RunnableLambda(lambda inputs: inputs["question"]) | retrieved | prompted | model


@pytest.mark.parametrize("kept", [lambda run: run, served], ids=["here", "from the server"])
def test_a_pipelines_retrieval_its_prompt_and_its_answer(
    store: InMemoryVectorStore, model: ScriptedChatModel, kept: Callable[[Any], Any]
) -> None:
    run = kept(traced(asking(store, model), {"question": QUESTION}))

    trace = trace_of_traced(run)

    (step,) = trace.steps
    assert (trace.question.text, trace.answer) == (QUESTION, ANSWER)
    assert (step.kind, step.query, len(step.passages)) == ("retrieve", QUESTION, 2)
    assert trace.prompt == step.passages[:1]  # what the model was shown


def test_each_of_several_retrievals_is_a_step(store: InMemoryVectorStore, model: ScriptedChatModel) -> None:
    retriever = store.as_retriever(search_kwargs={"k": 1})
    both = {"one": retriever, "other": RunnableLambda(lambda _: "Cincinnati") | retriever, "question": RunnablePassthrough()}
    pipeline: Runnable[Any, Any] = both | RunnablePassthrough.assign(answer=RunnableLambda(lambda s: s["question"]) | model)

    trace = trace_of_traced(traced(pipeline, QUESTION))

    assert sorted(step.query for step in trace.steps) == ["Cincinnati", QUESTION]
    assert trace.answer == ANSWER


def test_a_wrapping_retriever_takes_the_place_of_what_it_wraps(store: InMemoryVectorStore) -> None:
    retrievers = pytest.importorskip("langchain_classic.retrievers", reason="needs langchain-classic")
    from langchain_core.documents.compressor import BaseDocumentCompressor

    class First(BaseDocumentCompressor):
        """Keeps the first document."""

        def compress_documents(self, documents: Sequence[Document], query: str, callbacks: Any = None) -> Sequence[Document]:
            return documents[:1]

    compressing = retrievers.ContextualCompressionRetriever(
        base_compressor=First(), base_retriever=store.as_retriever(search_kwargs={"k": 3})
    )
    pipeline: Runnable[Any, Any] = RunnableLambda(lambda inputs: {"documents": compressing.invoke(inputs["question"])})

    trace = trace_of_traced(traced(pipeline, {"question": QUESTION}))

    assert len(trace.chunks) == 3
    assert len(trace.contexts()[-1]) == 1


def test_an_agents_tool_is_a_step_and_its_answer_the_last_message(store: InMemoryVectorStore) -> None:
    agents = pytest.importorskip("langchain.agents", reason="needs langchain")

    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Find documents."""
        found = store.similarity_search(query, k=1)
        return found[0].page_content, found

    agent = agents.create_agent(ScriptedAgentModel(tools=("search",), answer=ANSWER), tools=[search])
    run = traced(agent, {"messages": [{"role": "user", "content": QUESTION}]})

    trace, told = trace_of_traced(run), trace_of(run.inputs, run.outputs, None, {})

    for each in (trace, told):
        assert (each.question.text, each.answer) == (QUESTION, ANSWER)
        assert [(step.kind, step.query, len(step.passages)) for step in each.steps] == [("tool", QUESTION, 1)]
    assert trace.chunks == told.chunks


def test_a_tool_that_returns_a_text_brought_that_text() -> None:
    calling = AIMessage("", tool_calls=[{"name": "prices", "args": {"query": "pump"}, "id": "1"}])
    messages = [HumanMessage("How much?"), calling, ToolMessage("12,000 euros", tool_call_id="1"), AIMessage("12,000.")]

    trace = trace_of(None, messages, None, {})

    (step,) = trace.steps
    assert (step.kind, step.query, step.passages[0].text) == ("tool", "pump", "12,000 euros")


def test_what_tools_brought_for_earlier_questions_is_no_step_of_this_one() -> None:
    earlier = [HumanMessage("Who?"), ToolMessage("Ada.", tool_call_id="0"), AIMessage("Ada.")]
    now = [HumanMessage("How much?"), ToolMessage("12,000 euros", tool_call_id="1"), AIMessage("12,000.")]

    trace = trace_of(None, {"messages": [*earlier, *now]}, None, {})

    assert trace.question.text == "How much?"
    assert [passage.text for passage in trace.chunks] == ["12,000 euros"]


def test_where_nothing_was_traced_inside_the_outputs_tell_what_was_retrieved() -> None:
    pipeline: Runnable[Any, Any] = RunnableLambda(lambda _: {"answer": ANSWER, "documents": [Document(ANSWER, id="d")]})

    trace = trace_of_traced(traced(pipeline, {"question": QUESTION}))

    assert steps_of(trace) == [("retrieve", QUESTION, ["d"])]
    assert trace.prompt is not None


def test_an_example_tells_gold_answers_and_sub_questions_and_the_question_where_the_run_does_not() -> None:
    run = traced(RunnableLambda(lambda _: ANSWER), {"a": "x", "b": "y"})
    known = example(0, {"question": QUESTION}, {"answer": ["Air", "Light"], "sub_questions": [QUESTION]})

    trace = trace_of_traced(run, known)

    assert (trace.question.text, trace.question.references) == (QUESTION, ("Air", "Light"))
    assert [each.text for each in trace.sub_questions or ()] == [QUESTION]


def test_what_a_model_wrote_before_its_pipeline_failed_is_no_answer(model: ScriptedChatModel) -> None:
    def broken(_: object) -> None:
        message = "the sky fell"
        raise RuntimeError(message)

    failed = traced(model | RunnableLambda(broken), QUESTION)
    result = SubQuestionCoverageEvaluator(judge=KeywordScorer()).evaluate_run(failed)

    assert result.score is None
    assert str(result.comment).endswith("the run failed: RuntimeError('the sky fell')")
    assert result.target_run_id == failed.id


def test_a_run_without_a_question_has_no_score_and_says_so() -> None:
    run = traced(RunnableLambda(lambda _: ANSWER), {"a": "x", "b": "y"})

    result = SubQuestionCoverageEvaluator(judge=KeywordScorer()).evaluate_run(run)

    assert result.score is None
    assert "question" in str(result.comment)
    with pytest.raises(InputError):
        trace_of_traced(run)


def test_a_retriever_alone_can_be_evaluated(store: InMemoryVectorStore) -> None:
    run = traced(store.as_retriever(search_kwargs={"k": 1}), QUESTION)

    trace = trace_of_traced(run)

    assert (trace.question.text, trace.answer, len(trace.chunks)) == (QUESTION, None, 1)


def test_models_that_rag_cover_asks_are_no_part_of_the_pipeline(store: InMemoryVectorStore, model: ScriptedChatModel) -> None:
    from rag_cover_langchain.tags import INTERNAL

    probing = store.as_retriever(search_kwargs={"k": 1}).with_config(tags=[INTERNAL])

    def both(inputs: dict[str, str]) -> str:
        probing.invoke("Cincinnati")
        return model.invoke(inputs["question"]).text

    trace = trace_of_traced(traced(RunnableLambda(both), {"question": QUESTION}))

    assert (trace.steps, trace.answer) == ((), ANSWER)


def test_a_run_that_was_fetched_without_the_runs_inside_it() -> None:
    types = pytest.importorskip("langsmith.types.run", reason="needs a langsmith with runs of their own")
    told = {"inputs": {"question": QUESTION}, "outputs": {"answer": ANSWER, "context": [{"page_content": ANSWER}]}}
    fetched: Any = types.Run(id=str(UUID(int=1)), run_type="CHAIN", **told)

    result = GroundednessEvaluator(entailer=KeywordEntailer()).evaluate_run(fetched)

    assert (result.score, result.target_run_id) == (1.0, str(UUID(int=1)))


def test_data_in_which_documents_were_written_out_has_documents_again() -> None:
    constructor = {"lc": 1, "type": "constructor", "id": ["langchain", "Document"]}
    data = {"found": [{"page_content": "a", "id": 7, "metadata": None}, constructor | {"kwargs": {"page_content": "b"}}]}

    assert revive(data) == {"found": [Document("a", id="7"), Document("b")]}
    assert revive({"id": UUID(int=0), "text": "a"}) == {"id": UUID(int=0), "text": "a"}


@pytest.mark.parametrize("kind", ["pipeline", "agent"])
def test_a_traced_run_is_the_trace_that_the_callback_handler_records(
    kind: str, store: InMemoryVectorStore, model: ScriptedChatModel, tmp_path: Path
) -> None:
    keeping, asked = Keeping(), dict[str, Any](question=QUESTION)
    pipeline = asking(store, model)
    if kind == "agent":
        agents = pytest.importorskip("langchain.agents", reason="needs langchain")
        search = create_retriever_tool(store.as_retriever(search_kwargs={"k": 2}), "search", "Find documents.")
        pipeline = agents.create_agent(ScriptedAgentModel(tools=("search",), answer=ANSWER), tools=[search])
        asked = {"messages": [{"role": "user", "content": QUESTION}]}

    with RagCoverCallbackHandler(measures=(), traces=tmp_path / "traces.jsonl") as handler:
        pipeline.invoke(asked, {"callbacks": [handler, keeping]})

    (there,) = read_traces(tmp_path / "traces.jsonl")
    here = trace_of_traced(keeping.runs[0])
    assert steps_of(here) == steps_of(there)
    assert (here.question, here.answer, here.prompt) == (there.question, there.answer, there.prompt)


def test_a_retrieval_that_failed_is_a_step_that_says_why() -> None:
    class Gone(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            message = "the index is gone"
            raise RuntimeError(message)

    pipeline: Runnable[Any, Any] = RunnableLambda(lambda inputs: inputs["question"]) | Gone().with_fallbacks(
        [RunnableLambda(lambda _: [Document("…")])]
    )

    trace = trace_of_traced(traced(pipeline | RunnableLambda(lambda _: ANSWER), {"question": QUESTION}))

    assert [step.error for step in trace.steps if step.error] == ["RuntimeError: the index is gone"]
    assert trace.answer == ANSWER


def test_what_a_run_says_of_its_question_is_heard() -> None:
    keeping, said = Keeping(), {"references": ["Air"]}

    pipeline: Runnable[Any, Any] = RunnableLambda(lambda _: {"answer": ANSWER, "documents": [Document("…")]})
    pipeline.invoke({"question": QUESTION}, {"callbacks": [keeping], "metadata": {"rag_cover": said}})
    trace = trace_of_traced(keeping.runs[0])

    assert trace.question.references == ("Air",)


def test_a_served_run_gives_the_score_of_the_run(store: InMemoryVectorStore, model: ScriptedChatModel) -> None:
    run, evaluator = traced(asking(store, model), {"question": QUESTION}), GroundednessEvaluator(entailer=KeywordEntailer())

    here, there = evaluator.evaluate_run(run), evaluator.evaluate_run(served(run))

    assert here.score == there.score == 1.0
    assert here.metadata == there.metadata
