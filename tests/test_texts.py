from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rag_cover.texts import group_lengths, sentences, windows


def test_abbreviations_initials_and_decimals_do_not_end_a_sentence() -> None:
    text = "Dr. A. Smith measured 3.5 kW, e.g. at noon. It rose. See [1]. Why?"

    assert [span.of(text) for span in sentences(text)] == [
        "Dr. A. Smith measured 3.5 kW, e.g. at noon.",
        "It rose.",
        "See [1].",
        "Why?",
    ]


def test_lines_and_list_items_are_sentences() -> None:
    text = "Steps:\n- first\n- second\n\nDone"

    assert [span.of(text) for span in sentences(text)] == ["Steps:", "- first", "- second", "Done"]


def test_a_long_run_without_an_end_is_cut_at_white_space() -> None:
    text = "word " * 2_000

    assert max(span.end - span.start for span in sentences(text)) <= 2_000
    assert all(span.of(text).startswith("word") for span in sentences(text))


@given(st.text())
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    found = sentences(text)

    assert "".join("".join(span.of(text).split()) for span in found) == "".join(text.split())
    assert all(span.of(text) == span.of(text).strip() for span in found)


@given(st.lists(st.integers(1, 20)), st.integers(1, 40), st.integers(0, 3))
def test_groups_hold_every_part_within_their_size_and_none_stands_inside_another(
    lengths: list[int], size: int, overlap: int
) -> None:
    groups = group_lengths(lengths, size=size, overlap=overlap)

    assert {part for first, stop in groups for part in range(first, stop)} == set(range(len(lengths)))
    assert all(sum(lengths[first:stop]) <= size or stop - first == 1 for first, stop in groups)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(groups))


def test_windows_share_a_sentence() -> None:
    text = "One. Two. Three."

    found = windows(sentences(text), size=2, length=lambda _: 1)

    assert [span.of(text) for span in found] == ["One. Two.", "Two. Three."]
