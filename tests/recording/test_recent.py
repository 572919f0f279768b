from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_cover.measures import NotApplicable, TraceResult, UnknownResult
from rag_cover.recording.recent import recent_results, recent_traces
from rag_cover.traces import Trace


@given(texts=st.lists(st.text(max_size=20), max_size=6), most=st.integers(1, 4))
def test_the_latest_come_back_equal_and_in_order(texts: list[str], most: int) -> None:
    kept = recent_traces(most)
    traces = [Trace(question="Why?", answer=text) for text in texts]

    kept.extend(traces)

    assert kept.values() == tuple(traces[-most:])


def test_a_result_comes_back_equal() -> None:
    kept = recent_results(3)
    result = TraceResult(Trace(question="Why?"), {"coverage": NotApplicable("no answer")})

    kept.extend([result])

    assert kept.values() == (result,)


def test_what_cannot_be_read_back_is_kept_as_it_is() -> None:
    kept = recent_results(3)
    result = TraceResult(Trace(question="Why?"), {"politeness": UnknownResult({"polite": True})})

    kept.extend([result])

    assert kept.values()[0] is result


def test_a_text_that_no_file_takes_is_kept_as_it_is() -> None:
    kept = recent_traces(3)
    broken = Trace(question="Why?", answer="half a pair: \ud800")

    kept.extend([broken])

    assert kept.values()[0] is broken
