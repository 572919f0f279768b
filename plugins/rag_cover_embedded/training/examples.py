"""Training examples from every data set that helps, always from its training part.

Hard negatives come with the data: neighbouring sentences of an answer, unanswerable questions over the right paragraph,
the other hop's paragraph, another question's answer, a question about another name of the same passage.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from rag_cover_embedded.training.agreement import (
    rated_prediction_examples,
    similar_answer_examples,
    verdict_examples,
)
from rag_cover_embedded.training.answering import qed_examples, squad_examples, strategy_examples, two_hop_examples
from rag_cover_embedded.training.labels import Example
from rag_cover_embedded.training.sources import excerpt, paragraphs_of, rows_of, squad_paragraphs
from rag_cover_embedded.training.splits import LEARNING, Part
from rag_cover_embedded.training.statements import entailment_examples, passage_entailment_examples
from rag_cover_embedded.training.written import written_examples


def training_examples(data: Path, part: Part = LEARNING, *, seed: int = 0) -> list[Example]:
    """Build one pass of examples of a part of the data; another seed samples others and cuts other windows."""
    rng = random.Random(seed)
    return [
        *entailment_examples(data, rng, part),
        *passage_entailment_examples(data, rng, part),
        *squad_examples(data, rng, part),
        *qed_examples(data, rng, part),
        *two_hop_examples(data, rng, part),
        *strategy_examples(data, part),
        *verdict_examples(data, rng, part),
        *rated_prediction_examples(data, rng, part),
        *similar_answer_examples(data, part),
        *written_examples(rng, part),
    ]


def plain_texts(data: Path, part: Part = LEARNING, *, seed: int = 0) -> list[str]:
    """Gather unlabelled training texts and questions for keeping the text mode close to the original encoder."""
    rng = random.Random(seed)
    texts = [window for context, _ in squad_paragraphs(data, part) for window in (context, excerpt(context, rng))]
    for row in rows_of(data / "multihop/2wiki_500.jsonl"):
        if part.has(row["question"]):
            texts += [f"{title}. {' '.join(sentences)}" for title, sentences in paragraphs_of(row)]
            texts.append(row["question"])
    for row in rows_of(data / "reading/qed_dev.jsonl"):
        if part.has(row["question_text"]):
            texts += [row["question_text"], row["paragraph_text"]]
    for row in rows_of(data / "answers/evouna_nq.jsonl"):
        if part.has(row["question"]):
            texts += [row["question"], row["answer_gpt4"] or row["question"]]
    for row in json.loads((data / "multihop/strategyqa_train.json").read_text()):
        if part.has(row["question"]):
            texts += [row["question"], *row["decomposition"], *row["facts"]]
    return [text for text in texts if text.strip()]
