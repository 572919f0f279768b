"""Pairs that any working judge gets right: a judge that does not is broken, wrongly labelled or no judge of such texts.

Each question has a text that plainly answers it and one on the same subject that plainly does not; each premise has a
statement that follows and one that it contradicts, so that exchanged labels show. Further kinds show a judge that goes by
shared words: short replies, replies in other words, refusals and echoes of the question. All were written for this project.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_cover.backends import Entailer, Scorer, ScoringItem, reply_threshold_of
from rag_cover.judge_check.result import CanaryVerdict
from rag_cover.model_calls import ask_probabilities, ask_relations

__all__ = ["canary_verdicts", "explain_canary_failure"]

_ANSWERING = (
    (
        "What is the capital of France?",
        "Paris is the capital of France.",
        "France has many rivers, and its wines are sold all over the world.",
    ),
    (
        "When was the Harlow library opened?",
        "The Harlow library was opened on 3 May 1904.",
        "The Harlow library has three floors and a quiet reading room.",
    ),
    (
        "Who wrote the novel Pride and Prejudice?",
        "Pride and Prejudice was written by Jane Austen.",
        "Pride and Prejudice has been filmed several times.",
    ),
    (
        "How often should a smoke alarm be tested?",
        "A smoke alarm should be tested once a month, by pressing its button.",
        "Smoke alarms are sold in most hardware shops.",
    ),
    (
        "Why do leaves turn yellow in autumn?",
        "Leaves turn yellow in autumn because their green chlorophyll breaks down and the yellow pigments show.",
        "In autumn many people rake leaves in their gardens.",
    ),
    (
        "How much does a ticket to the museum cost?",
        "A ticket to the museum costs 12 euros.",
        "The museum is a ten-minute walk from the station.",
    ),
    (
        "At what temperature does water boil at sea level?",
        "At sea level, water boils at 100 degrees Celsius.",
        "Water covers most of the surface of the Earth.",
    ),
    (
        "Which side effects does the medicine have?",
        "Common side effects of the medicine are headache and nausea.",
        "The medicine was first sold twenty years ago.",
    ),
)
"""(question, a text that answers it, a text that does not)."""

_REPLIES: Mapping[str, tuple[tuple[str, str, bool], ...]] = {
    "short replies": (
        ("What is the capital of France?", "Paris.", True),
        ("How long is the warranty on the dishwasher?", "Two years", True),
        ("Can the deposit be refunded?", "No.", True),
        ("Who wrote the report on the flood?", "Ana Petrova", True),
        ("Why was the match stopped?", "Because of a thunderstorm.", True),
    ),
    "replies in other words": (
        ("How do I reset the router?", "Hold the small button on the back for ten seconds, until the light turns red.", True),
        (
            "Why did the factory close?",
            "Orders had fallen for three years, and the owners could not pay the wages any longer.",
            True,
        ),
        ("Is parking free on Sundays?", "You need not put any coins into the meter at the end of the week.", True),
        ("When does the museum open?", "The doors are unlocked at nine in the morning.", True),
        ("What does a plumber do?", "He fits and repairs water pipes, taps and drains.", True),
    ),
    "list items and table rows": (
        ("How much does the express delivery cost?", "- Express: 14.90 euros", True),
        ("Who is the contact for invoices?", "| Invoices | Maria Lund |", True),
        ("What is the maximum load of the lift?", "max_load_kg: 320", True),
        ("How long must the dough rest?", "2. Resting: 40 minutes", True),
        ("When does the ferry leave?", "Departure: 7.40 a.m.", True),
    ),
    "refusals in the question's words": (
        (
            "What is the capital of France?",
            "I'm sorry, the provided context does not mention what the capital of France is.",
            False,
        ),
        (
            "How long is the warranty on the dishwasher?",
            "The documents do not say how long the warranty on the dishwasher is.",
            False,
        ),
        ("Can the deposit be refunded?", "Based on the context, I cannot tell whether the deposit can be refunded.", False),
        ("Who wrote the report on the flood?", "It is not stated who wrote the report on the flood.", False),
        ("Why was the match stopped?", "There is no information about why the match was stopped.", False),
    ),
    "replies without content": (
        ("How do I reset the router?", "How do I reset the router?", False),
        ("Why did the factory close?", "## Why the factory closed", False),
        ("Is parking free on Sundays?", "Great question! Let me explain whether parking is free on Sundays.", False),
        ("When does the museum open?", "For the time when the museum opens, please contact the museum.", False),
        ("What does a plumber do?", "You would like to know what a plumber does. Many people ask that.", False),
    ),
}
"""(question, a reply to it, whether the reply answers), by kind."""

_PASSAGES: Mapping[str, tuple[tuple[str, str, bool], ...]] = {
    "the question's words without an answer": (
        ("Why did the factory close?", "The factory closed on 3 March, and people still talk about why it had to.", False),
        ("Who designed the Elm Street bridge?", "The Elm Street bridge was designed within two years and at low cost.", False),
        ("When was the library in Harlow opened?", "The library in Marden was opened in 1962.", False),
        (
            "How many rooms does the Seaview hotel have?",
            "If the Seaview hotel had more rooms, it could host the congress.",
            False,
        ),
        ("How often should the filter be changed?", "Changing the filter often is a topic of many letters that we get.", False),
    ),
}
"""(question, a passage, whether the passage answers), by kind."""

_ENTAILMENT = (
    ("A man is playing the guitar on a stage.", "A man is playing an instrument.", "Nobody is playing an instrument."),
    ("All of the shops were closed on Sunday.", "The shops were closed on Sunday.", "The shops were open on Sunday."),
    ("The two children are asleep in their beds.", "The children are sleeping.", "The children are awake."),
    ("The bridge was built in 1932.", "The bridge was built in the 1930s.", "The bridge was never built."),
    ("A black dog is running across the beach.", "A dog is running.", "A dog is sitting still."),
)
"""(premise, a statement that it entails, a statement that it contradicts)."""

_TOLERATED = 0.2  # a small judge errs now and then; a broken one, or one with exchanged labels, on half of them or all


def canary_verdicts(scorer: Scorer, entailer: Entailer | None = None) -> tuple[CanaryVerdict, ...]:
    """Ask a judge about every canary; those of entailment where it is an entailer too.

    Raises:
        ModelFailedError: it returned no probabilities, or not as many as it was asked for.
    """
    return (*_answering(scorer), *_special(scorer), *(_entailing(entailer) if entailer else ()))


def explain_canary_failure(verdicts: Sequence[CanaryVerdict]) -> str | None:
    """Return why a judge fails its canaries (more than one in five of a kind went wrong); None where it passes."""
    problems = []
    for kind in dict.fromkeys(verdict.kind for verdict in verdicts):
        found = [verdict for verdict in verdicts if verdict.kind == kind]
        wrong = sum(not verdict.passed for verdict in found)
        if wrong > _TOLERATED * len(found):
            both = len({verdict.expected for verdict in found}) > 1
            exchanged = "; its labels seem to be exchanged" if both and wrong > len(found) / 2 else ""
            problems.append(f"{wrong} of {len(found)} plain cases of {kind} are judged wrongly{exchanged}")
    return "; ".join(problems) or None


def _answering(scorer: Scorer) -> list[CanaryVerdict]:
    cases = [(question, text, text == yes) for question, yes, no in _ANSWERING for text in (yes, no)]
    found = ask_probabilities(scorer, (ScoringItem(question, text) for question, text, _ in cases))
    verdicts = []
    for question, text, answers in cases:
        p = found[ScoringItem(question, text)]
        said, expected = ("covered" if covers else "not covered" for covers in (p >= scorer.threshold, answers))
        verdicts.append(CanaryVerdict("answering", question, text, expected, said, p if answers else 1 - p))
    return verdicts


def _special(scorer: Scorer) -> list[CanaryVerdict]:
    """Ask about the kinds of replies and passages that a judge of shared words gets wrong."""
    cases = [
        (kind, ScoringItem(question, text, user_question=question if kind in _REPLIES else ""), answers)
        for kind, found in {**_REPLIES, **_PASSAGES}.items()
        for question, text, answers in found
    ]
    found = ask_probabilities(scorer, (item for _, item, _ in cases))
    verdicts = []
    for kind, item, answers in cases:
        cut = reply_threshold_of(scorer) if item.user_question else scorer.threshold
        p = found[item]
        said, expected = ("covered" if covers else "not covered" for covers in (p >= cut, answers))
        verdicts.append(CanaryVerdict(kind, item.question, item.text, expected, said, p if answers else 1 - p))
    return verdicts


def _entailing(entailer: Entailer) -> list[CanaryVerdict]:
    names = ("entailment", "neutral", "contradiction")
    cases = [
        (premise, text, expected)
        for premise, follows, contradicts in _ENTAILMENT
        for text, expected in ((follows, "entailment"), (contradicts, "contradiction"))
    ]
    found = ask_relations(entailer, ((premise, text) for premise, text, _ in cases))
    return [
        CanaryVerdict(
            "entailment",
            premise,
            text,
            expected,
            said=names[max(range(3), key=found[premise, text].__getitem__)],
            probability=found[premise, text][names.index(expected)],
        )
        for premise, text, expected in cases
    ]
