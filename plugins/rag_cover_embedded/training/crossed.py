"""Examples composed from texts in which answering is crossed with sharing the question's words (`texts/crossed.jsonl`).

Each sub-question comes with texts that answer it and texts that do not, with its words and without them. Code composes them
to replies and passages of up to twelve pieces in prose, lists, Markdown and tables; labels follow from the composition.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.example import ABSTAINS, NO_SPAN, Example
from rag_cover_embedded.training.sources import read_json_rows
from rag_cover_embedded.training.splits import Part, bucket

TEXTS = Path(__file__).parent / "texts"
MOST_WORDS = 125
HELD_OUT = ("postal", "release notes", "psycholog", "religion", "mytholog", "safety", "pets")
"""Words of the names of domains that are kept from the weights."""
_STANDALONE = ("same", "other", "list", "table", "two")
_SEED = {
    "yes": {"short": "short", "same": "shared", "other": "other", "lean": "leaning", "list": "list", "table": "table"},
    "no": {key: key for key in ("mention", "attribute", "entity", "hypothetical", "other")},
}

REFUSALS = (
    "I'm sorry, but the provided context does not mention {clause}.",
    "The provided documents do not contain information about {clause}.",
    "Based on the context provided, I cannot determine {clause}.",
    "I could not find {clause} in the retrieved passages.",
    "The context does not specify {clause}.",
    "There is no information on {clause} in the sources I was given.",
    "It is not stated {clause}.",
    "I don't know {clause}.",
    "Unfortunately, I have no data on {topic}.",
    "The text says nothing about {topic}.",
    "While the passages discuss related matters, they do not say {clause}.",
    "I am unable to tell you {clause} from the available material.",
    "{Topic}: not specified in the documents.",
    "None of the sources reveals {clause}, so I can't answer that.",
    "To find out {clause}, please consult the official website.",
    "As an AI language model, I don't have access to {topic}.",
    "No details are given regarding {topic}.",
    "{Topic}: unknown.",
)
"""Templates of refusals in a question's words."""
EMPTY = (
    "{question}",
    "You asked: {question}",
    "Great question! Let me explain {clause}.",
    "## {Topic}",
    "{Topic}",
    "**{Topic}:**",
    "Here is what you need to know about {topic}:",
    "In the following, we look at {clause}.",
    "This section is about {topic}.",
    "{Topic} is described in detail in the next chapter.",
    "Many people wonder {clause}. It is a question that comes up again and again.",
    "You would like to know {clause}. That is an interesting question.",
    "The question of {clause} has been discussed for a long time.",
    "See the page on {topic} for more.",
    "Please tell me more, so that I can say {clause}.",
)
"""Templates of texts in a question's words that say nothing."""
LEADS = (
    "Here is {clause}: {answer}",
    "You asked {clause}. {answer}",
    "According to the documents, {answer}",
    "{question} {answer}",
    "**{Topic}**: {answer}",
    "{Topic}: {answer}",
    "## {Topic}\n{answer}",
    "Q: {question}\nA: {answer}",
    "I'm not entirely sure, but I believe: {answer}",
    "Sorry for the delay! {answer}",
    "The context is short on {topic}, but it does give the answer: {answer}",
    "I looked up {clause}. {answer}",
)
"""Templates that lead up to an answer, so that neither a heading nor an apology gives the label away."""
GENERIC_REFUSALS = (
    "I don't know.",
    "I'm sorry, I can't help with that.",
    "Unknown.",
    "Not specified.",
    "N/A",
    "No information available.",
    "I could not find an answer in the provided context.",
    "The documents do not contain the answer.",
    "I'm not able to answer this question based on the given information.",
    "Sorry, the context is insufficient.",
    "I have no information about this.",
    "That is not mentioned anywhere in the passages.",
    "Please contact customer support for further assistance.",
    "Could you please provide more details?",
    "For more information, please visit our website.",
    "As a language model I cannot answer that.",
    "It depends.",
    "Insufficient information.",
    "no answer found",
    "None of the retrieved passages covers this.",
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a composed text: of which sub-question it is, whether it answers or refuses that one."""

    owner: int
    text: str
    answers: bool = False
    refuses: bool = False


def read_topics(data: Path, part: Part) -> list[dict[str, Any]]:
    """Read the topics of a part: a user's question with its sub-questions; the seed rows have one sub-question each."""
    seed = map(_from_seed, read_json_rows(data / "judge/crossed_seed.jsonl"))
    return [row for row in (*seed, *read_json_rows(TEXTS / "crossed.jsonl")) if is_held_out(row["domain"]) == part.is_fitted_on]


def is_held_out(domain: str) -> bool:
    """Return whether a domain's topics train nothing: they serve to choose and to fit."""
    return any(word in domain.lower() for word in HELD_OUT)


def _from_seed(row: dict[str, Any]) -> dict[str, Any]:
    cells = row["cells"]
    texts = {
        side: {ours: cells[f"{'answer' if side == 'yes' else 'no'}_{theirs}"] for ours, theirs in keys.items()}
        for side, keys in _SEED.items()
    }
    return {
        "domain": row["domain"],
        "question": row["question"],
        "subs": [{"s": row["question"], "type": re.sub(r"\W", "", row["type"]), **texts, "unknown": [cells["unknown"]]}],
    }


def make_crossed_examples(
    data: Path, rng: random.Random, part: Part, *, composed: float = 2.5, share: float = 1.0
) -> Iterator[Example]:
    """Build one pass: a sample of single texts, and about so many composed ones for each topic and sub-question.

    Of the topics, the given share is read, always the same ones.
    """
    topics = [topic for topic in read_topics(data, part) if bucket(topic["question"]) < 100 * share]
    domains = defaultdict(list)
    types = defaultdict(list)
    for topic in topics:
        domains[topic["domain"]].append(topic)
        for sub in topic["subs"]:
            types[sub["type"]].append(sub)
    for topic in topics:
        for sub in topic["subs"]:
            yield from single_examples(topic, sub, types, rng)
        for _ in range(round(composed * max(1, len(topic["subs"]) * 0.75))):
            yield from _compose_examples(topic, rng.choice(domains[topic["domain"]]), rng)


def single_examples(
    topic: dict[str, Any], sub: dict[str, Any], types: dict[str, list[dict[str, Any]]], rng: random.Random
) -> Iterator[Example]:
    """Pair a sub-question with texts alone, so many of each kind that shared words say nothing about answering.

    About as many answer with the question's words (``same``, and answers behind a lead) as do not (``no``, refusals, empty
    texts), and as many without them (``yes``) as do not (``other``, refusals in other words, other questions' answers).
    """
    question, whole = sub["s"], topic["question"]
    for cell, text in sub["yes"].items():
        if rng.random() < SHARES.get(cell, 0.6):
            yield _pair(question, text, whole, rng, answers=True, reply=0.75 if cell in ("short", "lean") else 0.5)
    for cell, text in sub["no"].items():
        if rng.random() < (1.0 if cell == "other" else 0.5):
            yield _pair(question, text, whole, rng, answers=False)
    for text in (*sub["unknown"], rng.choice(GENERIC_REFUSALS)):
        if rng.random() < 0.4:
            yield _pair(question, text, whole, rng, answers=False, abstains="wholly", reply=0.6)
    yield from _fill_templates(sub, whole, rng)
    yield from _answers_to_others(topic, sub, types, rng)


SHARES = {"same": 1.0, "other": 0.9}
"""The share of the cells that answer which a pass reads; of the other cells it reads 0.6."""
LED = 0.35
"""The share of answers that are also put behind a lead."""


def _answers_to_others(
    topic: dict[str, Any], sub: dict[str, Any], types: dict[str, list[dict[str, Any]]], rng: random.Random
) -> Iterator[Example]:
    """Pair a sub-question with answers to others: of another kind, of the same kind elsewhere, and of the same topic."""
    question, whole = sub["s"], topic["question"]
    if (unlike := [kind for kind in types if _unlike(kind, sub["type"])]) and rng.random() < 0.5:
        bare = rng.choice(types[rng.choice(unlike)])["yes"]["short"]
        yield _pair(question, bare, whole, rng, answers=False, reply=0.75)
    elsewhere, beside = rng.choice(types[sub["type"]]), rng.choice(topic["subs"])
    for other, share in ((elsewhere, 0.5), (beside, 0.7)):
        if other is not sub and rng.random() < share:
            text = other["yes"][rng.choice([cell for cell in _STANDALONE if cell in other["yes"]])]
            if not _gives_away(sub, text):
                yield _pair(question, text, whole, rng, answers=False)


def _fill_templates(sub: dict[str, Any], whole: str, rng: random.Random) -> Iterator[Example]:
    """Put the question's words into refusals and empty texts, and before answers."""
    question, named = sub["s"], _naming(sub)
    if not named:
        if rng.random() < 0.3:
            yield _pair(question, question, whole, rng, answers=False)
        return
    for template in (rng.choice(REFUSALS), rng.choice(EMPTY)):
        if rng.random() < 0.5:
            abstains = "wholly" if template in REFUSALS else "no"
            yield _pair(question, template.format(**named), whole, rng, answers=False, abstains=abstains, reply=0.6)
    for text in sub["yes"].values():
        if rng.random() < LED:
            lead = rng.choice(LEADS).format(**named, answer=text)
            place = lead.rindex(text)
            yield _pair(question, lead, whole, rng, answers=True, span=(place, place + len(text)))


_FORMS = {
    "who": "name", "where": "name", "when": "date", "howmany": "number", "howmuch": "number", "yesno": "yesno",
    "why": "reason", "how": "way",
}  # fmt: skip


def _unlike(first: str, second: str) -> bool:
    """Return whether a bare answer to one kind of question is surely none to the other."""
    one, two = _FORMS.get(first), _FORMS.get(second)
    return one is not None and two is not None and one != two and {one, two} != {"reason", "way"}


def _naming(sub: dict[str, Any]) -> dict[str, str]:
    if "clause" not in sub:
        return {}
    topic = sub["topic"]
    return {"question": sub["s"], "clause": sub["clause"], "topic": topic, "Topic": topic[:1].upper() + topic[1:]}


def _pair(
    question: str,
    text: str,
    whole: str,
    rng: random.Random,
    *,
    answers: bool,
    span: tuple[int, int] | None = None,
    abstains: str = "no",
    reply: float = 0.5,
) -> Example:
    """Ask a text alone as a reply to the sub-question itself, seldom to the whole question, or as a passage."""
    place = (span or (0, len(text))) if answers else NO_SPAN
    if rng.random() >= reply:
        return Example(Task.ANSWERS, question, text, float(answers), place, touched=question if answers else None)
    if whole != question and rng.random() < 0.25:
        return Example(Task.REPLIES, question, text, float(answers), place, user_question=whole)
    return Example(Task.REPLIES, question, text, float(answers), place, abstains=ABSTAINS[abstains])


def _compose_examples(topic: dict[str, Any], other: dict[str, Any], rng: random.Random) -> Iterator[Example]:
    """Compose one text, and ask two sub-questions that it answers and two that it does not."""
    subs = topic["subs"]
    pieces = _pieces(topic, other, rng)
    if not pieces:
        return
    text, places = _write(pieces, subs, rng)
    answered = {piece.owner: place for piece, place in zip(pieces, places, strict=True) if piece.answers}
    refused = {piece.owner for piece in pieces if piece.refuses}
    asked = rng.sample(sorted(answered), min(2, len(answered)))
    rest = [row for row in range(len(subs)) if row not in answered and not _gives_away(subs[row], text)]
    for row in (*asked, *rng.sample(rest, min(2, len(rest)))):
        question = subs[row]["s"]
        place = answered.get(row, NO_SPAN)
        if rng.random() < 0.5:
            yield Example(Task.ANSWERS, question, text, float(row in answered), place)
        else:
            whole = topic["question"] if rng.random() < 0.75 else question
            abstains = ABSTAINS["wholly" if row in refused and row not in answered else "no"]
            yield Example(Task.REPLIES, question, text, float(row in answered), place, user_question=whole, abstains=abstains)
    if refused or rng.random() < 0.3:
        declines = ("partly" if answered else "wholly") if refused else "no"
        yield Example(Task.REPLIES, topic["question"], text, None, None, abstains=ABSTAINS[declines])


def _pieces(topic: dict[str, Any], other: dict[str, Any], rng: random.Random) -> list[Piece]:
    subs = topic["subs"]
    found: list[Piece] = []
    eager = rng.choice((0.2, 0.5, 0.7))
    for row, sub in enumerate(subs):
        draw = rng.random()
        if draw < eager:
            cells = [cell for cell in _STANDALONE if cell in sub["yes"]]
            found.append(Piece(row, sub["yes"][rng.choice(cells)], answers=True))
        elif draw < eager + 0.12:
            found.append(Piece(row, rng.choice(sub["unknown"]), refuses=True))
        if rng.random() < 0.55:
            found += [Piece(row, text) for text in rng.sample(sorted(sub["no"].values()), rng.choice((1, 1, 2)))]
    if other is not topic:
        texts = [
            text
            for sub in other["subs"]
            for side in ("yes", "no")
            for cell, text in sub[side].items()
            if cell not in ("short", "lean")
        ]
        found += [Piece(-1, text) for text in rng.sample(texts, min(len(texts), rng.choice((0, 0, 1, 2, 4, 6))))]
    rng.shuffle(found)
    kept, words = [], 0
    for piece in found:
        words += len(piece.text.split())
        if words > MOST_WORDS:
            break
        kept.append(piece)
    return kept


def _write(pieces: Sequence[Piece], subs: Sequence[dict[str, Any]], rng: random.Random) -> tuple[str, list[tuple[int, int]]]:
    """Write pieces as prose, a list, Markdown sections or lines; returns where each stands."""
    style = rng.choice(("prose", "prose", "prose", "list", "numbers", "sections", "lines"))
    text, places = "", []
    for number, piece in enumerate(pieces, 1):
        body = piece.text if style != "prose" else re.sub(r"^(?:[-*•]|\d+[.)]) +", "", piece.text)
        lead = ""
        if style == "list":
            lead = "" if re.match(r"[-*•|{]", body) else "- "
        elif style == "numbers":
            lead = f"{number}. "
        elif style == "sections" and piece.owner >= 0 and "topic" in subs[piece.owner] and rng.random() < 0.6:
            heading = subs[piece.owner]["topic"]
            lead = f"### {heading[:1].upper()}{heading[1:]}\n"
        if style == "prose" and text:
            text = text if re.search(r"[.!?:\"')\]]$", text) else text + rng.choice((".", ";", "\n"))
        text += ("" if not text else " " if style == "prose" else "\n") + lead
        places.append((len(text), len(text) + len(body)))
        text += body
    return text, places


def _gives_away(sub: dict[str, Any], text: str) -> bool:
    """Return whether a text holds the bare answer of a sub-question by accident."""
    short = re.findall(r"\w+", sub["yes"]["short"].lower())
    words = " ".join(re.findall(r"\w+", text.lower()))
    return bool(short) and short[0] not in ("yes", "no") and f" {' '.join(short)} " in f" {words} "
