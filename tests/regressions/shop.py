"""A made shop: questions of two parts, passages that answer one part each, and a stand-in for a language model."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass

from rag_cover import Passage

__all__ = ["ABSTENTION", "GOOD", "PASSAGES", "QUESTIONS", "Variant", "regressions", "reply_to", "unsteady"]

_WARES: Mapping[str, tuple[int, str]] = {  # what it costs, and who invented it
    "kettle": (39, "Anna Berg"),
    "rowing boat": (840, "Jonas Lund"),
    "chess board": (75, "Mira Holt"),
    "sewing machine": (310, "Peter Stahl"),
    "bicycle trailer": (265, "Clara Dunn"),
    "garden shed": (1250, "Ivo Marek"),
    "violin": (560, "Rosa Conti"),
    "telescope": (430, "Emil Voss"),
    "wood stove": (980, "Greta Nord"),
    "tent": (220, "Hugo Lind"),
}

QUESTIONS = tuple(f"What are the price and the inventor of the {ware}?" for ware in _WARES)

PASSAGES = tuple(
    passage
    for ware, (price, inventor) in _WARES.items()
    for passage in (
        Passage(f"The {ware} costs {price} euros.", id=f"{ware}: price"),
        Passage(f"The {ware} was invented by {inventor}.", id=f"{ware}: inventor"),
    )
)
"""What is kept of each ware: first its price, then its inventor."""

GOOD = "Answer every part of the question from the context."
_BAD = "Answer in one sentence."
ABSTENTION = "I do not know."
_UNSTEADY = 0.25


@dataclass(frozen=True, slots=True)
class Variant:
    """How a pipeline is built; as it stands, it answers both parts of every question."""

    k: int = 3
    passages: tuple[Passage, ...] = PASSAGES
    blocked: str | None = None
    """Passages whose id ends in it are dropped behind the retriever."""
    instruction: str = GOOD
    abstains: bool = False


regressions: Mapping[str, tuple[Variant, str]] = {
    "smaller k": (Variant(k=1), "more core sub-questions lost: not retrieved"),
    "a filter that drops": (Variant(blocked="inventor"), "more core sub-questions lost: retrieved, then dropped"),
    "a worse prompt": (Variant(instruction=_BAD), "more core sub-questions lost: in the prompt, not used"),
    "a stale index": (Variant(passages=PASSAGES[: len(PASSAGES) // 3]), "more core sub-questions lost: not retrieved"),
    "an abstaining model": (Variant(abstains=True), "more answers decline"),
}
"""Ways in which a pipeline becomes worse, and the cause that a gate must name."""


def unsteady(run: int) -> Variant:
    """Return the pipeline with a model whose answers differ from run to run: it leaves out one part in four answers."""
    return Variant(instruction=f"{GOOD} Run {run}.")


def reply_to(prompt: str, *, abstains: bool) -> str:
    """Copy the sentences of the prompt's context that say what its question asks for; one alone where the prompt wants one.

    A prompt has the lines "Context:" and "Question:", and the instruction before them; it names the run of an unsteady model.
    """
    instruction, _, rest = prompt.partition("Context:")
    context, _, question = rest.partition("Question:")
    ware = question.partition(" of ")[2].strip().removesuffix("?")
    wanted = [f"{ware} {verb} ".capitalize() for verb in ("costs", "was invented by")]
    sentences = [each.strip() for each in re.findall(r"[^.\n]+[.]", context)]
    fitting = [each for start in wanted for each in sentences if each.startswith(start)]
    if abstains or not fitting:
        return ABSTENTION
    run = re.search(r"Run (\d+)\.", instruction)
    leaves_out = run is not None and random.Random(f"{run[1]} {ware}").random() < _UNSTEADY
    return " ".join(fitting[:1] if leaves_out or instruction.startswith(_BAD) else fitting)
