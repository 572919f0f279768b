from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_cover.errors import InputError
from rag_cover.importers import import_traces

_SAMPLE = {
    "user_input": "When was the first Super Bowl?",
    "retrieved_contexts": ["The first Super Bowl was played in 1967.", "It was in Los Angeles."],
    "reference_contexts": ["January 15, 1967"],
    "response": "In 1967.",
    "reference": "On January 15, 1967.",
    "rubrics": {"score1": "wrong"},
    "persona_name": None,
}


def _lines(folder: Path, *rows: object) -> Path:
    path = folder / "ragas.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return path


def test_a_sample_becomes_a_trace_with_one_retrieval(tmp_path: Path) -> None:
    path = _lines(tmp_path, _SAMPLE)

    (trace,) = import_traces(path)

    assert trace.question.text == "When was the first Super Bowl?"
    assert trace.question.references == ("On January 15, 1967.",)
    assert trace.answer == "In 1967."
    assert [passage.text for passage in trace.steps[0].passages] == _SAMPLE["retrieved_contexts"]
    assert trace.steps[0].query == trace.question.text
    assert trace.prompt is None


def test_what_a_trace_has_no_field_for_is_kept_as_metadata(tmp_path: Path) -> None:
    path = _lines(tmp_path, _SAMPLE)

    (trace,) = import_traces(path)

    assert trace.metadata == {"reference_contexts": ["January 15, 1967"], "rubrics": {"score1": "wrong"}}


def test_column_names_of_before_are_read(tmp_path: Path) -> None:
    row = {"question": "Who?", "answer": "Me.", "contexts": ["I did."], "ground_truths": ["Me.", "I."], "episode_done": True}
    path = _lines(tmp_path, row)

    (trace,) = import_traces(path)

    assert (trace.question.text, trace.answer, trace.question.references) == ("Who?", "Me.", ("Me.", "I."))
    assert trace.chunks[0].text == "I did."
    assert trace.metadata == {"episode_done": True}


def test_contexts_take_the_ids_ragas_wrote_beside_them(tmp_path: Path) -> None:
    path = _lines(tmp_path, {"user_input": "q", "retrieved_contexts": ["a", "b"], "retrieved_context_ids": [1, "two"]})

    (trace,) = import_traces(path)

    assert [passage.id for passage in trace.steps[0].passages] == ["1", "two"]


def test_ids_that_do_not_match_the_contexts_are_an_error(tmp_path: Path) -> None:
    path = _lines(tmp_path, {"user_input": "q", "retrieved_contexts": ["a"], "retrieved_context_ids": ["1", "2"]})

    with pytest.raises(InputError, match="2 ids for 1 contexts"):
        list(import_traces(path))


def test_no_contexts_means_no_retrieval_and_an_empty_list_one_that_found_nothing(tmp_path: Path) -> None:
    path = _lines(tmp_path, {"user_input": "q", "response": "a"}, {"user_input": "q", "retrieved_contexts": []})

    without, empty = import_traces(path)

    assert without.steps == ()
    assert [step.passages for step in empty.steps] == [()]


def test_csv_cells_hold_lists_as_python_or_json(tmp_path: Path) -> None:
    path = tmp_path / "ragas.csv"
    path.write_text('user_input,retrieved_contexts,response\nq1,"[\'an \\n end\', \'b\']",a\nq2,"[""x"", ""y""]",b\n', "utf-8")

    first, second = import_traces(path)

    assert [passage.text for passage in first.chunks] == ["an \n end", "b"]
    assert [passage.text for passage in second.chunks] == ["x", "y"]


def test_a_printed_numpy_array_is_refused_and_not_glued_together(tmp_path: Path) -> None:
    path = tmp_path / "ragas.csv"
    path.write_text("user_input,retrieved_contexts\nq,\"['one' 'two']\"\n", "utf-8")

    with pytest.raises(InputError, match="neither JSON nor a Python literal") as caught:
        list(import_traces(path))

    assert (caught.value.line, caught.value.field) == (2, "row 1, $.retrieved_contexts")


def test_a_conversation_is_refused(tmp_path: Path) -> None:
    path = _lines(tmp_path, {"user_input": [{"content": "hi", "type": "human"}], "reference": "x"})

    with pytest.raises(InputError, match="conversation") as caught:
        list(import_traces(path))

    assert caught.value.line == 1


def test_a_blank_question_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = _lines(tmp_path, _SAMPLE, {"user_input": "  ", "response": "a"})

    with pytest.raises(InputError) as caught:
        list(import_traces(path))

    assert str(caught.value) == f"{path}, line 2, at $.user_input: the question is blank"
