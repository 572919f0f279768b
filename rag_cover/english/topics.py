"""Topics in place of questions: what keywords ask for ("opening hours"), and turns of a chat that ask nothing ("Thanks!")."""

from __future__ import annotations

import re

from rag_cover.english.lexicon import ARTICLES, DEMONSTRATIVES, POSSESSIVES, QUESTION_WORDS, YES_NO_OPENERS, one_of
from rag_cover.english.noun_phrases import head_noun, is_noun_phrase, is_plural, split_list
from rag_cover.english.words import words_of
from rag_cover.short_forms import capitalise
from rag_cover.texts import sentences

__all__ = [
    "ASKS_NOTHING",
    "ask_for_attribute",
    "blank_opener",
    "is_courtesy",
    "is_small_talk",
    "split_topics",
    "strip_courtesies",
]

ASKS_NOTHING = "the question asks nothing: it is a greeting, thanks, or a word of agreement"
"""Why small talk is not measured."""
_ATTRIBUTES = frozenset(
    words_of(
        """address advantages age amount benefits capacity causes charge charges code color colour cost costs currency date
        dates deadline deadlines definition deposit dimensions disadvantages discount discounts distance dosage drawbacks
        duration email fare fares fee fees frequency height hours ingredients length limit limits location menu name number
        password passwords penalty phone policy population postcode price prices procedure rate rates rent requirements rule
        rules salary schedule size sizes speed symptoms tariff tariffs temperature time times timetable title value volume
        warranty weight width"""
    )
)
"""Nouns that ask for one thing of another: who types "wifi password" wants the password, not all about it."""
_MADE_DEFINITE = re.compile(rf"{one_of(ARTICLES | POSSESSIVES | DEMONSTRATIVES)}\b|\S+['’]s?\s", re.IGNORECASE)
_ORDER = re.compile(
    r"(?:please )?(?:tell me (?:something |more )?about|what about|info(?:rmation)? (?:on|about))\s+", re.IGNORECASE
)
_LATIN = re.compile(r"[A-Za-z0-9 .,'’&-]+")
_LEAST_LISTED = 3
_MOST_WORDS = 4  # of keywords that name one attribute

_TURNS = (
    "hi|hello|hey|hiya|greetings|good (?:morning|afternoon|evening|day|night)|welcome|bye|goodbye|see you|farewell"
    "|thanks|thank you|thx|cheers|ta|many thanks|much appreciated|appreciated|no worries|you['’]?re welcome"
    "|ok|okay|k|great|perfect|cool|nice|good|fine|awesome|excellent|wonderful|super|lovely|alright|all right|sure|right"
    "|lol|haha|got it|understood|i see|makes sense|that['’]?s (?:all|it)|that(?: really)? helps|that helped|very helpful"
    "|yes|yep|yeah|no|nope|nah"
    "|that (?:fixed|worked|did|solved|sorted)(?: it)?|(?:i )?hope you(?:['’]re| are) (?:well|ok|fine)"
    "|have a (?:nice|good|great|lovely) (?:day|evening|weekend|one|time)"
)
_PADDING = (
    "there|again|all|everyone|team|you|so much|very much|a lot|a bunch|please|for (?:your|the|all your) help|for now|then|later"
    "|and|oh|ah|well|very|much"
)
_SMALL_TALK = re.compile(rf"\W*(?:(?:{_TURNS})\b\W*(?:(?:{_PADDING})\b\W*)*)+", re.IGNORECASE)


def is_small_talk(text: str) -> bool:
    """Return whether a turn of a chat is only a greeting, thanks, or a word of agreement, and asks nothing.

    >>> [is_small_talk(text) for text in ("Thanks!", "Hi there", "Great, thank you so much.", "Hi, is there wifi?")]
    [True, True, True, False]
    """
    return _SMALL_TALK.fullmatch(text) is not None


_COURTESY = re.compile(
    r"""(?:(?:hi|hello|hey|sorry|excuse\ me|please)\W+)?(?:
    (?:can|could|would|will)\ (?:you|someone|anyone|somebody|anybody)\ (?:please\ )?(?:help|assist)(?:\ (?:me|us))?
        (?:\ (?:out|here|(?:with|on)\ (?:this|that|it|something|a\ (?:question|problem|few\ (?:questions|things)))))?
    |(?:can|could|may)\ i\ ask(?:\ you)?(?:\ (?:something|a\ (?:quick\ )?question|one\ thing))?
    |(?:do|have)\ you\ (?:have|got)\ a\ (?:minute|moment|second)(?:\ for\ me)?
    |are\ you\ there|is\ any(?:one|body)\ there|how\ are\ you(?:\ (?:doing|today))*
    |you\ (?:did\ not|didn['’]t|never)\ answer(?:ed)?\ (?:my|the)\ question|that['’]s\ not\ what\ i\ (?:asked|meant)
    |(?:can|could)\ you\ (?:please\ )?(?:answer|reply|respond)(?:\ (?:me|quickly|soon|fast|briefly|shortly|today))*
    )(?:,?\ please)?\W*""",
    re.VERBOSE | re.IGNORECASE,
)


def is_courtesy(text: str) -> bool:
    """Return whether a question only opens or ends a turn of a chat, and asks nothing of what documents say.

    >>> [is_courtesy(text) for text in ("Can you help me?", "Can I ask you something?", "Can you help me reset my password?")]
    [True, True, False]
    """
    return _COURTESY.fullmatch(text) is not None


_GREETING = re.compile(
    rf"""^(?:(?:hi|hello|hey|hiya|good\ (?:morning|afternoon|evening)|dear\ [^,.!?]{{1,40}})
        (?:\ (?:there|all|everyone|team))?[,!.:]\s+
    |(?:hi|hello|hey|hiya)(?:\ there)?\ (?=(?:{one_of(QUESTION_WORDS | YES_NO_OPENERS)}|i|please)\b))""",
    re.IGNORECASE | re.VERBOSE,
)
_ANNOUNCEMENT = re.compile(
    r"^(?:(?:just )?(?:an? |one |another |one more |a few |some |several |two |three )?(?:quick |short |simple )?"
    r"(?:questions?|things?)(?: for you)?|q|by the way|btw)\s*(?::|,|-|–|—)\s+(?=\S)",
    re.IGNORECASE,
)
"""What announces a question: "Quick question: …"."""
_PLEASE = re.compile(r"(?:,? please|, (?:thanks|thank you))(?=[?!.]*$)", re.IGNORECASE)
_CLOSING = re.compile(
    r"""(?:(?:kind|best|warm|many)\ )*(?:regards|wishes)\b.*|(?:many\ )?thanks\b.*|thank\ you\b.*
    |yours\ (?:sincerely|truly)\b.*|cheers\b.*""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_LONGEST_CLOSING = 8  # words


def strip_courtesies(text: str) -> str:
    """Leave out greetings, thanks and polite questions round what is asked; a text of nothing else stays as it is.

    >>> strip_courtesies("Hello, can you help me? How do I renew my card? Thanks!"), strip_courtesies("Can you help me?")
    ('How do I renew my card?', 'Can you help me?')
    """
    pieces = [span.of(text) for span in sentences(text)]
    kept = [piece for piece in pieces if not (is_small_talk(piece) or is_courtesy(piece) or _is_closing(piece))]
    if not kept:
        return text
    first = _ANNOUNCEMENT.sub("", _GREETING.sub("", kept[0], count=1), count=1)
    last = _PLEASE.sub("", first if len(kept) == 1 else kept[-1])
    asked = [last] if len(kept) == 1 else [first, *kept[1:-1], last]
    return text if asked == pieces else " ".join([capitalise(asked[0]), *asked[1:]])


_OPENERS = re.compile(
    r"""\s*(?:
    (?P<yes>sure(?:\ thing)?|of\ course|certainly|absolutely|definitely)\s*[!.]
    |(?:(?:hi|hello|hey)(?:\ there)?|(?:great|good)\ question|no\ problem|(?:i['’]?m\ |i\ am\ )?(?:happy|glad)\ to\ help
    |(?:thanks|thank\ you)\ for\ (?:asking|your\ question|reaching\ out)|here['’]?s\ (?:the|your)\ answer)\s*[!.,:]
    )[!.]*\s+(?=\S)""",
    re.VERBOSE | re.IGNORECASE,
)


def blank_opener(answer: str, question: str) -> str:
    """Put spaces in the place of the courtesy that an answer begins with, so that places in it stay the same.

    "Sure!" says yes to a question for yes or no, and stays there.

    >>> blank_opener("Sure! It opens at 9.", "When does it open?"), blank_opener("Sure! Until 9.", "Is it open?")
    ('      It opens at 9.', 'Sure! Until 9.')
    """
    match = _OPENERS.match(answer)
    is_yes_or_no = question.split(" ", 1)[0].lower() in YES_NO_OPENERS
    if match is None or (match["yes"] and is_yes_or_no):
        return answer
    return " " * match.end() + answer[match.end() :]


def _is_closing(piece: str) -> bool:
    return "?" not in piece and _CLOSING.fullmatch(piece) is not None and len(piece.split()) <= _LONGEST_CLOSING


def ask_for_attribute(keywords: str) -> str | None:
    """Ask for what keywords name, without a question mark; None where they name no attribute.

    >>> ask_for_attribute("opening hours"), ask_for_attribute("wifi password"), ask_for_attribute("climate change")
    ('what are the opening hours', 'what is the wifi password', None)
    """
    if not 0 < len(keywords.split()) <= _MOST_WORDS or not is_noun_phrase(keywords):
        return None
    if head_noun(keywords).lower() in _ATTRIBUTES:
        article = "" if _MADE_DEFINITE.match(keywords) else "the "
        return f"what {'are' if is_plural(keywords) else 'is'} {article}{keywords}"
    return None


def split_topics(text: str) -> tuple[str, ...]:
    """List the topics that somebody wants to hear about; empty where there is one, or where they may belong together.

    >>> split_topics("Tell me about opening times, prices and parking"), split_topics("opening times and prices")
    (('opening times', 'prices', 'parking'), ('opening times', 'prices'))
    >>> split_topics("supply and demand"), split_topics("Is it red, green and blue")
    ((), ())
    """
    bare = _ORDER.sub("", text, count=1)
    if not _LATIN.fullmatch(bare):
        return ()
    topics = split_list(bare)
    if len(topics) < 2 or not all(is_noun_phrase(topic) and len(topic.split()) <= _MOST_WORDS for topic in topics):  # noqa: PLR2004
        return ()
    attributes = sum(head_noun(topic).lower() in _ATTRIBUTES for topic in topics)
    listed = len(topics) >= _LEAST_LISTED and attributes > 0
    return tuple(topics) if listed or attributes == len(topics) else ()
