"""Modifiers that are one set or several: what splitting and joining keep, and what the user can force."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_cover.errors import InvalidValueError
from rag_cover.setqueries import ParsedQuery, SetQuery, join_modifiers, parse, regroup, split_modifiers
from rag_cover.setqueries.algebra import MOST_ATOMS

FILMS = ("films", ("Spanish", "war", "1990s"), ("set in Lisbon", "shot in Peru", "based on novels"))
MUSEUMS = ("museums", ("Norwegian",), ("in Oslo", "with a garden", "that are free"))


@st.composite
def phrases(draw: st.DrawFn) -> str:
    head, before, after = draw(st.sampled_from([FILMS, MUSEUMS]))
    chosen = draw(st.lists(st.sampled_from([*before, *after]), unique=True, max_size=3))
    first, then = ([each for each in some if each in chosen] for some in (before, after))
    return " ".join([*first, head, *then])


def query_of(operator: str, parts: Sequence[SetQuery]) -> SetQuery:
    first, *others = parts
    joins = {"|": SetQuery.union(*parts), "&": SetQuery.intersection(*parts), "-": SetQuery.difference(first, *others)}
    return joins[operator]


QUERIES = st.recursive(
    phrases().map(SetQuery.atom),
    lambda parts: st.builds(query_of, st.sampled_from("|&-"), st.lists(parts, min_size=2, max_size=3)),
    max_leaves=5,
)
ENTITIES = [
    frozenset({head, *(each for place, each in enumerate((*before, *after)) if bits >> place & 1)})
    for head, before, after in (FILMS, MUSEUMS)
    for bits in range(2 ** len((*before, *after)))
]


def without_order(query: SetQuery) -> SetQuery:
    """Return a query in normal form, each atom's words lower-cased and in alphabetical order."""
    if query.text is not None:
        return SetQuery.atom(" ".join(sorted(query.text.lower().split())))
    return SetQuery(query.operator, parts=tuple(map(without_order, query.parts))).normal_form()


def members(query: SetQuery) -> frozenset[frozenset[str]]:
    """Return which entities belong where every modifier intersects, told by the words of each atom."""

    def has(entity: frozenset[str], atom: str) -> bool:
        said = [each for kind in (FILMS, MUSEUMS) for each in (kind[0], *kind[1], *kind[2]) if each.lower() in atom.lower()]
        return set(said) <= entity

    return query.members({atom: [each for each in ENTITIES if has(each, atom)] for atom in query.atoms})


@settings(max_examples=50, deadline=None)
@given(QUERIES)
def test_both_readings_ask_for_the_same_where_modifiers_intersect(query: SetQuery) -> None:
    assert members(split_modifiers(query)) == members(join_modifiers(query)) == members(query)


@settings(max_examples=50, deadline=None)
@given(QUERIES)
def test_each_reading_comes_back_from_the_other(query: SetQuery) -> None:
    split, joined = split_modifiers(query), join_modifiers(query)

    assert split_modifiers(split) == split
    assert join_modifiers(joined) == joined
    assert without_order(split_modifiers(joined)) == without_order(split)
    assert without_order(join_modifiers(split)) == without_order(joined)


@settings(max_examples=50, deadline=None)
@given(QUERIES)
def test_both_readings_are_written_and_read_back(query: SetQuery) -> None:
    for reading in (split_modifiers(query), join_modifiers(query)):
        assert SetQuery.from_text(str(reading)) == reading
        assert SetQuery.from_dict(reading.to_dict()) == reading


@settings(max_examples=50, deadline=None)
@given(QUERIES)
def test_quoted_atoms_stay_as_they_are(query: SetQuery) -> None:
    quoted = SetQuery.from_dict(_quoted(query.to_dict()))

    assert split_modifiers(quoted) == quoted
    assert join_modifiers(quoted).normal_form() == quoted.normal_form()


def _quoted(data: object) -> dict[str, object]:
    assert isinstance(data, dict)
    ((operator, parts),) = data.items()
    return {operator: f'"{parts}"' if operator == "atom" else [_quoted(part) for part in parts]}


@pytest.mark.parametrize(
    ("atom", "split"),
    [
        ("Spanish war films", '"Spanish films" & "War films"'),
        ("2010s American comedy films", '"2010s films" & "American films" & "Comedy films"'),
        ("Novels set in Paris by women", '"Novels set in Paris" & "Novels by women"'),
        (
            "Historical novels first published in the 1990s and set in Prague",
            '"Historical novels" & "Novels first published in the 1990s" & "Novels set in Prague"',
        ),
        ("musicians from Oslo who play the harp", '"musicians from Oslo" & "musicians who play the harp"'),
        ("GPL-licensed tools for drawing charts", '"GPL-licensed tools" & "tools for drawing charts"'),
    ],
)
def test_every_modifier_becomes_a_set(atom: str, split: str) -> None:
    assert split_modifiers(SetQuery.atom(atom)) == SetQuery.from_text(split)


@pytest.mark.parametrize(
    "atom",
    [
        "Birds of Chile",
        "Black comedy films",
        "Endemic flora of Haiti",
        "museums about the war in Spain",
        "Trees of the north of Chile",
        "films about Spain or Peru",
        "board games",
        "Charles Dickens",
        "Who likes Western Movies?",
        "who likes Western Movies",
    ],
)
def test_what_is_one_set_is_not_split(atom: str) -> None:
    assert split_modifiers(SetQuery.atom(atom)) == SetQuery.atom(atom)


def test_atoms_of_different_heads_are_not_joined() -> None:
    query = SetQuery.atom("Orchids of Guatemala") & "epiphytes"

    assert join_modifiers(query) == query


def test_a_clause_is_written_last() -> None:
    query = SetQuery.atom("museums that are free") & "museums with a garden"

    assert join_modifiers(query) == SetQuery.atom("museums with a garden that are free")


def test_readings_that_come_to_the_same_add_up() -> None:
    parsed = parse("Spanish war films")
    assert parsed.query == SetQuery.atom("Spanish war films")

    split = regroup(parsed, "split")

    assert split.query == SetQuery.atom("Spanish films") & "War films"
    assert split.confidence == pytest.approx(parsed.confidence + sum(share for _, share in parsed.alternatives))
    assert "as asked (modifiers: split)" in split.notes[-1]
    assert ParsedQuery.from_dict(split.to_dict()) == split


def test_the_users_wording_is_kept() -> None:
    split = regroup(parse("movies set in Paris that were shot in Peru but not comedies"), "split")

    assert set(split.words) <= set(split.atoms)


@pytest.mark.parametrize("question", ["Spanish war films", "birds of Chile but not of Peru", "Why is the sky blue?"])
def test_as_read_nothing_changes(question: str) -> None:
    parsed = parse(question)

    assert regroup(parsed, "read") is parsed


def test_what_was_given_as_set_algebra_stays() -> None:
    given_ = ParsedQuery("Spanish war films", SetQuery.atom("Spanish war films"), 1.0, "given")

    assert regroup(given_, "split") is given_


def test_an_ordinary_question_stays_one_atom() -> None:
    parsed = parse("Who wrote War and Peace?")

    assert regroup(parsed, "split").query == parsed.query


def test_too_many_sets_are_refused() -> None:
    query = SetQuery.union(*(f"Spanish war films set in {year}" for year in range(1900, 1900 + MOST_ATOMS)))

    with pytest.raises(InvalidValueError, match="at most 20"):
        regroup(ParsedQuery("many", query, 1.0, "model:other"), "split")


def test_another_way_is_refused_by_name() -> None:
    with pytest.raises(InvalidValueError, match="Did you mean 'split'"):
        regroup(parse("Spanish war films"), "spilt")  # type: ignore[arg-type]
