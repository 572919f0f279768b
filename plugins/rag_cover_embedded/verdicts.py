"""Correctness given references, and entailment: every window is judged, the best one speaks for the text.

Parts longer than the network's input are windowed: a text is correct if some window is, for some group of references; a
premise entails a hypothesis if, for each part of the hypothesis, some window of the premise does. Of the windows of a very long
premise those are read that share the rarest of the part's tokens, so that the work grows with one text's length, not with both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from rag_cover.backends import ScoringItem
from rag_cover.texts import encodable
from rag_cover_embedded.acronyms import write_out_acronyms
from rag_cover_embedded.features import likeness, rank_references
from rag_cover_embedded.inputs import Encoded, Task, groups_of_references, join
from rag_cover_embedded.quantities.alignment import align_quantities
from rag_cover_embedded.quantities.conflicts import misstates_quantity
from rag_cover_embedded.segments import SegmentedText, segment_texts
from rag_cover_embedded.session import Network

__all__ = ["correctness", "correctness_inputs", "entailment"]

Floats = NDArray[np.float32]

WINDOW = 152
HYPOTHESIS_WINDOW = 88
MOST_WINDOWS = 64
_SURE, _WRONG = 0.95, 0.05
_YES_OR_NO = re.compile(r"\W*(yes|no)\s*(?:[^\w\s]|$)", re.IGNORECASE)
_BARE = re.compile(r"\W*(?:yes|no)\W*", re.IGNORECASE)


def correctness(session: Network, tokenizer: Tokenizer, items: Sequence[ScoringItem], *, temperature: float) -> Floats:
    """Return (n,) P(the text agrees with some reference): its likeliest window, for its likeliest group of references.

    Quantities and acronyms are compared by what they mean: those of the text are read as the references write them, and a
    reference's number with another meaning is wrong (`misstates_quantity`).
    """
    items = [replace(item, text=_align(item)) for item in items]
    texts = segment_texts(tokenizer, [item.text for item in items])
    encoded = [correctness_inputs(tokenizer, item, text) for item, text in zip(items, texts, strict=True)]
    rows = np.repeat(np.arange(len(items)), [len(inputs) for inputs in encoded])
    logits = np.array([logit[0] for (logit,) in session.run([*chain(*encoded)], ["correct"])], dtype=np.float32)
    best = np.full(len(items), -np.inf, dtype=np.float32)
    np.maximum.at(best, rows, logits)
    probabilities: Floats = 1 / (1 + np.exp(-best / temperature))
    lowest, highest = np.array([_bounds(item) for item in items], dtype=np.float32).reshape(-1, 2).T
    return np.clip(probabilities, lowest, highest)


def _bounds(item: ScoringItem) -> tuple[float, float]:
    if misstates_quantity(item.text, item.references, item.question):
        return 0.0, _WRONG
    return bounds_by_yes_or_no(item)


def _align(item: ScoringItem) -> str:
    text = align_quantities(item.text, item.references, item.question)
    return write_out_acronyms(text, item.references, item.question)


def bounds_by_yes_or_no(item: ScoringItem) -> tuple[float, float]:
    """Bound P(correct) where text and references begin with yes or no: that decides, whatever follows.

    A text that says yes where all references say no (or the other way round) is wrong; one that agrees with a reference
    that is a bare yes or no is right.

    >>> bounds_by_yes_or_no(ScoringItem("Is it open?", "No, it is closed.", ("Yes",)))
    (0.0, 0.05)
    """
    said = _leading_yes_or_no(item.text)
    accepted = [_leading_yes_or_no(reference) for reference in item.references]
    if not said or not all(accepted):
        return 0.0, 1.0
    if said not in accepted:
        return 0.0, _WRONG
    bare = any(said == each and _BARE.fullmatch(text) for each, text in zip(accepted, item.references, strict=True))
    return (_SURE, 1.0) if bare else (0.0, 1.0)


def _leading_yes_or_no(text: str) -> str:
    found = _YES_OR_NO.match(text)
    return found[1].lower() if found else ""


def correctness_inputs(tokenizer: Tokenizer, item: ScoringItem, text: SegmentedText) -> list[Encoded]:
    """Pair every window of a text with every group of references, the likeliest found first, and with the likeliest alone."""
    question, ranked = _ids(tokenizer, item.question), rank_references(item.references, item.text)
    groups = groups_of_references(tokenizer, question, ranked)
    if len(ranked) > 1:
        groups += groups_of_references(tokenizer, question, ranked[:1])
    encoded = []
    for window in text.windows(WINDOW):
        features = likeness(item.question, item.references, text.window_text(item.text, window))
        ids = text.ids[text.tokens(window)].tolist()
        encoded += [join(Task.CORRECT, group, ids, features=features) for group in groups]
    return encoded


def entailment(session: Network, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]], *, temperature: float) -> Floats:
    """Return (n, 3) P(entailment), P(neutral), P(contradiction).

    Of a premise's windows the one with the highest P(entailment) speaks; of a hypothesis' parts the one with the lowest. A
    blank premise or hypothesis is neutral. Of a premise with more than 64 windows (some 7,000 words) each part meets 64.
    """
    distinct = {text: place for place, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
    cut = segment_texts(tokenizer, list(distinct))
    encoded: list[Encoded] = []
    plan = [_plan(cut[distinct[premise]], cut[distinct[hypothesis]], encoded) for premise, hypothesis in pairs]
    logits = [logit for (logit,) in session.run(encoded, ["entailment"])]
    neutral = np.array([0.0, 1.0, 0.0], dtype=np.float32)
    return np.array([_weakest_part(logits, parts, temperature) if parts else neutral for parts in plan]).reshape(-1, 3)


def _plan(premise: SegmentedText, hypothesis: SegmentedText, encoded: list[Encoded]) -> list[list[int]]:
    """Queue every part of the hypothesis with windows of the premise; list, for each part, where these stand in the queue."""
    windows, parts = _windows(premise, WINDOW), _windows(hypothesis, HYPOTHESIS_WINDOW)
    places = []
    for part, chosen in zip(parts, _likeliest(windows, parts), strict=True):
        places.append(list(range(len(encoded), len(encoded) + len(chosen))))
        encoded += [join(Task.ENTAILMENT, windows[place], part) for place in chosen]
    return places if windows else []


def _likeliest(windows: Sequence[Sequence[int]], parts: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """Choose up to 64 windows for each part, in their order.

    Chosen are those with the largest sum of ``ln(windows / windows that hold it)`` over the part's distinct tokens they hold.
    """
    if len(windows) <= MOST_WINDOWS:
        return [range(len(windows))] * len(parts)
    tokens, columns = np.unique(np.concatenate(windows), return_inverse=True)
    held = np.zeros((len(windows), len(tokens)), dtype=bool)
    held[np.repeat(np.arange(len(windows)), [len(window) for window in windows]), columns] = True
    rarity = np.log(len(windows) / held.sum(axis=0))
    shared = [np.flatnonzero(np.isin(tokens, part)) for part in parts]
    ranked = [np.argsort(-(held[:, found] @ rarity[found]), kind="stable") for found in shared]
    return [np.sort(order[:MOST_WINDOWS]).tolist() for order in ranked]


def _weakest_part(logits: Sequence[Floats], parts: Sequence[Sequence[int]], temperature: float) -> Floats:
    rows = [_softmax(np.stack([logits[place] for place in windows]) / temperature) for windows in parts]
    strongest = [row[row[:, 0].argmax()] for row in rows]
    return min(strongest, key=lambda row: float(row[0]))


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True), dtype=np.float32)


def _windows(text: SegmentedText, size: int) -> list[list[int]]:
    return [text.ids[text.tokens(window)].tolist() for window in text.windows(size)]


def _ids(tokenizer: Tokenizer, text: str) -> list[int]:
    return list(tokenizer.encode(encodable(text), add_special_tokens=False).ids)
