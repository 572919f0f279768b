import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.setqueries.features import WordFeatures, word_features
from rag_cover.setqueries.predicates import predicate_of

WORDS = st.lists(st.sampled_from(["novels", "set", "in", "Lisbon", "that", "are", "vegan", ",", "-"]), max_size=8).map(" ".join)


def test_a_predicate_is_what_follows_the_kind() -> None:
    assert predicate_of("Software libraries that run on Windows") == "run on Windows"
    assert predicate_of("restaurants with a garden") == "with a garden"
    assert predicate_of("Films based on plays") == "based on plays"


def test_a_text_need_not_name_the_kind() -> None:
    assert predicate_of("Spanish war films") == "Spanish war"
    assert word_features(predicate_of("Vegan restaurants"), "Its kitchen is vegan.").share == 1.0


def test_an_atom_without_a_kind_of_its_own_is_its_predicate() -> None:
    assert predicate_of("Novels") == "Novels"
    assert predicate_of("that") == "that"
    assert predicate_of("films that") == "films that"


@pytest.mark.parametrize(
    ("predicate", "text", "denied"),
    [
        ("of Peru", "It lives in Peru.", 0.0),
        ("of Peru", "It doesn't live in Peru.", 1.0),
        ("of Peru", "It is not tame. It lives in Peru.", 0.0),
        ("with a sauna", "It has a pool and free parking, but no sauna.", 1.0),
        ("with a pool", "It has a pool and free parking, but no sauna.", 0.0),
        ("with a sauna", "Unlike the Linde, it has a sauna.", 0.0),
        ("that have no lift", "There is a lift.", 1.0),
        ("where pets are not allowed", "Pets are not allowed.", 0.0),
        ("where pets are allowed", "Pets are not allowed.", 1.0),
        ("with a pool", "It has neither a pool nor a sauna.", 1.0),
        ("who speak French", "She speaks Spanish but no French.", 1.0),
        ("who speak Spanish", "She speaks Spanish but no French.", 0.0),
        ("set in Porto", "It is set in Lisbon, not in Porto.", 1.0),
        ("set in Lisbon", "It is set in Lisbon, not in Porto.", 0.0),
    ],
)
def test_a_clause_that_denies_is_told_from_one_that_states(predicate: str, text: str, denied: float) -> None:
    assert word_features(predicate, text).denied == denied


def test_other_forms_of_a_word_and_the_adjective_of_a_name_count_as_the_word() -> None:
    assert word_features("allow dogs", "Dogs are not allowed.") == WordFeatures(1.0, 1.0, 0.0)
    assert word_features("by Turkish writers", "The writer comes from Turkey.") == WordFeatures(1.0, 0.0, 0.0)


def test_a_name_that_stands_nowhere_in_the_text_is_unnamed() -> None:
    assert word_features("of Bolivia", "A bird of the coasts of Chile and Peru.").unnamed == 1.0
    assert word_features("of Austria", "A bird of Australia.").unnamed == 1.0
    assert word_features("of Bolivia and Peru", "Peruvian, it is rarely seen.").unnamed == 0.5
    assert word_features("with a sauna", "It has a pool.").unnamed == 0.0


def test_a_country_is_named_by_its_adjective() -> None:
    assert word_features("French", "It was shot in Lyon, France.").unnamed == 0.0
    assert word_features("of the Netherlands", "A Dutch painter.").unnamed == 0.0
    assert word_features("American", "Common in the United States.").unnamed == 0.0
    assert word_features("American", "Common in the United Kingdom.").unnamed == 1.0
    assert word_features("who speak French", "She lives in France.").share == 0.0


@given(WORDS.filter(str.strip))
def test_a_predicate_is_the_end_of_its_atom_or_all_but_its_kind(atom: str) -> None:
    words = " ".join(atom.split())

    assert words.endswith(predicate_of(words)) or words.rpartition(" ")[0] == predicate_of(words)


@given(st.text(), st.text())
def test_features_of_any_text_are_shares(predicate: str, text: str) -> None:
    assert all(0 <= value <= 1 for value in word_features(predicate, text))
