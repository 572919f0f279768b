"""Plain statements that answer a question in its own words, about names that nobody knows, and their look-alikes.

Where a text repeats all words of a question, one name decides whether it answers: "Mount Kell stands behind Aros" says which
mountain stands behind Aros, "A mountain stands behind Aros" does not, and neither does "Mount Kell stands behind Lorn".
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.example import NO_SPAN, Example, answering, not_answering
from rag_cover_embedded.training.sources import sentences_of, squad_paragraphs
from rag_cover_embedded.training.splits import Part

AS_REPLY = 0.4
AMONG_OTHERS = 0.35
"""The share of statements that stand among sentences about something else."""
ROUNDS = 12
"""Pairs of names for each relation in a pass."""

RELATIONS = """
river|runs through|run through|town
road|leads to|lead to|village
port|serves|serve|service
mountain|stands behind|stand behind|village
wine|is made in|-|valley
train|stops in|stop in|town
company|makes|make|device
person|owns|own|mill
person|founded|found|company
person|designed|design|bridge
person|discovered|discover|compound
person|wrote|write|novel
person|directed|direct|film
person|leads|lead|department
person|maintains|maintain|library
person|translated|translate|poem
person|won|win|award
person|commanded|command|ship
person|succeeded|succeed|mayor
country|borders|border|lake
country|exports|export|mineral
country|signed|sign|treaty
city|hosts|host|festival
city|lies on|lie on|river
court|hears|hear|case
agency|approves|approve|drug
ministry|issues|issue|permit
law|governs|govern|contract
tax|applies to|apply to|product
clause|covers|cover|damage
plan|includes|include|service
insurer|pays for|pay for|treatment
drug|treats|treat|disease
drug|interacts with|interact with|substance
gene|encodes|encode|protein
enzyme|breaks down|break down|substance
organ|produces|produce|hormone
vitamin|prevents|prevent|disease
bacterium|causes|cause|disease
insect|pollinates|pollinate|plant
bird|nests in|nest in|tower
animal|lives on|live on|island
plant|grows on|grow on|slope
acid|dissolves|dissolve|metal
gas|fills|fill|lamp
planet|orbits|orbit|star
probe|visited|visit|comet
telescope|observes|observe|galaxy
rocket|launched|launch|satellite
team|plays at|play at|stadium
player|scored against|score against|team
coach|trains|train|team
band|recorded|record|album
actor|played|play|role
painter|painted|paint|portrait
museum|owns|own|painting
architect|built|build|church
saint|is honoured in|-|chapel
bus|goes to|go to|airport
ferry|crosses|cross|bay
airline|flies to|fly to|island
gate|is used by|-|flight
bridge|spans|span|gorge
tunnel|passes under|pass under|mountain
key|opens|open|menu
button|resets|reset|device
command|deletes|delete|record
setting|controls|control|timeout
function|returns|return|value
module|parses|parse|file
class|implements|implement|interface
protocol|encrypts|encrypt|message
version|fixed|fix|bug
error|stops|stop|job
team member|reviews|review|request
office|handles|handle|complaint
form|replaces|replace|certificate
committee|rejected|reject|proposal
party|governs|govern|region
tribe|settled|settle|valley
king|ruled|rule|kingdom
army|besieged|besiege|fortress
ship|sank off|sink off|cape
storm|hit|hit|coast
crop|is grown in|-|district
cheese|comes from|come from|valley
spice|flavours|flavour|dish
oil|lubricates|lubricate|chain
filter|removes|remove|impurity
sensor|measures|measure|pressure
cable|connects to|connect to|socket
battery|powers|power|sensor
store|sells|sell|model
publisher|printed|print|edition
bank|finances|finance|project
union|represents|represent|workforce
school|teaches|teach|subject
breed|herds|herd|flock
dye|colours|colour|cloth
""".strip()
"""Kinds of things and how they stand to one another: subject, verb, its base form ("-": not asked the other way), object."""
SYLLABLES = (
    "bar",
    "ben",
    "cal",
    "cor",
    "dan",
    "del",
    "dor",
    "el",
    "fal",
    "fen",
    "gar",
    "gil",
    "hal",
    "har",
    "hol",
    "ing",
    "jor",
    "kel",
    "kes",
    "kil",
    "lan",
    "lor",
    "mar",
    "mel",
    "mor",
    "nal",
    "nor",
    "ol",
    "or",
    "pel",
    "per",
    "quin",
    "ran",
    "ros",
    "sal",
    "sel",
    "tam",
    "tar",
    "tol",
    "ul",
    "ven",
    "ver",
    "wal",
    "wen",
    "zel",
    "zor",
)
ENDINGS = ("", "a", "by", "dale", "en", "ford", "ham", "ing", "is", "l", "mont", "o", "on", "stead", "t", "um", "y")
_ASKING = ("Which {kind} {verb} {other}?", "What {kind} {verb} {other}?", "Name the {kind} that {verb} {other}.")
_ASKING_BACK = ("Which {kind} does {other} {base}?", "What {kind} does {other} {base}?")
_EMPTY = (
    "A {kind} {verb} {other}.",
    "One {kind} {verb} {other}.",
    "The {kind} that {verb} {other} is well known.",
    "Many people ask which {kind} {verb} {other}.",
    "It matters a great deal which {kind} {verb} {other}.",
    "There is a {kind} that {verb} {other}.",
)
_PAST = frozenset(
    {
        "founded",
        "designed",
        "discovered",
        "wrote",
        "directed",
        "translated",
        "won",
        "commanded",
        "succeeded",
        "signed",
        "launched",
        "visited",
        "scored against",
        "recorded",
        "played",
        "painted",
        "built",
        "fixed",
        "rejected",
        "settled",
        "ruled",
        "besieged",
        "sank off",
        "hit",
        "printed",
    }
)


@dataclass(frozen=True, slots=True)
class StatedRelation:
    """Kinds of things, and the verb between them; an empty ``base`` is not asked the other way."""

    kind: str
    verb: str
    base: str
    other_kind: str

    def ask_back(self, template: str, subject: str) -> str:
        """Ask for the other thing."""
        asked = template.format(kind=self.other_kind, other=subject, base=self.base)
        return asked.replace(" does ", " did ") if self.verb in _PAST else asked


def plain_examples(data: Path, rng: random.Random, part: Part) -> Iterator[Example]:
    """Ask each relation about several pairs of names: the statement, one without the name, one about another thing."""
    fillers = [sentence for context, _ in squad_paragraphs(data, part) for sentence in sentences_of(context)]
    for relation in read_relations(part):
        for _ in range(ROUNDS):
            subject, other = (make_name(kind, rng) for kind in (relation.kind, relation.other_kind))
            if subject in other or other in subject:
                continue
            stated = f"{subject} {relation.verb} {other}."
            question = rng.choice(_ASKING).format(kind=relation.kind, verb=relation.verb, other=other)
            yield _among(question, _first_up(stated), subject, fillers, rng)
            empty = rng.choice(_EMPTY).format(kind=relation.kind, verb=relation.verb, other=other)
            elsewhere = f"{make_name(relation.kind, rng)} {relation.verb} {make_name(relation.other_kind, rng)}."
            yield _among(question, rng.choice((_first_up(empty), _first_up(elsewhere))), "", fillers, rng)
            if relation.base:
                back = relation.ask_back(rng.choice(_ASKING_BACK), subject)
                yield _among(back, _first_up(stated), other, fillers, rng)
                nothing = f"{subject} {relation.verb} a {relation.other_kind}."
                yield _among(back, rng.choice((_first_up(nothing), _first_up(elsewhere))), "", fillers, rng)


def read_relations(part: Part) -> list[StatedRelation]:
    """Read the relations of a part: every tenth serves to fit."""
    rows = [line.split("|") for line in RELATIONS.splitlines()]
    kept = [row for number, row in enumerate(rows) if (number % 10 == 0) == part.is_fitted_on]
    return [StatedRelation(kind, verb, "" if base == "-" else base, other) for kind, verb, base, other in kept]


def make_name(kind: str, rng: random.Random) -> str:
    """Make up a name for a thing of a kind: alone, after the kind, before it, or a code."""
    name = "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(1, 2))) + rng.choice(ENDINGS)
    name = name.capitalize()
    if kind in ("person", "team member", "king", "saint", "player", "coach", "actor", "painter", "architect"):
        second = "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(1, 2))).capitalize()
        return rng.choice((name, f"{name} {second}"))
    code = rng.choice(
        (f"{rng.choice('ABCDEFKMRTX')}{rng.randint(1, 990)}", f"{name} {rng.randint(2, 900)}", str(rng.randint(10, 9000)))
    )
    return rng.choice(
        (name, f"the {kind} {name}", f"the {name} {kind}", f"the {kind} {code}", code if kind != "town" else name)
    )


def _among(question: str, text: str, answer: str, fillers: Sequence[str], rng: random.Random) -> Example:
    """Put a statement alone or among other sentences, and read it as a passage or as a reply."""
    before = f"{rng.choice(fillers)} " if rng.random() < AMONG_OTHERS else ""
    after = f" {rng.choice(fillers)}" if rng.random() < AMONG_OTHERS else ""
    whole = f"{before}{text}{after}"
    start = whole.lower().find(answer.lower(), len(before))
    place = (start, start + len(answer)) if answer else NO_SPAN
    if not before and not after and rng.random() < AS_REPLY:
        return Example(Task.REPLIES, question, whole, float(bool(answer)), place)
    return answering(question, whole, place) if answer else not_answering(question, whole)


def _first_up(text: str) -> str:
    return text[:1].upper() + text[1:]
