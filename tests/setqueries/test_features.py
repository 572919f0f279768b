from hypothesis import given
from hypothesis import strategies as st

from rag_cover.setqueries.features import word_features
from rag_cover.setqueries.predicates import predicate_of

WORDS = st.lists(st.sampled_from(["novels", "set", "in", "Lisbon", "that", "are", "vegan", ",", "-"]), max_size=8).map(" ".join)


def test_a_predicate_is_what_follows_the_kind() -> None:
    assert predicate_of("Software libraries that run on Windows") == "run on Windows"
    assert predicate_of("restaurants with a garden") == "with a garden"
    assert predicate_of("Films based on plays") == "based on plays"


def test_a_text_need_not_name_the_kind() -> None:
    assert predicate_of("Spanish war films") == "Spanish war"
    assert word_features(predicate_of("Vegan restaurants"), "Its kitchen is vegan.")[0] == 1.0


def test_an_atom_without_a_kind_of_its_own_is_its_predicate() -> None:
    assert predicate_of("Novels") == "Novels"
    assert predicate_of("that") == "that"
    assert predicate_of("films that") == "films that"


def test_a_sentence_that_denies_is_told_from_one_that_states() -> None:
    assert word_features("of Peru", "It lives in Peru.") == (1.0, 0.0, 0.0)
    assert word_features("of Peru", "It doesn't live in Peru.") == (1.0, 1.0, 1.0)


def test_a_denial_in_another_sentence_does_not_count() -> None:
    assert word_features("of Peru", "It is not tame. It lives in Peru.") == (1.0, 0.0, 0.0)


@given(WORDS.filter(str.strip))
def test_a_predicate_is_the_end_of_its_atom_or_all_but_its_kind(atom: str) -> None:
    words = " ".join(atom.split())

    assert words.endswith(predicate_of(words)) or words.rpartition(" ")[0] == predicate_of(words)


@given(st.text(), st.text())
def test_features_of_any_text_are_shares(predicate: str, text: str) -> None:
    assert all(0 <= value <= 1 for value in word_features(predicate, text))
