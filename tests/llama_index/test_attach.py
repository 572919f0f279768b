"""Attaching again is one recording; what vector stores do is heard for as long as something is recorded."""

from __future__ import annotations

import gc
import threading
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import VectorStoreIndex
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index_instrumentation import get_dispatcher

from rag_cover import Evaluation
from rag_cover.errors import InvalidValueError
from rag_cover.measures import TraceResult
from rag_cover.recording import Recording
from rag_cover.testing import KeywordEntailer, KeywordScorer
from rag_cover_llama_index.attachment import attach
from tests.llama_index.parts import ScriptedLLM
from tests.llama_index.recordings import SKY, only

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of what others left, collected

JUDGE = KeywordScorer()


def cell() -> Recording:
    """Do what a cell of a notebook does that is run again: its list, its mapping and its function are new each time."""

    def show(_: TraceResult) -> None: ...

    return attach(measures=["coverage"], judge=JUDGE, references={SKY: ["Air."]}, on_result=show)


def test_a_cell_that_is_run_again_gives_the_same_recording(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    before = len(get_dispatcher().span_handlers)
    first = cell()
    with cell() as second:
        index.as_query_engine(llm=llm).query(SKY)

        assert second is first
        assert len(get_dispatcher().span_handlers) == before + 1
        assert only(first).question.text == SKY
    assert first.is_closed
    assert len(get_dispatcher().span_handlers) == before


def test_other_options_are_another_recording() -> None:
    with attach(measures=()) as one, attach(measures=(), keep=5) as other:
        assert one is not other


def test_a_recording_that_was_closed_or_detached_is_not_given_again() -> None:
    first = attach(measures=())
    first.close()
    second = attach(measures=())
    second.detach()
    with attach(measures=()) as third:
        assert len({id(each) for each in (first, second, third)}) == 3
    second.close()


def test_a_recording_that_is_entered_twice_is_closed_with_the_outer_block() -> None:
    with attach(measures=()) as outer:
        with attach(measures=()) as inner:
            assert inner is outer
        assert not outer.is_closed
    assert outer.is_closed


def test_a_line_that_keeps_nothing_records_on(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    attach(measures=(), pipeline="the one line")
    gc.collect()
    index.as_query_engine(llm=llm).query(SKY)

    with attach(measures=(), pipeline="the one line") as recording:
        assert only(recording).pipeline == "the one line"


def test_vector_stores_have_their_own_methods_once_nothing_is_recorded() -> None:
    before = SimpleVectorStore.query
    for _ in range(2):
        with attach(measures=()):
            assert SimpleVectorStore.query is not before
        assert SimpleVectorStore.query is before


@pytest.mark.slow
def test_thousands_of_recordings_in_a_row_leave_no_threads_and_no_handlers(index: VectorStoreIndex, llm: ScriptedLLM) -> None:
    engine = index.as_query_engine(llm=llm)
    before = threading.active_count(), len(get_dispatcher().span_handlers), len(get_dispatcher().event_handlers)

    for number in range(1000):
        with attach(measures=("coverage",), judge=JUDGE) as recording:
            if number % 100 == 0:
                engine.query(SKY)
        assert recording.errors == ()

    for _ in range(200):  # the last recording's thread ends after it, and where others use the processor, later
        if threading.active_count() <= before[0] + 1:
            break
        time.sleep(0.05)
    assert threading.active_count() <= before[0] + 1
    assert (len(get_dispatcher().span_handlers), len(get_dispatcher().event_handlers)) == before[1:]


@pytest.mark.slow
def test_a_process_of_its_own_measures_what_an_engine_answered(
    index: VectorStoreIndex, llm: ScriptedLLM, tmp_path: Path
) -> None:
    results = tmp_path / "results.sqlite"
    options: Any = {"measures": ["groundedness"], "judge": JUDGE, "entailer": KeywordEntailer()}

    with attach(store=results, measuring="process", **options) as recording:
        index.as_query_engine(llm=llm).query(SKY)
        assert recording.flush(60)
        recorded = recording.traces

    (result,) = Evaluation.open(results).results
    assert (result.trace, result.failures, list(result.measured)) == (recorded[0], {}, ["groundedness"])
    assert recording.errors == ()


def test_a_language_model_that_holds_a_function_cannot_be_sent_to_another_process(llm: ScriptedLLM, tmp_path: Path) -> None:
    llm.completion_to_prompt = lambda text: text
    before = len(get_dispatcher().span_handlers)

    with pytest.raises(InvalidValueError, match="The model given as judge cannot be sent to another process"):
        attach(store=tmp_path / "results.sqlite", measures=["coverage"], judge=llm, measuring="process")

    assert len(get_dispatcher().span_handlers) == before
