from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rag_cover.stats.question_rows import QuestionRows


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(-5, 5))))
def test_rows_add_up_by_question_in_the_order_of_first_sight(added: list[tuple[int, int]]) -> None:
    rows, known = QuestionRows(2), dict[str, list[float]]()

    for question, number in added:
        rows.add(f"q{question}", [number, 1])
        before = known.get(f"q{question}", [0.0, 0.0])
        known[f"q{question}"] = [before[0] + number, before[1] + 1]

    assert {name: row.tolist() for name, row in rows.items()} == known
    assert rows.matrix().tolist() == list(known.values())


def test_rows_that_share_their_questions_stay_apart() -> None:
    rows = QuestionRows(1)
    beside = QuestionRows(2, places=rows.places)

    for number in range(2000):
        rows.add(f"q{number}", [number])
    beside.add("q1999", [1, 2])

    assert beside.matrix().shape == (2000, 2)
    assert beside.sums_of(["q0", "q1999"]) == [1.0, 2.0]
    assert rows["q1999"].tolist() == [1999.0]
