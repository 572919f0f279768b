"""A comparison of two things as what has to be looked up for each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from rag_cover.coverage.hops_chains import chained
from rag_cover.coverage.hops_predicates import asked_of_each, asked_of_each_alike
from rag_cover.coverage.hops_words import ROLES, followed_by

__all__ = ["compared", "compares"]

_BE_OR_DO = r"(?:are|were|is|was|do|does|did|have|has)"
_ROLE = r"(?P<role>(?:co-)?[a-z]+?)(?:s|'s)?"
_KINDS = re.compile(r"(?:both )?(?:of )?(?:(?:the )?(?:[a-z-]+ ){0,2}[a-z]+s[,:]? )?(?=(?:the )?[^a-z ])")
_TELLS = re.compile(r"\b(?:they|it|he|she|who|which|that|when|where|after|before|than|did|does|was|were|is|are)\b")
_UNMARKED = r"(?<=[a-z]) (?=(?:the |a |an )?[^a-z ]\S*(?: [^ ]+)* or )"  # where a list begins without a comma
_MORE = r"\b(?:first|earlier|later|last|recently|more|most|(?:old|young|long|tall|short|larg|bigg|small|high|low|near|clos)er)\b"
_MASKED = re.compile(r'"[^"]*"|“[^”]*”|\([^()]*\)')


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two things, and the words for what they are compared by."""

    first: str
    second: str
    predicate: str
    role: str = ""
    noun: str = ""
    same: bool = False


def compares(question: str) -> bool:
    """Tell whether a question compares two things, be it one that rules can split or not."""
    masked = _masked(f"{question[:1].lower()}{question[1:]}")
    whether = re.match(rf"{_BE_OR_DO}\b", masked) is not None
    chooses = re.match(r"(?:who|which|what|whose|between|of|out of)\b.* or ", masked) is not None
    alike = " and " in masked and re.search(r"\b(?:same|both|in common|either|share)\b", masked) is not None
    return chooses or alike or (whether and (" or " in masked or alike or "same" in masked)) or " out of " in masked


def compared(question: str) -> tuple[str, ...]:
    """Ask of each of two things what a comparison needs to know; () where that cannot be told.

    >>> compared("Which film has the director who died first, Jaws or Alien")
    ('Who is the director of Jaws?', 'Who is the director of Alien?', 'When did #1 die?', 'When did #2 die?')
    """
    question = f"{question[:1].lower()}{question[1:]}"
    pair = next((pair for read in (_chosen, _alike) if (pair := read(question)) is not None), None)
    return _steps(pair) if pair is not None else ()


def _steps(pair: _Pair) -> tuple[str, ...]:
    things = [_named(thing, pair.role) for thing in (pair.first, pair.second)]
    described = any(step for step, _ in things)
    steps: tuple[str, ...] = ()
    subjects = []
    for earlier, name in things:
        steps = followed_by(steps, earlier)
        subjects.append(f"#{len(steps)}" if earlier else name)
    about = [_question(pair, subject, person=described and pair.role != "") for subject in subjects]
    return (*steps, *[text for text in about if text]) if all(about) else ()


def _question(pair: _Pair, subject: str, *, person: bool) -> str | None:
    if pair.same:
        return asked_of_each_alike(pair.predicate, subject)
    return asked_of_each(pair.predicate, subject, noun=pair.role if person else pair.noun)


def _named(thing: str, role: str) -> tuple[tuple[str, ...], str]:
    """Return the steps that find a thing, and its name where none are needed."""
    if role:
        return chained(f"Who is the {role} of {thing}?"), thing
    match = re.match(r"(?:the )?(?P<role>[a-z-]+) of (?P<thing>.+)", thing)
    if match and match["role"] in ROLES:
        return chained(f"Who is the {match['role']} of {match['thing']}?"), thing
    return (), thing


# Of two things, one is asked for


_WHICH = r"(?P<who>who|which|what|whose)(?: (?P<noun>(?!is\b|was\b|are\b|were\b|has\b|have\b|had\b|came\b|died\b)[\w\d '-]+?))??"


def _chosen(question: str) -> _Pair | None:
    for read in (_listed_last, _listed_inside, _listed_first, _whether):
        if (pair := read(question)) is not None:
            return pair
    return None


def _listed_last(question: str) -> _Pair | None:
    """Read "Which film came out first, Jaws or Alien", also without the comma."""
    masked = _masked(question)
    if not re.match(r"(?:who|which|what|whose)\b", masked):
        return None
    cuts = (re.search(pattern, masked) for pattern in (r",(?=.* or )", " out of ", ":(?=.* or )", _UNMARKED))
    cut = next((cut for cut in cuts if cut is not None), None)
    if cut is None or (not cut.group().strip() and not re.search(_MORE, masked[: cut.start()])):
        return None
    things = _two(question[cut.end() :], "or") or (_two(question[cut.end() :], "and") if "out of" in cut.group() else None)
    return _asked_first(question[: cut.start()], things)


def _listed_inside(question: str) -> _Pair | None:
    """Read "Which mall, Wilton Mall or Viaport, has more owners"."""
    match = re.fullmatch(r"(?P<ask>(?:which|what|who)[^,]*), (?P<things>.+ or .+), (?P<predicate>[a-z][^,]*)", question)
    things = _two(match["things"], "or") if match else None
    return _asked_first(f"{match['ask']} {match['predicate']}", things) if match else None


def _listed_first(question: str) -> _Pair | None:
    """Read "Between Jaws and Alien, which film came out first"."""
    match = re.fullmatch(r"(?:between|of|out of) (?P<things>.+ (?P<sep>and|or) .+), (?P<ask>(?:which|what|who)\b[^,]*)", question)
    things = _two(match["things"], match["sep"]) if match else None
    return _asked_first(match["ask"], things) if match else None


def _whether(question: str) -> _Pair | None:
    """Read "Was Homer or Plato born first"."""
    match = re.fullmatch(r"(?P<be>was|is|did) (?P<things>.+ or .+?) (?P<predicate>(?:[a-z]+ ){0,3}(?:first|earlier|later|last|older|younger))", question)
    things = _two(match["things"], "or") if match else None
    return _Pair(*things, predicate=f"{match['be'].lower()} {match['predicate']}") if match and things else None


def _asked_first(ask: str, things: tuple[str, str] | None) -> _Pair | None:
    """Read what two things are compared by: of themselves, or of who directed or wrote them."""
    if things is None:
        return None
    bridged = re.fullmatch(
        r"(?:which|what) (?P<noun>[\w ]+?)(?:'s| has (?:a|the)| have the| whose| had the| with the) (?P<role>[a-z-]+)(?: that| who)?"
        r" (?P<predicate>.+)",
        ask.strip(),
    )
    if bridged and bridged["role"] in ROLES:
        return _Pair(*things, predicate=bridged["predicate"], role=bridged["role"])
    plain = re.fullmatch(
        r"(?:who|which|what)(?: (?P<noun>.*?))??(?: (?P<predicate>(?:is|was|are|were|has|have|had|did|will|came|come|died|lived"
        r"|started|began|happened|occurred|opened|took|debuted|premiered|aired|originated|contains|covers|won)\b.*))",
        ask.strip(),
    )
    return _Pair(*things, predicate=plain["predicate"], noun=plain["noun"] or plain_who(ask)) if plain else None


def plain_who(ask: str) -> str:
    return "person" if ask.lower().startswith("who") else ""


# Of two things, it is asked whether both are so


def _alike(question: str) -> _Pair | None:
    match = re.match(rf"(?P<be>{_BE_OR_DO}) (?P<both>both )?(?P<rest>.+)", question)
    if match is None or " or " in _masked(question):
        return None
    be, rest = match["be"].lower(), match["rest"]
    for cut in _cuts(rest):
        predicate = rest[cut:].strip(" ,")
        pair = _both(be, rest[:cut].strip(" ,"), predicate)
        if pair is not None:
            return pair
    return None


def _cuts(rest: str) -> Iterator[int]:
    """Say where what is said of both may begin: the run of small words at the end."""
    masked = _masked(rest)
    if match := re.search(r",? (?:both )?(?:(?:[a-z]+,? ){0,9}the same (?:[\w]+ ?){1,4}(?:as .+)?|[a-z]+ the same .+)$", masked):
        yield match.start()
    elif match := re.search(r",? both (?!.* both )", masked):
        yield match.start()
    elif match := re.search(r",?(?: [A-Z]{2,4}| [A-Z]\w+(?:ican|lian|tish|lish|ench|rman|dian|nese|sian))?(?: [a-z]+){1,6}(?: [A-Z]\w+)?$", masked):
        yield match.start()


def _both(be: str, things: str, predicate: str) -> _Pair | None:
    predicate = predicate.removeprefix("both ")
    role = ""
    of_role = re.match(r"(?:both )?(?:the )?(?:both )?(?P<role>[a-z-]+)s of (?:both )?(?:the )?(?:[a-z]+s[,:]? )?(?P<things>[^a-z ].+)", things)
    if of_role and of_role["role"] in ROLES:
        role, things = of_role["role"], of_role["things"]
    having = re.match(r"(?:films? )?(?:have|has) (?:a |the )?(?P<role>[a-z-]+?)s? (?:who |that |which )?(?:(?:are|is|were) )?(?P<predicate>.+)", predicate)
    if having and having["role"] in ROLES:
        role, predicate = having["role"], having["predicate"]
    two = _two(things, "and") or None
    if two is None:
        as_match = re.fullmatch(r"(?P<predicate>(?:have|has|share)? ?the same .+?) as (?P<second>.+)", predicate)
        if as_match is None:
            return None
        two, predicate = (things, as_match["second"]), as_match["predicate"]
    return _Pair(*two, predicate=f"{be} {predicate}", role=role, same=True)


def _two(text: str, separator: str) -> tuple[str, str] | None:
    """Split a text into two things; None where it names none, or where more than one word could part them."""
    text = text.strip(" ,:")
    text = text[_KINDS.match(text).end() :] if _KINDS.match(text) else text
    masked = _masked(text)
    parted = [match.start() for match in re.finditer(rf",? {separator} ", masked)]
    if len(parted) > 1:
        parted = [at for at in parted if re.match(rf",? {separator} (?:the )?(?:director|composer|performer|author|film)\b", masked[at:])]
    if len(parted) != 1:
        return None
    first, second = text[: parted[0]], text[parted[0] :].lstrip(" ,").removeprefix(f"{separator} ")
    clean = first.strip(" ,"), second.strip(" ,")
    return clean if all(clean) and not any(_TELLS.search(_masked(thing)) for thing in clean) else None


def _masked(text: str) -> str:
    """Blank out quotes and brackets, as long as they were."""
    return _MASKED.sub(lambda match: re.sub(r"\S", "Q", match.group()), text)
