"""Outcomes of models read from tables, long and wide."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_cover.errors import IncomparableError, InputError
from rag_cover.importers import read_outcomes

LONG = "question,model,outcome,cost,subject\n"
WIDE = (
    "sample_id,prompt,eval_name,small,small|total_cost,small|model_response,large,large|total_cost,oracle_model_to_route_to\n"
)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_long_table_has_a_row_for_each_question_and_model(tmp_path: Path) -> None:
    rows = "Who?,small,1,0.2,books\nwho,small,false,0.4,books\nWho?,large,0.25,4,books\nWhy?,large,1,6,\nWhy?,small,,,law\n"

    found = read_outcomes(write(tmp_path / "table.csv", LONG + rows))

    assert found.responses.agents == ("small", "large")
    assert found.responses.questions == ("Who?", "Why?")
    assert np.array_equal(found.responses.values, [[0.5, 0.25], [np.nan, 1.0]], equal_nan=True)
    assert found.subjects == ("books", "law")
    assert found.costs == {"small": pytest.approx(0.3), "large": 5.0}
    assert found.repeated == 1
    assert "Not observed: 1 outcomes." in found.notes


def test_a_wide_table_is_read_as_routerbench_has_it(tmp_path: Path) -> None:
    rows = "a.1,\"['Who?', 'When?']\",mt-bench,0.0,0.2,Bob,1.0,4,large\na.2,Why?,books,1.0,0.4,Ann,0.5,2,small\n"

    found = read_outcomes(write(tmp_path / "table.csv", WIDE + rows))

    assert found.responses.agents == ("small", "large")
    assert found.responses.questions == ("Who?\nWhen?", "Why?")
    assert found.responses.values.tolist() == [[0.0, 1.0], [1.0, 0.5]]
    assert found.subjects == ("mt-bench", "books")
    assert found.costs == {"small": pytest.approx(0.3), "large": 3.0}


def test_a_wide_table_without_costs_has_models_where_numbers_stand(tmp_path: Path) -> None:
    rows = [{"question": "Who?", "a": True, "b": 0, "note": "x"}, {"question": "Why?", "a": None, "b": 1.0, "note": "y"}]

    found = read_outcomes(write(tmp_path / "table.jsonl", "\n".join(map(json.dumps, rows))))

    assert found.responses.agents == ("a", "b")
    assert np.array_equal(found.responses.values, [[1.0, 0.0], [np.nan, 1.0]], equal_nan=True)
    assert found.costs == {}


def test_costs_of_some_models_alone_are_not_kept_and_it_is_said(tmp_path: Path) -> None:
    found = read_outcomes(write(tmp_path / "table.csv", LONG + "Who?,small,1,2,\nWho?,large,1,,\n"))

    assert found.costs == {}
    assert "Costs are given of small alone, so none are kept." in found.notes


def test_a_question_that_is_filed_under_two_subjects_has_none(tmp_path: Path) -> None:
    found = read_outcomes(write(tmp_path / "table.csv", LONG + "Who?,small,1,,law\nWho?,large,1,,art\n"))

    assert found.subjects == (None,)


@pytest.mark.parametrize(
    ("text", "line", "field", "said"),
    [
        (LONG + "Who?,small,1,,\nWho?,large,good,,\n", 3, "$.outcome", "is no outcome"),
        (LONG + "Who?,small,1.5,,\n", 2, "$.outcome", "a number from 0 to 1"),
        (LONG + "Who?,small,nan,,\n", 2, "$.outcome", "is no outcome"),
        (LONG + "Who?,small,1,-1,\n", 2, "$.cost", "is no cost"),
        (LONG + "Who?,small,1,inf,\n", 2, "$.cost", "is no cost"),
        (LONG + "Who?, ,1,,\n", 2, "$.model", "there is no model here"),
        (LONG + ",small,1,,\n", 2, "$.question", "there is no question here"),
        (LONG + "?,small,1,,\n", 2, "$.question", "no letters or digits"),
        (WIDE + "1,Who?,books,0,0.2,Bob,2,4,large\n", 2, "$.large", "is no outcome"),
        (WIDE + "1,Who?,books,0,much,Bob,1,4,large\n", 2, "small|total_cost", "is no cost"),
        ("question,model\nWho?,small\n", 2, "$.outcome", "there is no outcome here"),
    ],
)
def test_a_bad_cell_is_named_by_file_line_and_field(tmp_path: Path, text: str, line: int, field: str, said: str) -> None:
    path = write(tmp_path / "table.csv", text)

    with pytest.raises(InputError, match=said) as bad:
        read_outcomes(path)

    assert (bad.value.file, bad.value.line) == (path, line)
    assert bad.value.field is not None
    assert field in bad.value.field


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("table.csv", "", "the file holds no rows"),
        ("table.csv", LONG, "the file holds no rows"),
        ("table.csv", "question,answer\nWho?,Ann\n", "names no models"),
        ("table.csv", LONG + "Who?,small,,,\n", "no row has an outcome"),
        ("table.pkl", "x", "write a pickle as CSV or JSONL"),
        ("table.jsonl", '{"question": "Who?", "model": "a", "outcome": [1]}\n', "is no outcome"),
        ("table.jsonl", '{"question": {"a": 1}, "model": "a", "outcome": 1}\n', "question"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_outcomes(write(tmp_path / name, text))


def test_one_model_tells_nothing_apart(tmp_path: Path) -> None:
    with pytest.raises(IncomparableError, match="outcomes of one model, 'small'"):
        read_outcomes(write(tmp_path / "table.csv", LONG + "Who?,small,1,,\n"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["who", "why", "when"]), st.sampled_from("ab"), st.sampled_from([0.0, 0.5, 1.0])),
        min_size=1,
        max_size=12,
        unique_by=lambda row: row[:2],
    ).filter(lambda rows: len({model for _, model, _ in rows}) == 2)
)
def test_long_and_wide_tables_of_the_same_outcomes_are_read_alike(tmp_path: Path, rows: list[tuple[str, str, float]]) -> None:
    known = {(question, model): outcome for question, model, outcome in rows}
    questions = list(dict.fromkeys(question for question, _, _ in rows))
    models = list(dict.fromkeys(model for _, model, _ in rows))
    wide = [{"question": q, **{m: known.get((q, m)) for m in models}} for q in questions]
    long = [{"question": q, "model": m, "outcome": known.get((q, m))} for q in questions for m in models]

    one, other = (
        read_outcomes(write(tmp_path / f"{name}.jsonl", "\n".join(map(json.dumps, table))))
        for name, table in (("wide", wide), ("long", long))
    )

    order = one.responses.of_agents(other.responses.agents)
    assert order.questions == other.responses.questions
    assert np.array_equal(order.values, other.responses.values, equal_nan=True)
