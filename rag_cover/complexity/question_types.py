"""The classes of complex questions that the paper names, recognised in English questions by rules.

Gabburo et al., "Measuring retrieval complexity in question answering systems" (ACL Findings 2024). The rules go by the wording
alone, ask no model, and rather miss a question than claim one: many that need two steps do not say so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache

from rag_cover.english.lexicon import NOT_SUPERLATIVE, QUESTION_WORDS, YES_NO_OPENERS, one_of
from rag_cover.placeholder import Placeholder

__all__ = ["Kind", "kinds_of"]

_READ = 1000  # characters: some rules take time that grows with the square of a text's length

_Rule = Callable[[str], bool]


class Kind(StrEnum):
    """What makes a question complex by its form; a question may be of several kinds."""

    MULTI_HOP = "multi-hop"
    COMPARATIVE = "comparative"
    TEMPORAL_EXPLICIT = "temporal explicit"
    TEMPORAL_IMPLICIT = "temporal implicit"
    SUPERLATIVE = "superlative"
    AGGREGATE = "aggregate"
    SET_OPERATION = "set operation"


def kinds_of(question: str) -> tuple[Kind, ...]:
    """Return the kinds of complex question that this is, in the order of `Kind`; none for what looks simple.

    The first 1,000 characters are read. Where a question is redacted, what stands in its place says its kinds.

    >>> [str(kind) for kind in kinds_of("Which film has the younger director, Jaws or Alien?")]
    ['comparative']
    >>> kinds_of("Who wrote Emma?")
    ()
    """
    if placeholder := Placeholder.read(question):
        return tuple(kind for kind in Kind if kind in placeholder.kinds)
    text = _without_names(" ".join(question[:_READ].replace("’", "'").split())).lower()
    return tuple(kind for kind, is_it in _RULES.items() if is_it(text))


_IN_NAMES = r"(?<=\S )(?:After|Before|During|Since|Until|While|When|[A-Z]\w+est|Most|Best|Least|More|Less|Both|Same)\b"


def _without_names(text: str) -> str:
    """Blank out what belongs to names: brackets, such as a film's year, and words of the rules with a capital inside."""
    return re.sub(_IN_NAMES, "Name", re.sub(r"\([^()]*\)", " ", text))


def _one_of(words: str) -> str:
    """Make the alternatives of a list of words, in which ``_`` is a space."""
    return one_of(word.replace("_", " ") for word in words.split())


def _any_of(patterns: str) -> _Rule:
    """Make the rule that one of several patterns, a line each, is found; compiled when first asked."""

    @cache
    def regex() -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{pattern})" for pattern in patterns.strip("\n").split("\n")))

    return lambda asked: regex().search(asked) is not None


_ASKS_WHETHER = rf"^(?:and )?{one_of(YES_NO_OPENERS)}\b"

# Comparative

_MORE = _one_of(
    """
    more less fewer better worse earlier later sooner older younger elder longer shorter taller bigger larger smaller higher
    lower faster slower closer nearer farther further greater heavier lighter richer poorer newer stronger weaker hotter
    colder wider deeper busier cheaper safer harder easier first last
    """
)
_compares = _any_of(
    rf"""
\b{_MORE}\b(?! than (?:an? |one |half |\d|two|three|ten)).* than\b
\w(?<!oth)(?<!rath)er than (?!an? |one |\d)
^(?:and )?(?:which|who|what|whose|of)\b.*\b{_MORE}\b.*[,:;\-–]? .+ or \w
{_ASKS_WHETHER}.* or .*\b{_MORE}\b
^(?:which|who|what (?!are\b|were\b))\b[^,:]*[,:] ?(?:the |an? )?[^,]+,? or (?:the |an? )?[^,]+\?*$
{_ASKS_WHETHER}.*\bboth\b
\b(?:and|both)\b.*\bthe same\b(?! time)
\bthe same \w+(?: \w+)? as\b
{_ASKS_WHETHER}.* and .*\b(?:share|differ|in common)\b
\bwhat do .+ and .+ have in common\b
\b(?:differences?|similarity|similarities|comparison) between\b
\b(?:compared? (?:to|with)|versus|vs|different from)\b
"""
)

# Temporal

_MONTH = _one_of("january february march april may june july august september october november december")
_NO_YEAR = rf"(?![\d.,%-]*\d| ?{_one_of('people miles meters metres km kilomet feet dollars %')})"
_YEAR = rf"(?<![\d.,$-])(?:1\d{{3}}|20\d{{2}})(?:-\d{{2,4}})?{_NO_YEAR}"
_ORDINAL = (
    r"(?:\d{1,2}(?:st|nd|rd|th)|\w+(?:teenth|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|elfth|tieth))"
)
_names_a_time = _any_of(
    rf"""
\b{_YEAR}\b
\b(?:1\d|20)?\d0'?s\b
\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b
\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b
\b{_ORDINAL}[- ]century\b
"""
)

_DATE = rf"(?:the )?(?:early |mid |late |end of |beginning of )?(?:{_MONTH}|\d)"
_RECURRING = r"(?:what|which|(?:the )?(?:summer|winter|spring|autumn|fall|day|night))\b"
_THEY = _one_of("the he she they it his her their its")
_HAPPENED = _one_of("was were died left became won took began started")
_AFTER = r"(?<!named)(?<!comes)(?<!come)(?<!goes) (?:before|after)"
_NO_WHEN = "".join(f"(?<!{verb})" for verb in ("happens", "happened", "happen", "called", "mean", "means", "used"))
_is_timed_by_an_event = _any_of(
    rf"""
\S (?:during|while|prior to|at the time (?:of|when|that)) (?!{_RECURRING}|{_DATE})\w
{_AFTER} (?:\w+ing|he|she|they|it|his|her|their|its|world war|\w+ {_HAPPENED})\b
{_AFTER} the (?!word|letter|name|comma|verb|noun|number|{_DATE})\w
\S (?:until|since) (?!{_DATE})(?:{_THEY}|world war)\b
\b(?:in|during|since|of) the {_one_of("year season month day decade century period era")} (?:that|when|in which|during which)\b
"""
)
_ANYONE = r"(?:an? |(?:you|one|something|someone|people|there|we|i)\b)"
_has_a_when_clause = _any_of(
    rf"""
^(?!when\b).*{_NO_WHEN} when {_THEY}\b
^(?!when\b).*{_NO_WHEN} when (?!{_ANYONE})\S+ (?:\w+ ){{0,3}}{_HAPPENED}\b
"""
)
_is_past = _any_of(r"\b(?:did|was|were|had|\w{2,}ed|won|became|took|left|began|sang|wrote|led)\b")

# Superlative

_NO_SUPERLATIVES = NOT_SUPERLATIVE | frozenset(
    """
    attest beast bequest brest bucharest budapest conquest detest disinterest divest earnest everest feast houseguest infest
    ingest lest molest rainforest reforest self-interest tempest unrest wrest
    """.split()  # noqa: SIM905  # two lines instead of twenty
)
_AWARD = _one_of(
    "actor actress picture director supporting foreign original album new male female song music film movie western buy"
)
_SETTING = _one_of("'s s' whose has have had won wins win scored made with got his her its their sold")
_says_most = _any_of(
    rf"""
\bthe (?:most|least|fewest)\b(?! part\b| of\b)
\b{_SETTING} (?:most|fewest)\b(?! of\b)
\b(?:most|least) (?:popular|common|important|expensive|\w{{3,}}(?:ous|ful|ive|ant|ent|ated|able|ible))\b
\bthe (?:best|worst)\b(?! {_AWARD})
"""
)


def _is_superlative(asked: str) -> bool:
    return _says_most(asked) or any(word not in _NO_SUPERLATIVES for word in re.findall(r"\b[a-z]{2,}est\b", asked))


# Aggregate

_counts = _any_of(
    r"""
\bhow many\b
\bthe (?:total |combined |average |overall )?(?:number|amount|sum|count) of\b
\b(?:in total|on average|altogether|combined (?:age|population|length|total))\b
\b(?:total|average|mean|median) \w+(?: \w+)? (?:of|for|in|per)\b
"""
)

# Set operation

# "what" and "which" begin lists, too: "Which films are …"
_QUESTION_WORD = one_of((QUESTION_WORDS - {"whom", "whose", "what", "which"}) | YES_NO_OPENERS)
_LIST = rf"^(?!{_QUESTION_WORD}\b)"
_ASK = r"(?:what are |which are |list |find |name |show )?(?:all )?(?:the )?"
_NOT = _one_of("not aren't isn't don't doesn't weren't wasn't cannot never excluding")
_ABOUT = _one_of("set shot filmed found about from in of by published based also featuring including belonging")
_combines = _any_of(
    rf"""
\S (?:but|and|that|which|though) (?:\w+ ){{0,2}}{_NOT}\b
\b(?:excluding|excepting|except for|except|apart from|aside from|neither|other than|besides)\b
\b(?:not|nor) {_ABOUT}\b
\b(?:that|which|who) (?:are|were|is|was|have|has) (?:also|both|either)\b
\b(?:and|which|that|who|are) also\b
{_LIST}.*\bnon[- ](?!fiction)[a-z]+.*s\b
{_LIST}.*\b(?:both|either)\b
{_LIST}.*\w,? or \w
{_LIST}{_ASK}(?!the |what |which )[\w' -]+s,? (?:that|which) (?:are|were)\b
"""
)

# Multi-hop

_RELATED = _one_of(
    """
    director co-director composer performer author writer co-writer founder creator producer inventor architect designer
    developer screenwriter lyricist singer editor publisher spouse wife husband widow father mother parent son daughter
    child brother sister sibling successor predecessor manufacturer owner coach discoverer birthplace hometown birth_place
    capital employer record_label
    """
)
_GRAND = r"(?:(?:(?:paternal|maternal|great)[- ]?)?grand(?:father|mother|parent|son|daughter|child))"
_STEP = r"(?:(?:step|half)-?(?:father|mother|brother|sister|son|daughter|child))"
_KIN = rf"(?:{_GRAND}|{_STEP}|\w+-in-law|aunt|uncle|niece|nephew|cousin)(?:s|ren)?"
_HAVING = r"(?:'s|s'|whose|has the|have the|with the|has a)(?: first| second| eldest| youngest)?"
_DESCRIBED = rf"(?:\b{_RELATED}(?:s|ren)? of\b(?! all\b)|{_HAVING} {_RELATED}(?:s|ren)?\b)"
_FACT = _one_of(
    """
    born die dies died death birth birthday birthplace nationality national citizenship buried graduate graduated educated
    study studied employed live lived older younger award awards from_the_same country age old married spouse religion cause
    residence hometown occupation mother father wife husband work_at worked_at ethnicity alma_mater
    """
)
_NOBODY = _one_of("person one man woman name people way part guy girl same first last")
_NO_PREPOSITION = r"(?<! of)(?<! in)(?<! on)(?<! to)(?<! at)(?<! by)(?<! from)"
_WHICH = _one_of("that who which where whose in_which to_which for_which at_which")
_THE_ONE_WHICH = rf"the (?!{_NOBODY}\b)\w+(?: \w+)?{_NO_PREPOSITION} {_WHICH}\b"
_FROM_WHERE = r"(?:where|how \w+|(?:from|in|to|at|on) (?:what|which) \w+)"
_takes_two_steps = _any_of(
    rf"""
(?:'s|s') {_KIN}\b
\b{_KIN} of\b
(?:'s|s') {_RELATED}'s \w
{_DESCRIBED}.*{_DESCRIBED}
(?<!name )\b(?:of|in|by|from|for|to|with|does|did|near|on|at) {_THE_ONE_WHICH}
^{_FROM_WHERE} (?:is|was|are|were|does|did) {_THE_ONE_WHICH}
^(?:what|which) (?!is |was |are |were |do |does |did )(?:\w+ ){{1,2}}(?:whose|that|who)\b
"""
)
_asks_a_fact = _any_of(rf"\b{_FACT}\b|^(?:which|what) (?:school|university|college)\b|\bfrom *\?*$")


def _is_multi_hop(asked: str) -> bool:
    """Check for a description inside a description, or for a fact about something that is only described."""
    if _takes_two_steps(asked):
        return True
    described = re.search(_DESCRIBED, asked)
    return described is not None and _asks_a_fact(f"{asked[: described.start()]}|{asked[described.end() :]}")


_RULES: Mapping[Kind, _Rule] = {
    Kind.MULTI_HOP: _is_multi_hop,
    Kind.COMPARATIVE: _compares,
    Kind.TEMPORAL_EXPLICIT: _names_a_time,
    Kind.TEMPORAL_IMPLICIT: lambda asked: _is_timed_by_an_event(asked) or (_has_a_when_clause(asked) and _is_past(asked)),
    Kind.SUPERLATIVE: _is_superlative,
    Kind.AGGREGATE: _counts,
    Kind.SET_OPERATION: lambda asked: _combines(asked) and not _compares(asked),
}
