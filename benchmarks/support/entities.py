r"""A built corpus with known set algebra: entities of several kinds, described in prose, and questions that ask for sets.

Two worlds, ``validation`` and ``test``, share neither kinds nor values nor wording, neither of texts nor of questions: what is
fitted on the one says something about the other. The first has novels, birds, restaurants, software libraries and scientists,
the second films, plants, museums, board games and musicians, in equal numbers and mixed in one corpus; places are shared among
the kinds of a world, so that "Lisbon" alone finds novels, restaurants and scientists.

*Texts* have 3 to 7 sentences, 60 words or a few more. The first names the entity and its kind, the others come in any order:

- what the entity is, in four or five attributes with one to three values each, each in one of several sentences; in three of
  ten the value goes unnamed ("plays out in the Portuguese capital", "first published in 1984")
- one or two sentences that mention a value which the entity does *not* have: negations ("it does not occur in Peru"), or words
  in passing ("a reprint of 1992", "unlike the author's Lisbon trilogy")
- sentences that say nothing to any question

*Questions* ask for one to three such values of one kind, in QUEST's seven templates, in words that differ from the texts':
with explicit connectives, modifiers ("Portuguese crime novels"), shared heads and relative clauses. Gold is set algebra over
what was drawn; a text that is silent about an attribute has none of its values. So that each template asks for something of
its own, the gold of

- any question has 2 to 40 members, that of a union of three up to 60
- an intersection has at most half the members of any of its parts
- a difference is less by at least a quarter of what it is taken from
- a union owes to each part at least a fifth of its members

Nothing in the making looks at what any retriever or judge finds.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from benchmarks.support.entities_phrases import Atom, phrased
from benchmarks.support.entities_prose import Entity, entities
from benchmarks.support.entities_wording import Kind, WorldName, wording
from rag_cover.backends import Retriever
from rag_cover.questions import Passage
from rag_cover.setqueries.algebra import SetQuery
from rag_cover_embedded.retrieval.fusion import rank_scores
from rag_cover_embedded.retrieval.keywords import Keywords

SIZE = 2_100
PER_TEMPLATE = 40
TEMPLATES = ("A", "A ∪ B", "A ∩ B", "A \\ B", "A ∪ B ∪ C", "A ∩ B ∩ C", "A ∩ B \\ C")
FEWEST, MOST, MOST_OF_THREE = 2, 40, 60
_SEEDS: Mapping[WorldName, int] = {"validation": 11, "test": 23}
_RETRIEVED = 30
_SHARES = ("member",) * 4 + ("mentioned",) * 2 + ("retrieved",) * 2 + ("kind", "other")

Search = Callable[[str], Sequence[str]]
"""Finds the ids of passages for an atom, best first."""
_DRAWS = 3_000


@dataclass(frozen=True, slots=True)
class SetQuestion:
    """A question, what it means, and the ids of the passages whose entities it asks for."""

    question: str
    query: SetQuery
    template: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pair:
    """Whether a passage's entity belongs to an atom's set; ``why`` tells how the pair was found.

    ``why`` is "member", "mentioned" (the text has the value in passing or denies it), "retrieved", "kind" (any of the same
    kind), or "other" (any of another kind).
    """

    atom: str
    passage: Passage
    label: bool
    why: str


@dataclass(frozen=True, slots=True)
class World:
    """A corpus, questions to it, and for each atom's text the ids of its members and of those that only mention it."""

    passages: tuple[Passage, ...]
    questions: tuple[SetQuestion, ...]
    members: Mapping[str, frozenset[str]]
    mentioning: Mapping[str, frozenset[str]]
    kinds: Mapping[str, str]


def world(name: WorldName, *, size: int = SIZE, seed: int | None = None, of: int | None = None) -> World:
    """Build a world of ``size`` entities that questions ask for among ``of`` in all, the same for the same arguments.

    The others have values that no question names, wherever an attribute knows any.
    """
    rng = random.Random(_SEEDS[name] if seed is None else seed)  # noqa: S311  # a draw, not a secret
    words = wording(name)
    taken: set[str] = set()
    found = _drawn(words.kinds, size, rng, elsewhere=False, taken=taken)
    members, mentioning, atoms = _sets(words.kinds, found)
    questions = [question for template in TEMPLATES for question in _questions(template, words.questions, atoms, members, rng)]
    found += _drawn(words.kinds, (of or size) - size, rng, elsewhere=True, taken=taken)
    rng.shuffle(found)
    kinds = {str(each.passage.id): each.kind.plural for each in found}
    return World(tuple(each.passage for each in found), tuple(questions), members, mentioning, kinds)


def membership_pairs(world: World, n: int, seed: int, *, retriever: Retriever | None = None) -> list[Pair]:
    """Draw labelled pairs: of ten, four members, two that only mention, two retrieved, one of the kind, one of another.

    Retrieved ones are among the first of ``retriever`` (None: BM25) for the atom and are no members. An atom without a pair of
    one sort has none, so that there may be a few less than ``n``.
    """
    rng = random.Random(seed)  # noqa: S311  # a draw, not a secret
    search = _by_words(world.passages) if retriever is None else _by(retriever)
    passages = {str(passage.id): passage for passage in world.passages}
    atoms = sorted(atom for atom, members in world.members.items() if members)
    pools = cache(lambda atom: _pools(world, atom, search(atom)))
    pairs: dict[tuple[str, str], Pair] = {}
    for number in range(n):
        atom, why = rng.choice(atoms), _SHARES[number % len(_SHARES)]
        if pool := pools(atom)[why]:
            found = rng.choice(pool)
            pairs[atom, found] = Pair(atom, passages[found], why == "member", why)
    return list(pairs.values())


def _drawn(kinds: Sequence[Kind], size: int, rng: random.Random, *, elsewhere: bool, taken: set[str]) -> list[Entity]:
    return [
        entity
        for number, kind in enumerate(kinds)
        for entity in entities(kind, len(range(number, size, len(kinds))), rng, elsewhere=elsewhere, taken=taken)
    ]


def _sets(
    kinds: Sequence[Kind], found: Sequence[Entity]
) -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]], list[Atom]]:
    atoms = [
        Atom(kind, each, value)
        for kind in kinds
        for each in kind.attributes
        for value in each.values
        if value.name in each.asked
    ]
    members = {atom.text: frozenset(str(each.passage.id) for each in found if atom.meaning in each.has) for atom in atoms}
    only = {atom.text: frozenset(str(each.passage.id) for each in found if atom.meaning in each.mentions) for atom in atoms}
    return members, only, atoms


def _questions(
    template: str,
    phrasings: Mapping[str, Sequence[str]],
    atoms: Sequence[Atom],
    members: Mapping[str, frozenset[str]],
    rng: random.Random,
) -> Iterator[SetQuestion]:
    """Draw questions of one template, in turn of each kind."""
    kinds = list(dict.fromkeys(atom.kind.plural for atom in atoms))
    asked: set[SetQuery] = set()
    for kind in itertools.islice(itertools.cycle(kinds), 4 * PER_TEMPLATE):
        for chosen in _possible(template, [atom for atom in atoms if atom.kind.plural == kind], members, rng):
            query = query_of(template, [atom.text for atom in chosen])
            if query not in asked and (question := phrased(phrasings[template], chosen, rng)):
                asked.add(query)
                yield SetQuestion(question, query, template, query.members(members))
                break
        if len(asked) == PER_TEMPLATE:
            return


def _possible(
    template: str, atoms: Sequence[Atom], members: Mapping[str, frozenset[str]], rng: random.Random
) -> Iterator[list[Atom]]:
    """Draw atoms for a template, whose gold is worth asking for."""
    few = [atom for atom in atoms if "∪" not in template or len(members[atom.text]) <= most_of(template)]
    for _ in range(_DRAWS):
        chosen = rng.sample(few, len(_letters(template).atoms))
        if worth_asking(template, [members[atom.text] for atom in chosen]):
            yield chosen


@cache
def _letters(template: str) -> SetQuery:
    return query_of(template, "ABC")


def query_of(template: str, atoms: Sequence[str]) -> SetQuery:
    r"""Put atoms into a template.

    >>> str(query_of("A ∩ B \\ C", ["a", "b", "c"]))
    '("a" ∩ "b") \\ "c"'
    """
    a, b, c = (SetQuery.atom(atom) for atom in (*atoms, *atoms, *atoms)[:3])
    return {
        "A": a,
        "A ∪ B": a | b,
        "A ∩ B": a & b,
        "A \\ B": a - b,
        "A ∪ B ∪ C": a | b | c,
        "A ∩ B ∩ C": a & b & c,
        "A ∩ B \\ C": (a & b) - c,
    }[template]


def worth_asking(template: str, sets: Sequence[frozenset[str]]) -> bool:
    """Tell whether the gold is of a size to ask for and differs from its parts (see the module)."""
    gold = _letters(template).members(dict(zip("ABC", sets, strict=False)))
    if not FEWEST <= len(gold) <= most_of(template):
        return False
    if "∪" in template:
        return all(len(each - frozenset().union(*_others(sets, each))) >= len(gold) / 5 for each in sets)
    joined = sets[:-1] if "\\" in template else sets
    whole = frozenset.intersection(*joined)
    narrow = len(joined) == 1 or len(whole) <= min(map(len, joined)) / 2
    return narrow and ("\\" not in template or len(whole) - len(gold) >= len(whole) / 4)


def most_of(template: str) -> int:
    """Return how many members the gold of a template may have."""
    return MOST_OF_THREE if template == "A ∪ B ∪ C" else MOST


def _others(sets: Sequence[frozenset[str]], each: frozenset[str]) -> list[frozenset[str]]:
    return [other for other in sets if other is not each]


def _by_words(passages: Sequence[Passage]) -> Search:
    keywords = Keywords.of(passages)
    return lambda atom: [str(passages[place].id) for place in rank_scores(keywords.scores(atom), _RETRIEVED)]


def _by(retriever: Retriever) -> Search:
    return lambda atom: [str(passage.id) for passage in retriever.retrieve(atom, k=_RETRIEVED)]


def _pools(world: World, atom: str, retrieved: Sequence[str]) -> Mapping[str, list[str]]:
    members = world.members[atom]
    kind = world.kinds[min(members)]
    return {
        "member": sorted(members),
        "mentioned": sorted(world.mentioning[atom] - members),
        "retrieved": [each for each in retrieved if each not in members],
        "kind": [each for each, its in world.kinds.items() if its == kind and each not in members],
        "other": [each for each, its in world.kinds.items() if its != kind],
    }
