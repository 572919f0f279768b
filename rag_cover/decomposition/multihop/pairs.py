"""Two things that a question compares, and the words for what they are compared by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_cover.decomposition.multihop.words import ROLES, mask_quotes
from rag_cover.english.lexicon import BE, HAVE

__all__ = ["DIFFERENCE", "ComparedThings", "pair_in"]

_DETAIL = r"\b(?:they|it|he|she|who|which|that|when|where|after|before|than|did|does|was|were|is|are)\b"  # in no plain name
_MORE = (
    r"\b(?:first|earlier|later|last|recently|more|most|(?:old|young|long|tall|short|larg|bigg|small|high|low|near|clos)er)\b"
)
_UNMARKED = r"(?<=[a-z]) (?=(?:the |a |an )?[^a-z ]\S*(?: [^ ]+)* or )"  # where a list begins without a comma
_NATION = r"(?:[A-Z]{2,4}|British|[A-Z]\w+(?:ican|lian|ish|ench|rman|dian|nese|sian))"
_KINDS = r"(?:both )?(?:of )?(?:(?:the )?(?:[a-z-]+ ){0,2}[a-z]+s[,:]? )?(?=(?:the )?[^a-z ])"
_VERBS = (
    BE
    | HAVE
    | frozenset(
        """did will came come died lived began happened occurred took won wrote ran contains covers sold threw got
    went made costs cost takes take lasts last weighs weigh""".split()  # noqa: SIM905  # two lines instead of twenty
    )
)


DIFFERENCE = re.compile(
    r"(?:what is|how (?:big|large|high) is) the (?:(?P<before>[a-z][a-z -]*?) difference(?: in [a-z][a-z -]*?)?"
    r"|difference in (?:the )?(?P<after>[a-z][a-z -]*?)) between (?P<things>.+ and .+)"
)
"""A difference in a property that is named; without one, as between TCP and UDP, no two values are compared."""


@dataclass(frozen=True, slots=True)
class ComparedThings:
    """Two things as compared; by a ``role``, it is who has that role for each that is."""

    first: str
    second: str
    predicate: str
    role: str = ""
    noun: str = ""
    both: bool = False


def pair_in(question: str) -> ComparedThings | None:
    """Read a comparison, which begins with a small letter; None where the two things or their predicate are unclear.

    >>> pair_in("which film came out first, Jaws or Alien")
    ComparedThings(first='Jaws', second='Alien', predicate='came out first', role='', noun='film', both=False)
    """
    one = (_list_inside, _list_at_start, _whether, _list_at_end, _more_than)
    readings = (_difference, *one, _have_in_common, _as_much, _both)
    return next((pair for read in readings if (pair := read(question)) is not None), None)


# One of two is asked for


def _list_at_end(question: str) -> ComparedThings | None:
    """Read "which film came out first, Jaws or Alien", also without the comma."""
    text = mask_quotes(question)
    if not re.match(r"(?:who|which|what|whose)\b", text):
        return None
    cuts = (re.search(pattern, text) for pattern in (r",(?=.* or )", r" out of (?=.* and )", r":(?=.* or )", _UNMARKED))
    cut = next((cut for cut in cuts if cut is not None), None)
    if cut is None or (not cut.group().strip() and not re.search(_MORE, text[: cut.start()])):
        return None
    separator = "and" if "out of" in cut.group() else "or"
    return _pair_from_ask(question[: cut.start()], _two(question[cut.end() :].removeprefix(" out of"), separator))


def _list_inside(question: str) -> ComparedThings | None:
    """Read "which mall, Wilton Mall or Viaport, has more owners"."""
    match = re.fullmatch(r"(?P<ask>(?:which|what|who)[^,]*), (?P<things>.+ or .+), (?P<predicate>[a-z][^,]*)", question)
    return _pair_from_ask(f"{match['ask']} {match['predicate']}", _two(match["things"], "or")) if match else None


def _list_at_start(question: str) -> ComparedThings | None:
    """Read "between Jaws and Alien, which film came out first"."""
    match = re.fullmatch(
        r"(?:between|of|out of) (?P<things>.+ (?P<separator>and|or) .+), (?P<ask>(?:which|what|who)\b[^,]*)", question
    )
    return _pair_from_ask(match["ask"], _two(match["things"], match["separator"])) if match else None


def _whether(question: str) -> ComparedThings | None:
    """Read "was Homer or Plato born first", "does Rome or Oslo have more people"."""
    match = re.fullmatch(
        r"(?P<verb>was|is|did|does|do) (?P<things>.+ or .+?)"
        r" (?P<predicate>(?:[a-z]+ ){0,3}(?:first|earlier|later|last|older|younger)|have (?:more|fewer|less) .+)",
        question,
    )
    things = _two(match["things"], "or") if match else None
    return ComparedThings(*things, _full_predicate(match["verb"], match["predicate"])) if match and things else None


def _more_than(question: str) -> ComparedThings | None:
    """Read "does Rome have more people than Oslo", "is Rome older than Oslo"."""
    match = re.fullmatch(
        r"(?P<verb>was|is|did|does|do|are) (?P<first>.+?)"
        r" (?P<predicate>(?:have |born |released )?(?:more|fewer|less|earlier|later|\w+er)(?: [\w -]+)?) than (?P<second>.+)",
        question,
    )
    clear = match and not re.search(_DETAIL, mask_quotes(f"{match['first']} {match['second']}"))
    return (
        ComparedThings(match["first"], match["second"], _full_predicate(match["verb"], match["predicate"]))
        if match and clear
        else None
    )


def _full_predicate(verb: str, predicate: str) -> str:
    return f"{verb} {predicate}" if verb in BE else predicate


def _pair_from_ask(ask: str, things: tuple[str, str] | None) -> ComparedThings | None:
    """Read what two things are compared by: of themselves, or of who directed or wrote them."""
    if things is None:
        return None
    ask = re.sub(r",? of (?:the two|these two|the following|these)\b", "", ask.strip())
    bridged = re.fullmatch(
        r"(?:which|what) [\w ]+?(?:'s| has an?| has the| have the| had the| whose| with the) (?P<role>[a-z-]+)(?: that| who)?"
        r" (?P<predicate>.+)",
        ask,
    )
    if bridged and bridged["role"] in ROLES:
        return ComparedThings(*things, predicate=bridged["predicate"], role=bridged["role"])
    words = ask.split()
    verb = next((at for at, word in enumerate(words) if at and (word in _VERBS or word.endswith("ed"))), None)
    if verb is None or words[0] == "whose":
        return None
    noun = "person" if words[0] == "who" else " ".join(words[1:verb])
    return ComparedThings(*things, predicate=" ".join(words[verb:]), noun=noun)


# Of two things, it is asked whether both are so, or what both are


def _have_in_common(question: str) -> ComparedThings | None:
    """Read "what river do the Tower and the Bridge have in common"."""
    match = re.fullmatch(
        r"(?:what|which) (?P<noun>[a-z][\w ]*?) (?:do|does|did) (?:both )?(?P<things>.+ and .+?)"
        r"(?: both)? (?:have in common|share)",
        question,
    )
    things = _two(match["things"], "and") if match else None
    return ComparedThings(*things, f"do have the same {match['noun']}", both=True) if match and things else None


def _difference(question: str) -> ComparedThings | None:
    """Read "what is the price difference between Rome and Oslo", "what is the difference in price between …"."""
    match = DIFFERENCE.fullmatch(question)
    things = _two(match["things"], "and") if match else None
    if match is None or things is None:
        return None
    return ComparedThings(*things, f"do have the same {match['before'] or match['after']}", both=True)


def _as_much(question: str) -> ComparedThings | None:
    """Read "does Homer have the same nationality as Plato"."""
    match = re.fullmatch(
        r"(?P<verb>are|were|is|was|do|does|did) (?P<first>.+?)"
        r" (?P<predicate>(?:[a-z]+ ){0,4}the same [\w ]+?) as (?P<second>.+)",
        question,
    )
    if match is None or re.search(_DETAIL, mask_quotes(f"{match['first']} {match['second']}")):
        return None
    return ComparedThings(match["first"], match["second"], f"{match['verb']} {match['predicate']}", both=True)


def _both(question: str) -> ComparedThings | None:
    """Read "are Homer and Plato from the same country", "are both films by directors …"."""
    match = re.match(r"(?P<verb>are|were|is|was|do|does|did|have|has) (?P<rest>.+ and .+)", question)
    if match is None:
        return None
    rest = match["rest"]
    cut = next(_cuts(mask_quotes(rest)), None)
    return _both_are(match["verb"], rest[:cut].strip(" ,"), rest[cut:].strip(" ,")) if cut else None


def _cuts(text: str) -> Iterator[int]:
    """List where the predicate of both may begin: at the small words before "the same", at "both", at the last small words."""
    patterns = (
        r",? (?:both )?(?:(?:[a-z]+,? ){0,9}the same (?:[\w]+ ?){1,5}|[a-z]+ the same .+)$",
        r",? both (?!.* both )",
        rf",?(?: {_NATION}(?: [A-Z]\w+)?)?(?: [a-z-]+)+(?: [A-Z]\w+)?$",
        rf" {_NATION}$",
    )
    return (match.start() for pattern in patterns if (match := re.search(pattern, text)) is not None)


def _both_are(verb: str, things: str, predicate: str) -> ComparedThings | None:
    """Read what is said of two things, or of their directors: "the directors of Jaws and Alien", "have directors from …"."""
    of_role = re.match(
        r"(?:both )?(?:the )?(?:both )?(?P<role>[a-z-]+)s of (?:both )?(?:the )?(?:[a-z]+s[,:]? )?(?P<things>[^a-z ].+)", things
    )
    having = re.match(
        r"(?:films? )?(?:have|has) (?:a |the )?(?P<role>[a-z-]+?)s? (?:who |that |which )?"
        r"(?:(?P<verb>are|is|were|was) )?(?P<said>.+)",
        predicate.removeprefix("both "),
    )
    if of_role and of_role["role"] in ROLES:
        return _pair_of(of_role["things"], f"{verb} {predicate.removeprefix('both ')}", of_role["role"])
    if having and having["role"] in ROLES:
        return _pair_of(things, f"{having['verb'] or 'are'} {having['said']}", having["role"])
    return _pair_of(things, f"{verb} {predicate.removeprefix('both ')}", "")


def _pair_of(things: str, predicate: str, role: str) -> ComparedThings | None:
    two = _two(things, "and")
    return ComparedThings(*two, predicate, role=role, both=True) if two else None


def _two(text: str, separator: str) -> tuple[str, str] | None:
    """Split a text into two things; None where it names none, or where more than one word could part them."""
    text = re.sub(rf"^{_KINDS}", "", text.strip(" ,:").removeprefix("both "))
    parted = [match.start() for match in re.finditer(rf",? {separator} ", mask_quotes(text))]
    if len(parted) > 1:
        described = re.compile(rf",? {separator} (?:the )?(?:director|composer|performer|author|film)\b")
        parted = [at for at in parted if described.match(text, at)]
    if len(parted) != 1:
        return None
    first, second = text[: parted[0]].strip(" ,"), text[parted[0] :].lstrip(" ,").removeprefix(f"{separator} ").strip(" ,")
    return (first, second) if first and second and not re.search(_DETAIL, mask_quotes(f"{first} {second}")) else None
