"""Training examples from every data set that helps, always from its training part.

Hard negatives come with the data: neighbouring sentences of an answer, unanswerable questions over the right paragraph,
the other hop's paragraph, another question's answer, a question about another name of the same passage, and texts written so
that sharing words says nothing about answering.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training.agreement import (
    read_rated_predictions,
    similar_answer_examples,
    verdict_examples,
)
from rag_cover_embedded.training.authored_examples import (
    abstention_examples,
    agreement_examples,
    claim_examples,
    contrast_examples,
    coverage_examples,
    read_authored_examples,
)
from rag_cover_embedded.training.cases import case_examples
from rag_cover_embedded.training.crossed import make_crossed_examples
from rag_cover_embedded.training.example import Example
from rag_cover_embedded.training.natural import natural_agreement, natural_answers, natural_claims, part_rows
from rag_cover_embedded.training.near_questions import near_question_examples
from rag_cover_embedded.training.nli_examples import entailment_examples, passage_entailment_examples
from rag_cover_embedded.training.plain import plain_examples
from rag_cover_embedded.training.qa_examples import make_retrieval_examples, qed_examples, squad_examples, two_hop_examples
from rag_cover_embedded.training.set_members import make_member_examples
from rag_cover_embedded.training.sources import paragraphs_of, read_json_rows, sample_excerpt, squad_paragraphs
from rag_cover_embedded.training.splits import LEARNING, Part
from rag_cover_embedded.training.subjects import make_subject_examples
from rag_cover_embedded.training.surrounded import make_surrounded_examples
from rag_cover_embedded.training.swaps import make_swapped_claims
from rag_cover_embedded.training.unrelated import make_unrelated_examples

Source = Callable[[Path, random.Random, Part], Iterator[Example]]

SOURCES: dict[str, Source] = {
    "nli": entailment_examples,
    "statements": passage_entailment_examples,
    "swaps": lambda data, rng, part: make_swapped_claims(passages(data, part), rng, most=6_000),
    "claims": natural_claims,
    "squad": squad_examples,
    "qed": qed_examples,
    "two_hop": two_hop_examples,
    "answers": natural_answers,
    "crossed": make_crossed_examples,
    "verdicts": verdict_examples,
    "ratings": read_rated_predictions,
    "similar": lambda data, rng, part: similar_answer_examples(data, part),  # noqa: ARG005
    "agreement": natural_agreement,
    "written": lambda data, rng, part: read_authored_examples(rng, part),  # noqa: ARG005
    "written claims": lambda data, rng, part: claim_examples(part),  # noqa: ARG005
    "written agreement": lambda data, rng, part: agreement_examples(rng, part),  # noqa: ARG005
    "abstentions": lambda data, rng, part: abstention_examples(part),  # noqa: ARG005
    "contrast": lambda data, rng, part: contrast_examples(rng, part),  # noqa: ARG005
    "contrast claims": lambda data, rng, part: claim_examples(part, "contrast_claims.jsonl"),  # noqa: ARG005
    "unrelated": make_unrelated_examples,
    "surrounded": make_surrounded_examples,
    "retrieved": make_retrieval_examples,
    "plain": plain_examples,
    "cases": lambda data, rng, part: case_examples(rng, part),  # noqa: ARG005
    "near cases": lambda data, rng, part: case_examples(rng, part, "near_cases.jsonl"),  # noqa: ARG005
    "contrast agreement": lambda data, rng, part: agreement_examples(rng, part, "contrast_agreement.jsonl"),  # noqa: ARG005
    "near questions": lambda data, rng, part: near_question_examples(rng, part),  # noqa: ARG005
    "other words": lambda data, rng, part: coverage_examples(rng, part, "other_words.jsonl"),  # noqa: ARG005
    "long replies": lambda data, rng, part: case_examples(rng, part, "long_replies.jsonl"),  # noqa: ARG005
    "subjects": make_subject_examples,
    "set members": lambda data, rng, part: make_member_examples(rng, part),  # noqa: ARG005
    "near copies": lambda data, rng, part: claim_examples(part, "near_copies.jsonl"),  # noqa: ARG005
}
"""Everything that trains, by name."""

NATURAL: dict[str, float] = {
    **dict.fromkeys(SOURCES, 1.0),
    "answers": 0.5,
    "agreement": 0.7,
    **dict.fromkeys(("crossed", "written claims", "written agreement", "abstentions", "contrast", "contrast claims"), 0.0),
    **dict.fromkeys(("contrast agreement", "unrelated", "surrounded", "retrieved", "cases", "near cases", "plain"), 0.0),
    **dict.fromkeys(("near questions", "other words", "long replies", "near copies", "subjects", "set members"), 0.0),
}
"""The share of each source's pass that the first stage reads."""
CROSSED: dict[str, float] = {
    "nli": 0.2,
    "statements": 0.4,
    "swaps": 0.25,
    "claims": 0.3,
    "squad": 0.25,
    "qed": 0.5,
    "two_hop": 0.4,
    "answers": 0.14,
    "crossed": 1.0,
    "verdicts": 0.45,
    "ratings": 0.45,
    "similar": 0.5,
    "agreement": 0.2,
    "written": 0.35,
    "written claims": 1.0,
    "written agreement": 1.0,
    "abstentions": 1.0,
}
"""The same of the second stage."""
CLAIMS: dict[str, float] = {
    "nli": 0.8,
    "statements": 0.4,
    "swaps": 0.6,
    "claims": 0.6,
    "squad": 0.15,
    "qed": 0.2,
    "two_hop": 0.2,
    "answers": 0.1,
    "crossed": 0.45,
    "verdicts": 1.0,
    "ratings": 1.0,
    "similar": 1.0,
    "agreement": 0.4,
    "written": 0.5,
    "written claims": 1.0,
    "written agreement": 1.0,
    "abstentions": 1.0,
}
"""The same of the third stage: entailment and correctness."""
CONTRAST: dict[str, float] = {
    "nli": 0.4,
    "statements": 0.2,
    "swaps": 0.25,
    "claims": 0.25,
    "squad": 0.5,
    "qed": 0.25,
    "two_hop": 0.2,
    "answers": 0.1,
    "crossed": 0.5,
    "verdicts": 0.5,
    "ratings": 0.5,
    "similar": 0.4,
    "agreement": 0.15,
    "written": 0.3,
    "written claims": 1.0,
    "written agreement": 1.0,
    "abstentions": 2.0,
    "contrast": 2.0,
    "contrast claims": 1.0,
    "contrast agreement": 2.0,
}
"""The same of the fourth stage: all of it, with texts in minimal pairs (2.0: read twice in a pass)."""
BALANCED: dict[str, float] = {
    **CONTRAST,
    "nli": 0.6,
    "crossed": 0.35,
    "verdicts": 0.8,
    "ratings": 0.8,
    "contrast": 1.0,
    "unrelated": 1.5,
    "surrounded": 1.0,
}
"""The same of the fifth stage: with negatives that share few words, and texts among others' sentences."""
RETRIEVED: dict[str, float] = {
    **BALANCED,
    "squad": 0.05,
    "retrieved": 0.8,
    "qed": 0.5,
    "answers": 0.14,
    "unrelated": 0.7,
    "surrounded": 0.8,
    "swaps": 0.2,
}
"""The same of the sixth stage: with paragraphs as retrieval finds them."""
CASES: dict[str, float] = {
    "cases": 2.0,
    "plain": 1.0,
    "nli": 0.18,
    "statements": 0.1,
    "swaps": 0.08,
    "claims": 0.08,
    "qed": 0.3,
    "two_hop": 0.15,
    "retrieved": 0.3,
    "answers": 0.06,
    "crossed": 0.15,
    "verdicts": 0.35,
    "ratings": 0.35,
    "similar": 0.3,
    "agreement": 0.1,
    "written": 0.2,
    "written claims": 0.35,
    "written agreement": 0.4,
    "abstentions": 0.7,
    "contrast": 0.4,
    "contrast claims": 0.35,
    "contrast agreement": 0.6,
    "unrelated": 0.35,
    "surrounded": 0.3,
}
"""The same of the seventh stage: whole cases of retrieval-augmented generation, and a sample of the rest."""
REVISED: dict[str, float] = {
    "cases": 0.45,
    "nli": 0.198,
    "statements": 0.135,
    "swaps": 0.225,
    "claims": 0.9,
    "qed": 0.18,
    "two_hop": 0.09,
    "retrieved": 0.27,
    "answers": 0.225,
    "crossed": 0.09,
    "verdicts": 0.27,
    "ratings": 0.27,
    "similar": 0.27,
    "agreement": 0.36,
    "written": 0.27,
    "written claims": 0.45,
    "written agreement": 0.36,
    "abstentions": 0.45,
    "contrast": 0.36,
    "contrast claims": 0.45,
    "contrast agreement": 0.45,
    "unrelated": 0.18,
    "surrounded": 0.225,
    "plain": 0.36,
}
"""The same of the eighth stage: a sample of everything, with more claims on documents."""
NEAR: dict[str, float] = {
    "near cases": 0.55,
    "cases": 0.22,
    "nli": 0.055,
    "statements": 0.033,
    "swaps": 0.0275,
    "claims": 0.1375,
    "qed": 0.0825,
    "two_hop": 0.044,
    "retrieved": 0.11,
    "answers": 0.044,
    "crossed": 0.033,
    "verdicts": 0.11,
    "ratings": 0.11,
    "similar": 0.11,
    "agreement": 0.055,
    "written": 0.066,
    "written claims": 0.11,
    "written agreement": 0.165,
    "abstentions": 0.385,
    "contrast": 0.165,
    "contrast claims": 0.22,
    "contrast agreement": 0.275,
    "unrelated": 0.1375,
    "surrounded": 0.066,
    "plain": 0.22,
}
"""The same of the ninth stage: cases whose texts hold the kind of thing that is asked for, about a near matter."""
MIXED: dict[str, float] = {
    "near cases": 0.36,
    "cases": 0.3,
    "nli": 0.06,
    "statements": 0.04,
    "swaps": 0.04,
    "claims": 0.28,
    "qed": 0.12,
    "two_hop": 0.04,
    "retrieved": 0.12,
    "answers": 0.11,
    "crossed": 0.18,
    "verdicts": 0.16,
    "ratings": 0.16,
    "similar": 0.16,
    "agreement": 0.1,
    "written": 0.14,
    "written claims": 0.25,
    "written agreement": 0.35,
    "abstentions": 0.6,
    "contrast": 0.5,
    "contrast claims": 0.25,
    "contrast agreement": 0.35,
    "unrelated": 0.2,
    "surrounded": 0.1,
    "plain": 0.5,
}
"""The same of the tenth stage: near matters, and again a sample of everything, replies and refusals among it."""
COVERAGE: dict[str, float] = {
    "near questions": 1.0,
    "near cases": 0.18,
    "cases": 0.15,
    "qed": 0.06,
    "two_hop": 0.02,
    "retrieved": 0.06,
    "answers": 0.06,
    "crossed": 0.15,
    "verdicts": 0.08,
    "ratings": 0.08,
    "similar": 0.08,
    "agreement": 0.05,
    "written": 0.07,
    "written agreement": 0.2,
    "abstentions": 0.3,
    "contrast": 0.3,
    "contrast agreement": 0.3,
    "unrelated": 0.1,
    "surrounded": 0.05,
    "plain": 0.25,
}
"""The same of the eleventh stage: near questions, and a sample of everything but premises and hypotheses."""
PARAGRAPHS: dict[str, float] = {
    "other words": 1.5,
    "near questions": 0.5,
    "near cases": 0.3,
    "cases": 0.2,
    "qed": 0.12,
    "two_hop": 0.03,
    "retrieved": 0.12,
    "answers": 0.08,
    "crossed": 0.25,
    "verdicts": 0.08,
    "ratings": 0.08,
    "similar": 0.08,
    "agreement": 0.05,
    "written": 0.2,
    "written agreement": 0.25,
    "abstentions": 0.4,
    "contrast": 0.6,
    "contrast agreement": 0.35,
    "unrelated": 0.1,
    "surrounded": 0.08,
    "plain": 0.3,
}
"""The same of the twelfth stage: paragraphs of several facts that are asked about in other words, and again a sample."""

SUBJECTS: dict[str, float] = {
    "subjects": 1.0,
    "set members": 1.0,
    "other words": 0.9,
    "near questions": 0.35,
    "near cases": 0.25,
    "cases": 0.45,
    "retrieved": 0.3,
    "qed": 0.4,
    "two_hop": 0.1,
    "answers": 0.09,
    "unrelated": 0.5,
    "contrast": 0.25,
    "crossed": 0.12,
    "surrounded": 0.15,
    "plain": 0.15,
    "written": 0.25,
}
"""The same of the thirteenth stage: passages of one subject, most of which answer something else."""


@dataclass(frozen=True, slots=True)
class TrainingStage:
    """What a stage learns from: the share of each source's pass, and the tasks whose examples count."""

    shares: Mapping[str, float]
    tasks: frozenset[Task] = frozenset(Task)

    def draw(self, data: Path, seed: int) -> list[Example]:
        """Draw the examples of one pass."""
        return [each for each in training_examples(data, seed=seed, shares=self.shares) if each.task in self.tasks]


STAGES = (
    *map(TrainingStage, (NATURAL, CROSSED, CLAIMS, CONTRAST, BALANCED, RETRIEVED, CASES, REVISED, NEAR, MIXED)),
    TrainingStage(COVERAGE, frozenset(Task) - {Task.ENTAILMENT}),
    TrainingStage(PARAGRAPHS, frozenset(Task) - {Task.ENTAILMENT}),
    TrainingStage(SUBJECTS, frozenset({Task.ANSWERS})),
)


def training_examples(
    data: Path, part: Part = LEARNING, *, seed: int = 0, shares: Mapping[str, float] | None = None
) -> list[Example]:
    """Build one pass of examples of a part of the data; another seed samples others and cuts other windows."""
    found: list[Example] = []
    for name, share in (shares or dict.fromkeys(SOURCES, 1.0)).items():
        rng = random.Random(f"{seed} {name}")
        if share:
            whole, rest = divmod(share, 1)
            for example in SOURCES[name](data, rng, part):
                found += [example] * (int(whole) + (rng.random() < rest))
    return found


def passages(data: Path, part: Part) -> list[str]:
    """Gather natural passages of some sentences: what claims are made about."""
    found = {context for context, _ in squad_paragraphs(data, part)}
    found |= {
        row["text"]
        for row in part_rows(data / "judge/answers.jsonl.gz", part)
        if row["kind"] == "passage" and row["source"] in {"squadshifts_wiki", "selqa", "clapnq"}
    }
    return sorted(found)


def plain_texts(data: Path, part: Part = LEARNING, *, seed: int = 0) -> list[str]:
    """Gather unlabelled training texts and questions for keeping the text mode close to the original encoder."""
    rng = random.Random(seed)
    texts = [window for context, _ in squad_paragraphs(data, part) for window in (context, sample_excerpt(context, rng))]
    for row in read_json_rows(data / "multihop/2wiki_500.jsonl"):
        if part.has(row["question"]):
            texts += [f"{title}. {' '.join(sentences)}" for title, sentences in paragraphs_of(row)]
            texts.append(row["question"])
    for row in read_json_rows(data / "reading/qed_dev.jsonl"):
        if part.has(row["question_text"]):
            texts += [row["question_text"], row["paragraph_text"]]
    for row in read_json_rows(data / "answers/evouna_nq.jsonl"):
        if part.has(row["question"]):
            texts += [row["question"], row["answer_gpt4"] or row["question"]]
    for row in json.loads((data / "multihop/strategyqa_train.json").read_text()):
        if part.has(row["question"]):
            texts += [row["question"], *row["decomposition"], *row["facts"]]
    return [text for text in texts if text.strip()]
