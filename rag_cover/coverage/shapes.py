"""The shapes English questions take, and what a full answer to each would say: patterns with their templates.

The first shape that a question has counts. A template whose fields could not be told is left out (`templates`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from rag_cover.coverage.templates import Fields, fields_of, filled
from rag_cover.questions import Role

__all__ = ["Facet", "facets_of"]

Facet = tuple[Role, str]

_ME = r"(?:i|we|you|one|people|someone)"
_MORE = r"(?P<comparative>better|worse|more\ \w+|\w{2,}er)"
_PAST = r"(?P<past>(?!there\b|not\b)\S[^?]*)"
_AFFECTS = r"(?:affect|influenc|impact|chang|harm|benefit|shap)"


@dataclass(frozen=True, slots=True)
class _Shape:
    pattern: str
    core: tuple[str, ...] = ()
    background: tuple[str, ...] = ()
    follow_up: tuple[str, ...] = ()

    def facets(self, fields: Fields) -> Iterator[Facet]:
        for role, templates in zip(Role, (self.core, self.background, self.follow_up), strict=True):
            yield from ((role, text) for template in templates if (text := filled(template, fields)) is not None)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | re.IGNORECASE)


def _comparison(pattern: str) -> _Shape:
    return _Shape(
        pattern,
        core=("{how_x}", "{how_y}", "{merits_x}", "{merits_y}", "What are the differences between {x} and {y}?"),
        background=("{what_x}", "{what_y}"),
        follow_up=("When is it better to choose {x} over {y}?",),
    )


_COMPARISONS = (
    _comparison(r".*\b(?:differences?|similarit(?:y|ies)|comparison)\ between\ (?P<x>[^?]+?)\ and\ (?P<y>[^?]+)"),
    _comparison(r"compare\ (?P<x>[^?]+?)\ (?:and|with|to)\ (?P<y>[^?]+)"),
    _comparison(r"how\ (?:is|are|do|does)\ (?P<x>[^?]+?)\ (?:differ(?:ent)?\ from|compare\ (?:to|with))\ (?P<y>[^?]+)"),
    _comparison(rf"(?:is|are)\ (?P<x>[^?]+?)\ {_MORE}\ than\ (?P<y>[^?]+)"),
    _comparison(rf"(?:is|are)\ (?P<x>[^?]+?)\ or\ (?P<y>[^?]+?)\ {_MORE}(?:\ for\ [^?]+)?"),
    _comparison(rf"(?:which|what|who)(?:\ one)?\ is\ (?:the\ )?{_MORE}\b[^,:?]*[,:]\ *(?P<x>[^?]+?)\ or\ (?P<y>[^?]+)"),
    _comparison(r"(?P<x>[^?]+?)\ (?:vs\.?|versus)\ (?P<y>[^?]+)"),
    _comparison(r"how\ (?:do|does)\ (?P<x>[^?]+?)\ and\ (?P<y>[^?]+?)\ (?:compare|differ)"),
)

_DECISIONS = (
    _Shape(
        rf"how\ (?:to|(?:do|can|could|should|would)\ {_ME})\ (?P<act>[^?]+)",
        core=("What are the steps to {act}?", "What is needed to {act}?"),
        background=("What should be known before trying to {act}?",),
        follow_up=("How long does it take to {act}?", "What can go wrong when trying to {act}?"),
    ),
    _Shape(
        rf"should\ {_ME}\ (?P<act>\w+)\ or\ (?P<other>\w+)(?P<rest>\ [^?]+)",
        core=("What are the reasons to {act} {rest}?", "What are the reasons to {other} {rest}?"),
        follow_up=("What should be considered after deciding to {act} {rest}?",),
    ),
    _Shape(
        rf"should\ {_ME}\ (?P<act>[^?]+)",
        core=("What are the reasons to {act}?", "What are the reasons not to {act}?"),
        follow_up=("What should be considered after deciding to {act}?",),
    ),
    _Shape(
        rf"why\ should\ {_ME}\ (?P<act>[^?]+)",
        core=("What are the reasons to {act}?",),
        follow_up=("What are the reasons not to {act}?",),
    ),
    _Shape(
        r"is\ it\ (?P<adjective>\w+)\ to\ (?P<act>[^?]+)",
        core=("When is it {adjective} to {act}?", "When is it not {adjective} to {act}?"),
    ),
)

_EFFECTS = (
    _Shape(
        r"what\ (?:is|are|was|were)\ (?P<what>the\ (?:\w+\ )?(?:effects?|impacts?|consequences|symptoms|risks|dangers))\ of"
        r"\ (?P<x>[^?]+?)(?:\ on\ [^?]+)?",
        background=("{what_x}",),
        follow_up=("What can be done about {what} of {x}?",),
    ),
    _Shape(
        r"what\ (?:(?:is|are|was|were)\ the\ (?:\w+\ )?(?:causes?|reasons?)\ (?:of|for|behind)|causes|caused)\ (?P<x>[^?]+)",
        background=("{what_x}",),
        follow_up=("What are the consequences of {x}?", "What can be done about {x}?"),
    ),
    _Shape(
        rf"how\ (?:(?P<be>is|are)|(?P<have>has|have)|do|does|did)\ (?P<x>[^?]+?)\ {_AFFECTS}(?(be)ing|(?(have)ed|e?))"
        r"\ (?!over\b|since\b|during\b|in\b|from\b)(?P<y>[^?]+)",
        core=("What are the effects of {x} on {y}?",),
        background=("{what_x}", "What causes {x}?"),
        follow_up=("What can be done about the effects of {x} on {y}?",),
    ),
    _Shape(
        r"how\ (?:has|have|had|did|is|are)\ (?P<x>[^?]+?)\ (?:chang|evolv|develop)(?:e|ed|ing)?\b[^?]*",
        core=("What {x_was} {x} like in the past?", "What {x_is} {x} like today?"),
        background=("{what_x}",),
        follow_up=("How {x_is} {x} expected to change in the future?",),
    ),
    _Shape(
        r"how\ (?:do|does)\ (?P<x>[^?]+?)\ work",
        core=("What makes {x} work?",),
        background=("{what_x}",),
        follow_up=("What are the limits of {x}?",),
    ),
)

_REASONS = (
    _Shape(
        r"why\ (?:do|does|is|are)\ (?P<clause>(?!there\b|not\b)\S[^?]*)",
        core=("What makes {causative}?",),
        background=("{what_subject}",),
    ),
    _Shape(rf"why\ (?:did|was|were|has|have|had|can|could|will|would|should)\ {_PAST}", background=("{what_subject}",)),
)

_FACTS = (
    _Shape(
        r"(?:what|which|who)\ (?:is|are)\ (?P<best>the\ (?:best|worst|(?:most|least)\ \w+|\w{3,}est)\ [^?]+)",
        core=("What are the candidates for {best}?",),
        background=("What makes something count as {best}?",),
    ),
    _Shape(r"who\ (?:is|was)\ (?P<x>[A-Z][^?]+)", core=("What is {x} known for?",), background=("Where is {x} from?",)),
    _Shape(
        r"what\ (?:is|are|was|were)\ the\ (?:\w+\ ){1,3}(?:of|in|for)\ (?P<x>[^?]+?)(?:\ (?:in|on|at)\ [^?]+)?",
        background=("{what_x}",),
    ),
    _Shape(
        r"(?:what\ (?:is|are)|define|describe|explain|(?P<does>what\ does))"
        r"\ (?P<x>(?:an?\ |the\ )?[\w-]+(?:\ [\w-]+){0,3}?)(?(does)\ mean)",
        core=("What are the main characteristics of {x}?",),
        follow_up=("Why {x_is} {x} important?", "What are examples of {x}?"),
    ),
    _Shape(
        r"(?:(?:when|where)\ )?(?:can|could|do|does|did|is|are|was|were|will|would|has|have)\ " + _PAST,
        background=("{what_subject}",),
    ),
)

_SHAPES = (*_COMPARISONS, *_DECISIONS, *_EFFECTS, *_REASONS, *_FACTS)


def facets_of(question: str) -> tuple[Facet, ...]:
    """List what else a full answer to one question in English would say; the question comes without its question mark.

    >>> [text for _, text in facets_of("How does inflation affect mortgage rates")][:2]
    ['What are the effects of inflation on mortgage rates?', 'What is inflation?']
    """
    for shape in _SHAPES:
        if match := _compiled(shape.pattern).fullmatch(question):
            return tuple(shape.facets(fields_of(match.groupdict())))
    return ()
