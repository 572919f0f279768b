"""Texts that say the same in nearly the same words are found, exactly as by comparing all, and without comparing all."""

from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.augmentation import duplicates
from rag_cover.augmentation.duplicates import ALIKE, originals

WORDS = st.lists(st.sampled_from(["sky", "is", "blue", "air", "the", "sea"]), max_size=30)
TEXTS = st.lists(st.one_of(WORDS.map(" ".join), st.text(max_size=20)), max_size=12)


def numbered(*places: int) -> str:
    return " ".join(f"word{place}" for place in places)


def by_comparing_all(texts: list[str], alike: float) -> list[int]:
    def similarity(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
        return len(one & other) / len(one | other)

    shingled = [duplicates._shingles(text) for text in texts]
    found: list[int] = []
    for place, shingles in enumerate(shingled):
        firsts = (first for first in range(place) if found[first] == first)
        found.append(next((first for first in firsts if similarity(shingles, shingled[first]) >= alike), place))
    return found


@pytest.mark.slow
@given(TEXTS, st.sampled_from([0.3, 0.5, 0.8, ALIKE, 1.0]))
def test_they_are_those_that_comparing_all_finds(texts: list[str], alike: float) -> None:
    assert originals(texts, alike=alike) == by_comparing_all(texts, alike)


@pytest.mark.slow
@given(TEXTS)
def test_an_original_is_its_own_and_stands_before_its_repetitions(texts: list[str]) -> None:
    found = originals(texts)

    assert all(found[first] == first <= place for place, first in enumerate(found))


@given(TEXTS)
def test_originals_have_no_repetitions_among_them(texts: list[str]) -> None:
    kept = [texts[place] for place in dict.fromkeys(originals(texts))]

    assert originals(kept) == list(range(len(kept)))


@pytest.mark.slow
@given(TEXTS, st.text(max_size=20))
def test_a_text_that_follows_changes_nothing_before_it(texts: list[str], last: str) -> None:
    assert originals([*texts, last])[:-1] == originals(texts)


def test_nine_tenths_of_the_shingles_are_enough_and_less_is_not() -> None:
    whole = numbered(*range(21))  # 19 shingles
    shorter, too_short = numbered(*range(20)), numbered(*range(18))  # 18 of 19 are in both, and 16 of 19

    assert originals([whole, shorter, too_short]) == [0, 0, 2]


def test_case_spaces_and_punctuation_do_not_tell_texts_apart() -> None:
    assert originals(["The SKY is  blue.", "the sky\nis blue!", "the sky is grey"]) == [0, 0, 2]


def test_texts_without_a_word_are_alike_where_they_are_equal() -> None:
    assert originals(["", " ", "?!", "?!", "🌍🌍", "🌍", "a", "A"]) == [0, 0, 2, 2, 4, 5, 6, 6]


def test_scripts_without_spaces_are_compared_whole() -> None:
    assert originals(["天空是蓝色的", "天空是蓝色的。", "草是绿色的"]) == [0, 0, 2]


def test_the_parts_of_an_original_count_and_not_those_of_its_repetition() -> None:
    first, second, third = numbered(*range(42)), numbered(*range(2, 42)), numbered(*range(4, 42))

    assert originals([first, second, third]) == [0, 0, 0]
    assert originals([numbered(*range(30)), numbered(*range(1, 30)), numbered(*range(2, 30)), numbered(*range(4, 30))])[3] == 3


def test_boilerplate_that_all_share_brings_none_together(monkeypatch: pytest.MonkeyPatch) -> None:
    boilerplate = numbered(*range(60))
    texts = [f"{boilerplate} {' '.join(f'own{place}x{word}' for word in range(40))}" for place in range(200)]
    compare = Mock(wraps=duplicates._are_alike)
    monkeypatch.setattr(duplicates, "_are_alike", compare)

    found = originals(texts)

    assert found == list(range(200))
    assert compare.call_count < 200  # of 19,900 pairs, all of which share the boilerplate


def test_a_very_long_text_is_compared_as_any_other() -> None:
    text = numbered(*range(20_000))

    assert originals([text, f"{text} more"]) == [0, 0]
