"""What a pipeline is to be asked: a text in place of a list of questions, or of a file, is told from a path."""

from __future__ import annotations

import pytest

from rag_cover.errors import InputError, InvalidValueError
from rag_cover.integration.datasets import Dataset
from rag_cover.stores.validation import trace_from


@pytest.mark.parametrize("text", ["Is there wifi?", "opening hours of the museum"])
def test_one_question_is_no_file(text: str) -> None:
    with pytest.raises(
        InvalidValueError, match=f"questions is one text, '{text[:5]}.*; give a list of questions, or the path of a file"
    ):
        Dataset(text)


@pytest.mark.parametrize("path", ["no/such/questions.jsonl", "my own questions.jsonl", "questions"])
def test_a_path_stays_one(path: str) -> None:
    with pytest.raises(InputError, match="no such file"):
        Dataset(path)


@pytest.mark.parametrize("name", ["references", "reference", "ground_truth", "expected_output"])
def test_gold_answers_may_stand_beside_a_question(name: str) -> None:
    (question,) = Dataset([{"question": "What is the deposit?", name: "50 euros"}]).questions

    assert question.references == ("50 euros",)


def test_a_data_frame_is_read_by_its_rows() -> None:
    frames = pytest.importorskip("pandas", reason="needs pandas")

    (question,) = Dataset(frames.DataFrame({"question": ["What is the deposit?"], "reference": ["50 euros"]})).questions

    assert (question.text, question.references) == ("What is the deposit?", ("50 euros",))


def test_a_mapping_is_no_list_of_questions() -> None:
    with pytest.raises(InvalidValueError, match="their gold answers as references="):
        Dataset({"What is the deposit?": "50 euros"})


@pytest.mark.parametrize(
    ("field", "told"), [("references", "Gold answers belong to the question"), ("contexts", "passages belong to a step")]
)
def test_what_others_call_so_is_told_its_place_in_a_trace(field: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        trace_from({"question": "What is the deposit?", field: ["50 euros"]})
