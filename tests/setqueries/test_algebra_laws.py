"""The laws of set algebra: what set queries mean, how they are written and read, and how they are judged by probabilities."""

from __future__ import annotations

import copy
import json
import operator
import pickle
import tracemalloc
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rag_cover.errors import InvalidValueError
from rag_cover.setqueries.algebra import SetQuery
from rag_cover.setqueries.memberships import COMBINATIONS, Combination, contradictory, equivalent, membership
from rag_cover.setqueries.notation import DEEPEST

LETTERS = ("A", "B", "C", "D")

Tree = str | tuple[str, "Tree", "Tree"]
Sets = Mapping[str, frozenset[int]]

SETS = st.fixed_dictionaries({letter: st.frozensets(st.integers(0, 7)) for letter in LETTERS})
TREES: st.SearchStrategy[Tree] = st.recursive(
    st.sampled_from(LETTERS), lambda inner: st.tuples(st.sampled_from("|&-"), inner, inner), max_leaves=8
)
PROBABILITIES = st.one_of(st.floats(0, 1), st.sampled_from((0.0, 0.5, 1.0)))
ROWS = st.fixed_dictionaries(dict.fromkeys(LETTERS, PROBABILITIES))

AWKWARD = (
    'the "Big" One',
    "Rock 'n' Roll",
    "it's",
    "A | B & C - D",
    r"A ∪ B ∩ C \ D",
    "(an (open bracket",
    ")",
    "-",
    "\\",
    '\\"',
    r"caf\u00e9",
    "two\nlines",
    "tab\tand\u2028separator",
    "naïve Ästhetik 漢字 🦜",
    "e\u0301",
    "zero\u200bwidth",
    "nul\0",
    "lone \ud800 surrogate",
    '{"atom": "x"}',
    "x" * 10_000,
)
ATOMS = st.one_of(st.sampled_from(AWKWARD), st.text(min_size=1).filter(str.strip))
each_combination = pytest.mark.parametrize("combination", COMBINATIONS)


def built(tree: Tree) -> SetQuery:
    """Build a query by Python's operators, as a user does."""
    match tree:
        case str():
            return SetQuery.atom(tree)
        case "|", left, right:
            return built(left) | built(right)
        case "&", left, right:
            return built(left) & built(right)
        case _, left, right:
            return built(left) - built(right)


def meant(tree: Tree, sets: Sets) -> frozenset[int]:
    """Say what a query means, by Python's own sets."""
    match tree:
        case str():
            return sets[tree]
        case "|", left, right:
            return meant(left, sets) | meant(right, sets)
        case "&", left, right:
            return meant(left, sets) & meant(right, sets)
        case _, left, right:
            return meant(left, sets) - meant(right, sets)


def signs(query: SetQuery, *, sign: int = 1) -> dict[str, set[int]]:
    """Tell of each atom whether it adds members (1), takes them away (-1), or both."""
    if query.text is not None:
        return {query.text: {sign}}
    found: dict[str, set[int]] = {}
    for place, part in enumerate(query.parts):
        turned = -sign if query.operator == "difference" and place else sign
        for atom, those in signs(part, sign=turned).items():
            found.setdefault(atom, set()).update(those)
    return found


@st.composite
def regrouped(draw: st.DrawFn, query: SetQuery) -> SetQuery:
    """Write an equal query: parts in another order, joined two by two in any grouping."""
    if query.operator == "atom":
        return query
    parts = [draw(regrouped(part)) for part in query.parts]
    if query.operator == "difference":
        return reduce(lambda left, right: left - right, draw(st.permutations(parts[1:])), parts[0])
    parts = draw(st.permutations(parts))
    while len(parts) > 1:
        place = draw(st.integers(0, len(parts) - 2))
        pair = SetQuery.union if query.operator == "union" else SetQuery.intersection
        parts = [*parts[:place], pair(parts[place], parts[place + 1]), *parts[place + 2 :]]
    return parts[0]


QUERIES = TREES.map(built)
WRITTEN = st.recursive(
    ATOMS.map(SetQuery.atom),
    lambda inner: st.builds(
        lambda join, parts: join(*parts),
        st.sampled_from((SetQuery.union, SetQuery.intersection, SetQuery.difference)),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=6,
)


@given(TREES, SETS)
def test_operators_mean_what_they_mean_for_pythons_sets(tree: Tree, sets: Sets) -> None:
    assert built(tree).members(sets) == meant(tree, sets)


@given(QUERIES, SETS)
def test_union_and_intersection_are_idempotent_and_nothing_is_left_of_a_query_without_itself(a: SetQuery, sets: Sets) -> None:
    assert (a | a).members(sets) == (a & a).members(sets) == a.members(sets)
    assert (a - a).members(sets) == frozenset()


@given(QUERIES, QUERIES, SETS)
def test_union_and_intersection_are_commutative(a: SetQuery, b: SetQuery, sets: Sets) -> None:
    assert a | b == b | a
    assert a & b == b & a
    assert (a | b).members(sets) == (b | a).members(sets)
    assert (a & b).members(sets) == (b & a).members(sets)


@given(QUERIES, QUERIES, QUERIES, SETS)
def test_union_and_intersection_are_associative(a: SetQuery, b: SetQuery, c: SetQuery, sets: Sets) -> None:
    assert (a | b) | c == a | (b | c) == SetQuery.union(a, b, c)
    assert (a & b) & c == a & (b & c) == SetQuery.intersection(a, b, c)
    assert ((a | b) | c).members(sets) == (a | (b | c)).members(sets)
    assert ((a & b) & c).members(sets) == (a & (b & c)).members(sets)


@given(QUERIES, QUERIES, QUERIES, SETS)
def test_union_and_intersection_are_distributive(a: SetQuery, b: SetQuery, c: SetQuery, sets: Sets) -> None:
    assert (a & (b | c)).members(sets) == ((a & b) | (a & c)).members(sets)
    assert (a | (b & c)).members(sets) == ((a | b) & (a | c)).members(sets)
    assert ((a | b) - c).members(sets) == ((a - c) | (b - c)).members(sets)


@given(QUERIES, QUERIES, SETS)
def test_union_and_intersection_absorb_one_another(a: SetQuery, b: SetQuery, sets: Sets) -> None:
    assert (a | (a & b)).members(sets) == (a & (a | b)).members(sets) == a.members(sets)


@given(QUERIES, QUERIES, QUERIES, SETS)
def test_de_morgans_laws_hold_for_differences(a: SetQuery, b: SetQuery, c: SetQuery, sets: Sets) -> None:
    assert (a - (b | c)).members(sets) == ((a - b) & (a - c)).members(sets) == SetQuery.difference(a, b, c).members(sets)
    assert (a - (b & c)).members(sets) == ((a - b) | (a - c)).members(sets)


@given(QUERIES, QUERIES, SETS)
def test_a_difference_and_what_it_takes_away_make_up_the_whole(a: SetQuery, b: SetQuery, sets: Sets) -> None:
    left, taken = (a - b).members(sets), (a & b).members(sets)

    assert left <= a.members(sets)
    assert not left & b.members(sets)
    assert left | taken == a.members(sets)


@given(QUERIES, QUERIES, QUERIES, SETS)
def test_differences_are_taken_from_the_left(a: SetQuery, b: SetQuery, c: SetQuery, sets: Sets) -> None:
    assert a - b - c == (a - b) - c == SetQuery.difference(a, b, c)
    assert (a - (b - c)).members(sets) == ((a - b) | (a & c)).members(sets)


@given(QUERIES, QUERIES)
def test_a_difference_has_sides(a: SetQuery, b: SetQuery) -> None:
    assert (a - b == b - a) == (a == b)


@given(QUERIES, SETS)
def test_members_come_from_the_sources_alone(a: SetQuery, sets: Sets) -> None:
    assert a.members(sets) <= frozenset().union(*(sets[atom] for atom in a.sources))


@given(QUERIES, st.data())
def test_equal_queries_hash_alike_and_have_one_normal_form(a: SetQuery, data: st.DataObject) -> None:
    b = data.draw(regrouped(a))

    assert a == b
    assert hash(a) == hash(b)
    assert str(a.normal_form()) == str(b.normal_form())


@given(QUERIES, QUERIES, SETS)
def test_queries_that_are_equal_or_have_one_normal_form_have_the_same_members(a: SetQuery, b: SetQuery, sets: Sets) -> None:
    if a == b or a.normal_form() == b.normal_form():
        assert a.members(sets) == b.members(sets)


@settings(max_examples=100)
@given(QUERIES, SETS)
@example(((SetQuery.atom("A") - "D") & "B") - SetQuery.union("C", "A", "D"), dict.fromkeys(LETTERS, frozenset({1})))
def test_the_normal_form_has_the_same_members_and_is_its_own(a: SetQuery, sets: Sets) -> None:
    normal = a.normal_form()

    assert normal.members(sets) == a.members(sets)
    assert normal.normal_form() == normal
    assert str(normal.normal_form()) == str(normal)
    assert set(normal.atoms) == set(a.atoms)
    assert equivalent(a, normal)


@given(QUERIES, QUERIES, QUERIES)
def test_the_normal_form_takes_away_at_the_end_and_one_by_one(a: SetQuery, b: SetQuery, c: SetQuery) -> None:
    assert (a - (b | c)).normal_form() == (a - b - c).normal_form()
    assert ((a - b) & c).normal_form() == ((a & c) - b).normal_form()


@given(QUERIES, QUERIES, SETS)
def test_equivalent_queries_and_no_others_have_the_same_members_whatever_the_sets(a: SetQuery, b: SetQuery, sets: Sets) -> None:
    ways = range(2 ** len(LETTERS))
    all_ways = {letter: frozenset(way for way in ways if way >> place & 1) for place, letter in enumerate(LETTERS)}

    assert equivalent(a, b) == (a.members(all_ways) == b.members(all_ways))
    assert not equivalent(a, b) or a.members(sets) == b.members(sets)


@given(QUERIES)
def test_a_query_without_itself_is_contradictory_and_one_with_a_new_atom_is_not(a: SetQuery) -> None:
    assert contradictory(a - a)
    assert contradictory((a & "new") - a)
    assert not contradictory(a | "new")


@given(QUERIES, SETS)
def test_nothing_belongs_to_a_contradictory_query(a: SetQuery, sets: Sets) -> None:
    if contradictory(a):
        assert a.members(sets) == frozenset()


@given(ATOMS)
def test_an_atom_keeps_its_words(text: str) -> None:
    assert SetQuery.atom(text).text == " ".join(text.split())


@given(WRITTEN)
def test_what_is_written_as_text_is_read_back(a: SetQuery) -> None:
    read = SetQuery.from_text(str(a))

    assert read == a
    assert str(read) == str(a)
    assert (read.atoms, read.template) == (a.atoms, a.template)


def test_other_scripts_are_written_as_they_are() -> None:
    assert str(SetQuery.atom("naïve 漢字 🦜")) == '"naïve 漢字 🦜"'


@given(st.lists(st.tuples(st.sampled_from("|&-"), st.sampled_from(LETTERS)), max_size=6), SETS)
@example([("|", "B"), ("&", "C"), ("-", "D")], {letter: frozenset({number}) for number, letter in enumerate(LETTERS)})
def test_signs_bind_as_in_python(others: list[tuple[str, str]], sets: Sets) -> None:
    text = " ".join(["A", *(word for each in others for word in each)])

    meaning = eval(text, {"__builtins__": {}}, dict(sets))  # noqa: S307  # Python itself says how its signs bind

    assert SetQuery.from_text(text).members(sets) == meaning


@pytest.mark.parametrize(
    ("text", "template"),
    [
        (r"a ∩ b \ c", r"A ∩ B \ C"),
        ("a & b ∖ c", r"A ∩ B \ C"),
        (r"a \ b ∩ c", r"(A \ B) ∩ C"),
        (r"a ∩ b \ c ∩ d", r"(A ∩ B \ C) ∩ D"),
        (r"a \ b \ c", r"A \ B \ C"),
        (r"a ∪ b \ c", r"A ∪ (B \ C)"),
        ("a & b - c", r"A ∩ (B \ C)"),
        ("a & b − c", r"A ∩ (B \ C)"),
        (r"a \ b - c", r"A \ (B \ C)"),
        (r"a - b \ c", r"A \ B \ C"),
    ],
)
def test_a_backslash_binds_as_quest_writes_it_and_a_minus_as_in_python(text: str, template: str) -> None:
    assert SetQuery.from_text(text).template == template


@pytest.mark.parametrize("template", ["A ∩ B \\ C", "A ∩ B ∩ C", "A ∪ B ∪ C", "A \\ B", "A ∩ (B ∪ C) \\ D"])
def test_the_templates_of_quest_are_read_as_what_they_are_of(template: str) -> None:
    assert SetQuery.from_text(template).template == template


@pytest.mark.parametrize("sign", "∪∩∖\\|&")
def test_signs_need_no_spaces(sign: str) -> None:
    assert SetQuery.from_text(f"old maps{sign}new maps") == SetQuery.from_text(f"old maps {sign} new maps")
    assert SetQuery.from_text(f"'A'{sign}'B'") == SetQuery.from_text(f'"A" {sign} "B"')


def test_a_minus_without_spaces_is_a_hyphen_unless_it_stands_between_quotes_or_brackets() -> None:
    assert SetQuery.from_text("post-war films").atoms == ("post-war films",)
    assert SetQuery.from_text("'A'-'B'") == SetQuery.from_text('"A"-"B"') == SetQuery.from_text("(A)-(B)")
    assert SetQuery.from_text('"A"-"B"') == SetQuery.atom("A") - "B"


def test_brackets_may_stand_as_deep_as_somebody_likes() -> None:
    assert SetQuery.from_text("(" * 9_000 + "A" + ")" * 9_000) == SetQuery.atom("A")


def test_a_text_is_read_whose_spaces_do_not_end() -> None:
    assert SetQuery.from_text("A | " * 2_000 + "B" + " " * 200_000).parts[-1] == SetQuery.atom("B")


@pytest.mark.parametrize("end", ["", "'x"])
def test_a_text_is_read_that_is_full_of_apostrophes(end: str) -> None:
    assert SetQuery.from_text(r"A\'" * 6_000 + "B" + end).atoms == ("A", "'A", f"'B{end}")


@pytest.mark.parametrize(
    ("text", "atoms"),
    [
        ("'80s films & 'new wave'", ("'80s films", "new wave")),
        ("rock'n'roll | 'big ones'", ("rock'n'roll", "big ones")),
        (r"'it\'s' - 'the boss'' band'", ("it's", "'the boss'' band'")),
        ("the 'boss' | the others'", ()),
    ],
)
def test_apostrophes_and_quotes_are_told_apart(text: str, atoms: tuple[str, ...]) -> None:
    if atoms:
        assert SetQuery.from_text(text).atoms == atoms
    else:
        with pytest.raises(InvalidValueError, match="there is \"'boss'\"; expected was an operator"):
            SetQuery.from_text(text)


def test_what_is_no_text_is_refused_by_name() -> None:
    with pytest.raises(InvalidValueError, match="not from NoneType"):
        SetQuery.from_text(None)  # type: ignore[arg-type]  # as somebody without a type checker does


@given(WRITTEN)
def test_what_is_written_as_json_is_read_back(a: SetQuery) -> None:
    read = SetQuery.from_dict(json.loads(json.dumps(a.to_dict())))

    assert read == a
    assert str(read) == str(a)


@pytest.mark.parametrize("text", AWKWARD)
def test_awkward_atoms_are_read_back_from_within_operators(text: str) -> None:
    query = (SetQuery.atom(text) & "plain") - SetQuery.union("other", text)

    assert SetQuery.from_text(str(query)) == query
    assert SetQuery.from_dict(query.to_dict()) == query


def test_the_deepest_query_is_read_back_and_a_deeper_one_refused() -> None:
    deepest = reduce(
        lambda query, level: (query | level) if len(level) % 2 else (query & level), levels(DEEPEST), SetQuery.atom("x")
    )

    assert deepest.depth == DEEPEST
    assert SetQuery.from_text(str(deepest)) == deepest
    assert SetQuery.from_dict(deepest.to_dict()) == deepest
    assert deepest.normal_form().normal_form() == deepest.normal_form()
    with pytest.raises(InvalidValueError, match="nests at most"):
        _ = (deepest & "one") | "two"


def test_the_deepest_query_has_a_normal_form() -> None:
    deepest = SetQuery.atom("x")
    for level in levels(DEEPEST // 2):
        deepest = (deepest | f"a{level}") & (SetQuery.atom(f"b{level}") - f"c{level}")

    normal = deepest.normal_form()

    assert deepest.depth == DEEPEST
    assert normal.normal_form() == normal
    assert SetQuery.from_text(str(normal)) == SetQuery.from_dict(normal.to_dict()) == normal
    assert pickle.loads(pickle.dumps(normal)) == copy.deepcopy(normal) == normal  # noqa: S301  # what was just written


@given(QUERIES)
def test_no_normal_form_is_deeper_than_its_query(a: SetQuery) -> None:
    assert a.normal_form().depth <= a.depth


@given(QUERIES, QUERIES, QUERIES)
def test_the_bare_constructor_makes_what_the_others_make(a: SetQuery, b: SetQuery, c: SetQuery) -> None:
    for name, made in (("union", SetQuery.union), ("intersection", SetQuery.intersection), ("difference", SetQuery.difference)):
        nested = SetQuery(name, parts=(SetQuery(name, parts=(a, b)), c))  # type: ignore[arg-type]  # one of three

        assert nested == made(made(a, b), c)
        assert str(nested) == str(made(made(a, b), c))


def test_the_bare_constructor_takes_texts_for_atoms_and_makes_their_spaces_single() -> None:
    assert SetQuery("union", parts=("A", "B")) == SetQuery.union("A", "B")  # type: ignore[arg-type]  # as users write it
    assert SetQuery("atom", " old \n maps ") == SetQuery.atom("old maps")


@pytest.mark.parametrize(
    "arguments",
    [
        ("union", None, ("A",)),
        ("union", None, ()),
        ("union", None, "AB"),
        ("union", None, None),
        ("union", None, ("A", 3)),
        ("union", "A", ("B", "C")),
        ("xor", None, ("A", "B")),
        (["union"], None, ("A", "B")),
        ("atom", "A", ("B", "C")),
        ("atom", None, ()),
    ],
)
def test_the_bare_constructor_refuses_what_is_no_query(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidValueError):
        SetQuery(*arguments)


def test_a_text_on_the_left_of_an_operator_is_an_atom() -> None:
    b = SetQuery.atom("B")

    assert str("A" | b) == '"A" ∪ "B"'
    assert str("A" & b) == '"A" ∩ "B"'
    assert str("A" - b) == '"A" \\ "B"'


@pytest.mark.parametrize("joined", [operator.or_, operator.and_, operator.sub])
def test_python_refuses_to_join_a_query_with_what_is_none(joined: Callable[[object, object], object]) -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        joined(SetQuery.atom("A"), 3)
    with pytest.raises(TypeError, match="unsupported operand"):
        joined(3, SetQuery.atom("A"))


def levels(count: int) -> list[str]:
    return ["x" * number for number in range(1, count + 1)]


@given(st.text(alphabet="AB \n\t\"'\\()|&-∪∩−∖u0é"))  # other minus and backslash signs are read too
@example("(" * 9_000 + "A" + ")" * 9_000)
@example("(" * 10_000)
@example(")" * 10_000)
@example('"' * 10_001)
@example("A - " * 10_000)
@example("")
def test_a_text_is_a_query_that_is_read_back_or_is_refused_by_name(text: str) -> None:
    try:
        query = SetQuery.from_text(text)
    except InvalidValueError:
        return

    assert SetQuery.from_text(str(query)) == query


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it ends; expected was an atom"),
        (" \n ", "it ends; expected was an atom"),
        ("A |", "character 4 .* expected was an atom"),
        ("| A", "character 1 .* expected was an atom"),
        ("A & & B", "character 5 .* expected was an atom"),
        ("()", "character 2 .* expected was an atom"),
        ("(A | B", r"expected was the '\)' of the bracket at character 1"),
        ("A | B)", r"character 6 .*'\)'.* expected was an operator"),
        ('"A" "B"', "character 5 .* expected was an operator"),
        ('A | "B', "the quote at character 5 .* is not closed"),
        ('A | ""', "an atom is a phrase"),
        ("(A | B", r"character 7 .* it ends; expected was the '\)' of the bracket at character 1"),
        ("(A B (C))", r"character 6 .*; expected was the '\)' of the bracket at character 1"),
        ("(" * 10_000, "it ends; expected was an atom"),
        ("(A | B & " * 45 + "C" + ")" * 45, "nests at most 50 operators"),
        ("(A | B & " * 3_000 + "C" + ")" * 3_000, "nests at most 50 operators"),
        ("A | " + r"(A ∩ B \ (C ∪ " * 1_500 + "D" + "))" * 1_500, "nests at most 50 operators"),
    ],
)
def test_a_text_that_is_no_query_is_refused_with_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        SetQuery.from_text(text)


@pytest.mark.parametrize("quote", ['"', "'"])
@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (r"caf\u00e9", "café"),
        (r"a \" b \' c \\ d", "a \" b ' c \\ d"),
        (r"two\nlines\tand \ud83e\udd9c", "two lines and 🦜"),
        (r"\q \u12 \\u00e9", r"q u12 \u00e9"),
        ("a line\nbreak", "a line break"),
    ],
)
def test_escapes_mean_the_same_within_either_quotes(quote: str, inside: str, text: str) -> None:
    assert SetQuery.from_text(f"{quote}{inside}{quote}").text == text


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(("atom", "union", "intersection", "difference", "parts")), inner, max_size=2),
    ),
    max_leaves=6,
)


@given(JSON)
def test_data_are_a_query_that_is_read_back_or_are_refused_by_name(data: Any) -> None:
    try:
        query = SetQuery.from_dict(data)
    except InvalidValueError:
        return

    assert SetQuery.from_dict(query.to_dict()) == query


def deep(levels: int, *beside: str) -> object:
    """Nest data: lists within lists, or unions within unions where something stands beside each."""
    data: object = []
    for _ in range(levels):
        data = {"union": [data, *beside]} if beside else [data]
    return data


def endless() -> list[object]:
    data: list[object] = []
    data.append(data)
    return data


@pytest.mark.parametrize(
    "data",
    [
        pytest.param({"union": [deep(100_000)]}, id="lists 100,000 deep"),
        pytest.param(deep(100_000, "y"), id="unions 100,000 deep"),
        pytest.param({"union": endless()}, id="a list within itself"),
        pytest.param({"union": [{("x", "y"): 1}]}, id="a key that is no string"),
        pytest.param({"atom": "x", "union": ["y", "z"]}, id="two operators"),
        pytest.param({"union": []}, id="no parts"),
        pytest.param({"union": "xy"}, id="a string for parts"),
        pytest.param({"atom": " "}, id="a blank atom"),
        pytest.param({"atom": 1}, id="an atom that is no string"),
        pytest.param({}, id="nothing"),
        pytest.param({"atom": 10**5_000}, id="a number too long to be written"),
        pytest.param({("union",): ["x", "y"]}, id="an operator that is no string"),
    ],
)
def test_data_that_are_no_query_are_refused_by_name(data: Any) -> None:
    with pytest.raises(InvalidValueError):
        SetQuery.from_dict(data)


@each_combination
@given(a=QUERIES, sets=SETS)
def test_soft_membership_is_that_of_sets_where_all_is_certain(combination: Combination, a: SetQuery, sets: Sets) -> None:
    certain = {atom: [float(number in sets[atom]) for number in range(8)] for atom in a.atoms}

    found = membership(a, certain, combination=combination)

    assert found.tolist() == [float(number in a.members(sets)) for number in range(8)]


@each_combination
@given(a=QUERIES, rows=st.lists(ROWS, max_size=3))
def test_soft_membership_lies_between_0_and_1(combination: Combination, a: SetQuery, rows: list[dict[str, float]]) -> None:
    found = membership(a, {atom: [row[atom] for row in rows] for atom in a.atoms}, combination=combination)

    assert found.shape == (len(rows),)
    assert ((found >= 0) & (found <= 1)).all()


@each_combination
@given(a=QUERIES, row=ROWS, other=ROWS)
def test_soft_membership_rises_with_atoms_that_add_and_falls_with_those_that_take_away(
    combination: Combination, a: SetQuery, row: dict[str, float], other: dict[str, float]
) -> None:
    moved = {1: max, -1: min}
    better = {
        atom: moved[min(those)](row[atom], other[atom]) if len(those) == 1 else row[atom] for atom, those in signs(a).items()
    }

    before, after = membership(a, {atom: [row[atom], better[atom]] for atom in a.atoms}, combination=combination)

    assert before <= after + 1e-12


@each_combination
@given(a=QUERIES, row=ROWS, data=st.data())
def test_equal_queries_have_the_same_soft_membership(
    combination: Combination, a: SetQuery, row: dict[str, float], data: st.DataObject
) -> None:
    probabilities = {atom: [each] for atom, each in row.items()}
    b = data.draw(regrouped(a))

    one, two = (membership(each, probabilities, combination=combination) for each in (a, b))

    assert one == pytest.approx(two, abs=1e-12)


@given(QUERIES, QUERIES, QUERIES, ROWS)
def test_by_the_minimum_the_laws_of_sets_hold_between_0_and_1_too(
    a: SetQuery, b: SetQuery, c: SetQuery, row: dict[str, float]
) -> None:
    def soft(query: SetQuery) -> float:
        return float(membership(query, {atom: [each] for atom, each in row.items()}, combination="minimum")[0])

    assert soft(a & a) == soft(a) == pytest.approx(soft(a | a), abs=1e-12)
    assert soft(a & (b | c)) == pytest.approx(soft((a & b) | (a & c)), abs=1e-12)
    assert soft(a - (b | c)) == pytest.approx(soft((a - b) & (a - c)), abs=1e-12)
    assert soft(a.normal_form()) == pytest.approx(soft(a), abs=1e-12)


@each_combination
@given(value=st.floats(0, 1))
def test_a_union_with_what_nothing_belongs_to_is_as_probable_as_the_rest(combination: Combination, value: float) -> None:
    found = membership(SetQuery.union("A", "B"), {"A": [value], "B": [0.0]}, combination=combination)[0]

    assert found == (value if combination != "geometric" else pytest.approx(1 - (1 - value) ** 0.5))


def test_twenty_atoms_are_compared_in_little_space() -> None:
    atoms = [f"atom {number}" for number in range(20)]
    every, some = SetQuery.intersection(*atoms), SetQuery.union(*atoms)
    tracemalloc.start()

    found = contradictory(every - some), equivalent(every & some, every), equivalent(every, some)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == (True, True, False)
    assert peak < 25e6


@each_combination
def test_an_atom_alone_is_as_probable_as_it_is(combination: Combination) -> None:
    assert membership(SetQuery.atom("A"), {"A": [0.0, 0.3, 1.0]}, combination=combination).tolist() == [0.0, 0.3, 1.0]


@pytest.mark.parametrize(
    ("combination", "every", "some", "left"),
    [
        ("product", 0.9 * 0.8 * 0.5, 1 - 0.1 * 0.2 * 0.5, 0.9 * 0.2 * 0.5),
        ("minimum", 0.5, 0.9, 0.2),
        ("geometric", (0.9 * 0.8 * 0.5) ** (1 / 3), 1 - (0.1 * 0.2 * 0.5) ** (1 / 3), (0.9 * 0.2 * 0.5) ** (1 / 3)),
        ("lukasiewicz", 1 - 0.1 - 0.2 - 0.5, 1.0, 0.0),
    ],
)
def test_soft_memberships_are_those_worked_by_hand(combination: Combination, every: float, some: float, left: float) -> None:
    row = {"A": [0.9], "B": [0.8], "C": [0.5]}
    joined = (SetQuery.intersection("A", "B", "C"), SetQuery.union("A", "B", "C"), SetQuery.difference("A", "B", "C"))

    found = [float(membership(query, row, combination=combination)[0]) for query in joined]

    assert found == pytest.approx([every, some, left], abs=1e-12)
