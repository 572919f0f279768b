"""Training examples from every data set that helps, always from its training part.

Hard negatives come with the data: neighbouring sentences of an answer, unanswerable questions over the right paragraph,
the other hop's paragraph, another question's answer.
"""

from __future__ import annotations

import ast
import gzip
import json
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rag_cover_embedded.inputs import Task, question_with_references
from rag_cover_embedded.training.splits import trains, trains_by_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

ENTAILMENT = {"entailment": 0, "neutral": 1, "contradiction": 2}
NOT_ENTAILED = 3  # neutral or contradiction, the data does not say which
NO_SPAN = (-1, -1)
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled pair.

    ``label`` is a class for entailment and a probability otherwise; ``span`` are code points of the answer in ``second``,
    ``NO_SPAN`` where the text does not answer, None where the place is unknown.
    """

    task: Task
    first: str
    second: str
    label: float
    span: tuple[int, int] | None = None


def training_examples(data: Path, *, seed: int = 0) -> list[Example]:
    """Build every training example from the data folder."""
    rng = random.Random(seed)  # noqa: S311  # sampling, not secrets
    return [
        *entailment_examples(data, rng),
        *passage_entailment_examples(data, rng),
        *squad_examples(data, rng),
        *qed_examples(data, rng),
        *two_hop_examples(data, rng),
        *strategy_examples(data),
        *verdict_examples(data, rng),
        *rated_prediction_examples(data),
        *similar_answer_examples(data),
    ]


def plain_texts(data: Path, *, seed: int = 0) -> list[str]:
    """Gather unlabelled training texts and questions for keeping the text mode close to the original encoder."""
    rng = random.Random(seed)  # noqa: S311
    texts = [window for context, _ in _squad(data) for window in _windows(context, rng)]
    for row in _lines(data / "multihop/2wiki_500.jsonl"):
        if trains(row["question"]):
            texts += [f"{title}. {' '.join(sentences)}" for title, sentences in _context(row)]
            texts.append(row["question"])
    for row in _lines(data / "reading/qed_dev.jsonl"):
        if trains(row["question_text"]):
            texts += [row["question_text"], row["paragraph_text"]]
    for row in _lines(data / "answers/evouna_nq.jsonl"):
        if trains(row["question"]):
            texts += [row["question"], row["answer_gpt4"] or row["question"]]
    for row in json.loads((data / "multihop/strategyqa_train.json").read_text()):
        if trains(row["question"]):
            texts += [row["question"], *row["decomposition"], *row["facts"]]
    return [text for text in texts if text.strip()]


def entailment_examples(data: Path, rng: random.Random) -> Iterator[Example]:
    """Read the NLI file; QNLI rows are question and sentence, so they train the answers head."""
    held_out = _held_out_squad_texts(data)
    around = [sentence for context, _ in _squad(data) for sentence in _sentences(context)]
    keep = {"breaking_nli": 0.4, "med": 0.7}
    with gzip.open(data / "nli/train.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if not trains_by_document(row["premise"]) or rng.random() > keep.get(row["source"], 1.0):
                continue
            if row["source"] == "qnli":
                if row["premise"] not in held_out and not any(row["hypothesis"][:80] in text for text in held_out):
                    yield Example(Task.ANSWERS, row["premise"], row["hypothesis"], float(row["label"] == "entailment"))
            elif row["scheme"] == "3way" or row["label"] == "entailment":
                premise = _surrounded(row["premise"], around, rng) if rng.random() < 0.25 else row["premise"]  # noqa: PLR2004
                yield Example(Task.ENTAILMENT, premise, row["hypothesis"], ENTAILMENT[row["label"]])
            else:
                yield Example(Task.ENTAILMENT, row["premise"], row["hypothesis"], NOT_ENTAILED)


def _surrounded(premise: str, sentences: Sequence[str], rng: random.Random) -> str:
    """Set a premise among unrelated sentences, which change neither what follows from it nor what does not."""
    parts = [*rng.sample(sentences, rng.randint(1, 3)), premise]
    rng.shuffle(parts)
    return " ".join(parts)


def passage_entailment_examples(data: Path, rng: random.Random) -> Iterator[Example]:
    """Pair passages with statements: their own sentences, shortened or altered ones, another passage's, answers to questions."""
    for context, _ in _squad(data):
        found = _sentences(context)
        if len(found) < 4:  # noqa: PLR2004
            continue
        for chosen in rng.sample(range(len(found)), 3):
            start = rng.randint(max(0, chosen - 3), chosen)
            window, statement = found[start : start + 4], found[chosen]
            yield Example(Task.ENTAILMENT, " ".join(window), _shortened(statement, rng), ENTAILMENT["entailment"])
            if (altered := _altered(statement, context, rng)) is not None:
                yield Example(Task.ENTAILMENT, " ".join(window), altered, NOT_ENTAILED)
            outside = [sentence for sentence in found if sentence not in window]
            if outside:
                yield Example(Task.ENTAILMENT, " ".join(window), rng.choice(outside), NOT_ENTAILED)
    for row in _lines(data / "multihop/2wiki_500.jsonl"):
        if trains(row["question"]):
            yield from _two_hop_statements(row)
    yield from _answer_statements(data)


def _two_hop_statements(row: dict[str, Any]) -> Iterator[Example]:
    """Say what each hop's answer says: it follows from the subject's paragraph and from no other."""
    for pair, (subject, _, value) in zip(row["qa_pairs"], row["evidences"], strict=False):
        for title, sentences in _context(row):
            text = f"{title}. {' '.join(sentences)}"
            about = subject.lower() in title.lower() or title.lower() in subject.lower()
            if about and value.lower() in text.lower():
                yield Example(Task.ENTAILMENT, text, pair["answer"], ENTAILMENT["entailment"])
            elif about:
                yield Example(Task.ENTAILMENT, text, pair["answer"], NOT_ENTAILED)


def _answer_statements(data: Path) -> Iterator[Example]:
    """Pair QED's paragraphs with short answers that people judged right and wrong, the former where they name the same thing."""
    paragraphs = {row["question_text"]: row for row in _lines(data / "reading/qed_dev.jsonl") if trains(row["question_text"])}
    for row in _lines(data / "answers/evouna_nq.jsonl"):
        if (source := paragraphs.get(row["question"])) is None or row["improper"]:
            continue
        for system in ("gpt35", "chatgpt"):
            answer, right = row[f"answer_{system}"], row[f"judge_{system}"]
            if not answer or right is None or not 5 < len(answer.split()) < 30:  # noqa: PLR2004
                continue
            named = source["original_nq_answers"][0][0]["string"].lower() in answer.lower()
            if right == named:
                label = ENTAILMENT["entailment"] if right else NOT_ENTAILED
                yield Example(Task.ENTAILMENT, source["paragraph_text"], answer, label)


def _shortened(statement: str, rng: random.Random) -> str:
    """Drop what stands in brackets and, half the time, a last clause after a comma."""
    plain = re.sub(r"\s*\([^)]*\)", "", statement)
    head, comma, _ = plain.rpartition(", ")
    return head + "." if comma and len(head.split()) > 6 and rng.random() < 0.5 else plain  # noqa: PLR2004


def _altered(statement: str, context: str, rng: random.Random) -> str | None:
    """Put another number or name of the passage in place of one of the statement's."""
    numbers, names = re.compile(r"\b\d[\d,.]*\d\b"), re.compile(r"(?<!^)(?<=\s)[A-Z][a-z]+(?: [A-Z][a-z]+)*")
    for pattern in (numbers, names):
        mine = pattern.findall(statement)
        others = [each for each in pattern.findall(context) if each not in statement]
        if mine and others:
            return statement.replace(rng.choice(mine), rng.choice(others))
    return None


def squad_examples(data: Path, rng: random.Random) -> Iterator[Example]:
    """Cut paragraphs into windows of a few sentences: with the answer, beside it, and unanswerable ones."""
    contexts = [context for context, _ in _squad(data)]
    for context, questions in _squad(data):
        sentences = sentence_spans(context)
        for question in questions:
            text = question["question"].strip()
            if question["is_impossible"]:
                plausible = question.get("plausible_answers") or [{"answer_start": 0, "text": ""}]
                start, end = _window_around(sentences, plausible[0]["answer_start"], rng)
                yield Example(Task.ANSWERS, text, context[start:end], 0.0, NO_SPAN)
                continue
            answer = question["answers"][0]
            begin, stop = answer["answer_start"], answer["answer_start"] + len(answer["text"])
            start, end = _window_around(sentences, begin, rng)
            if stop > end:
                continue
            yield Example(Task.ANSWERS, text, context[start:end], 1.0, (begin - start, stop - start))
            answers = {a["text"] for a in question["answers"]}
            yield from _beside(text, context, sentences, answers, rng)
            yield from _without_the_answer(text, context, sentences, answers, begin)
            if rng.random() < 0.3:
                yield Example(Task.ANSWERS, text, _excerpt(rng.choice(contexts), rng), 0.0, NO_SPAN)
            yield from _squad_correctness(text, question, context, sentences, rng)


def _beside(
    question: str, context: str, sentences: list[tuple[int, int]], answers: set[str], rng: random.Random
) -> Iterator[Example]:
    free = [
        (a, b) for a, b in sentences if b - a > 20 and not any(answer.lower() in context[a:b].lower() for answer in answers)
    ]
    if free:
        likest = max(free, key=lambda span: _word_share(question, context[slice(*span)]))
        start, end = likest if rng.random() < 0.5 else rng.choice(free)  # noqa: PLR2004
        yield Example(Task.ANSWERS, question, context[start:end], 0.0, NO_SPAN)


def _without_the_answer(
    question: str, context: str, sentences: list[tuple[int, int]], answers: set[str], begin: int
) -> Iterator[Example]:
    """Take the sentences around the answer's and leave that one out: the right topic, and no answer."""
    index = next((i for i, (_, end) in enumerate(sentences) if begin < end), 0)
    near = [context[a:b].strip() for i, (a, b) in enumerate(sentences) if i != index and abs(i - index) <= 2]  # noqa: PLR2004
    text = " ".join(near)
    if text and not any(answer.lower() in text.lower() for answer in answers):
        yield Example(Task.ANSWERS, question, text, 0.0, NO_SPAN)


def _squad_correctness(
    text: str, question: dict[str, Any], context: str, sentences: list[tuple[int, int]], rng: random.Random
) -> Iterator[Example]:
    """Say of an alternative answer or its sentence that it is right, of a neighbouring phrase that it is wrong."""
    if rng.random() > 0.5:
        return
    answers = list(dict.fromkeys(answer["text"] for answer in question["answers"]))
    first = question_with_references(text, answers[:1])
    start, end = _window_around(sentences, question["answers"][0]["answer_start"], rng, most=1)
    yield Example(Task.CORRECT, first, answers[-1] if rng.random() < 0.5 else context[start:end], 1.0)
    names = re.findall(r"\b(?:[A-Z][\w'-]+(?: (?:of |the )?[A-Z][\w'-]+)*|\d[\d,.]*\d)", context)
    wrong = [name for name in names if not any(name.lower() in a.lower() or a.lower() in name.lower() for a in answers)]
    if wrong:
        yield Example(Task.CORRECT, first, rng.choice(wrong), 0.0)


def qed_examples(data: Path, rng: random.Random) -> Iterator[Example]:
    """Pair NQ questions with their paragraph, and with another one."""
    rows = [row for row in _lines(data / "reading/qed_dev.jsonl") if trains(row["question_text"])]
    for row in rows:
        paragraph, question = row["paragraph_text"], row["question_text"]
        answer = row["original_nq_answers"][0][0]
        start, end = _window_around(sentence_spans(paragraph), answer["start"], rng)
        if answer["end"] <= end:
            yield Example(Task.ANSWERS, question, paragraph[start:end], 1.0, (answer["start"] - start, answer["end"] - start))
            yield from _beside(question, paragraph, sentence_spans(paragraph), {answer["string"]}, rng)
        yield Example(Task.ANSWERS, question, _excerpt(rng.choice(rows)["paragraph_text"], rng), 0.0, NO_SPAN)


def two_hop_examples(data: Path, rng: random.Random) -> Iterator[Example]:
    """Pair each single-hop question of 2Wiki with its paragraph, the other hop's and a distractor."""
    for row in _lines(data / "multihop/2wiki_500.jsonl"):
        if not trains(row["question"]):
            continue
        paragraphs = [(title, " ".join(sentences)) for title, sentences in _context(row)]
        for pair, (subject, _, value) in zip(row["qa_pairs"], row["evidences"], strict=False):
            for title, text in paragraphs:
                about = subject.lower() in title.lower() or title.lower() in subject.lower()
                place = text.lower().find(value.lower())
                if about and place >= 0:
                    span = (place + len(title) + 2, place + len(title) + 2 + len(value))
                    yield Example(Task.ANSWERS, pair["question"], f"{title}. {text}", 1.0, span)
                elif not about and place < 0 and rng.random() < 0.3:
                    yield Example(Task.ANSWERS, pair["question"], f"{title}. {text}", 0.0, NO_SPAN)


def strategy_examples(data: Path) -> Iterator[Example]:
    """Pair StrategyQA's sub-questions with its facts where as many facts as questions line up by words."""
    for row in json.loads((data / "multihop/strategyqa_train.json").read_text()):
        questions = [question for question in row["decomposition"] if "#" not in question]
        if not trains(row["question"]) or len(row["facts"]) < 2:  # noqa: PLR2004
            continue
        for question in questions:
            shares = [_word_share(question, fact) for fact in row["facts"]]
            best = max(range(len(shares)), key=shares.__getitem__)
            if shares[best] >= 0.6:  # noqa: PLR2004
                yield Example(Task.ANSWERS, question, row["facts"][best], 0.9)
            worst = min(range(len(shares)), key=shares.__getitem__)
            if shares[worst] <= 0.3:  # noqa: PLR2004
                yield Example(Task.ANSWERS, question, row["facts"][worst], 0.05, NO_SPAN)


def verdict_examples(data: Path, rng: random.Random) -> Iterator[Example]:
    """Read human verdicts on five systems' answers; right answers also answer, another question's do not."""
    rows = [row for row in _lines(data / "answers/evouna_nq.jsonl") if trains(row["question"]) and not row["improper"]]
    for row in rows:
        references = row["golden_answer"].split("/")
        first = question_with_references(row["question"], references)
        for system in SYSTEMS:
            answer, verdict = row[f"answer_{system}"], row[f"judge_{system}"]
            if answer and verdict is not None:
                yield Example(Task.CORRECT, first, answer, float(verdict))
        other = rng.choice(rows)
        for text, label in ((row["answer_gpt4"], 1.0), (other["answer_chatgpt"], 0.0)):
            if text and (not label or row["judge_gpt4"]) and len(text.split()) > 5:  # noqa: PLR2004
                yield Example(Task.ANSWERS, row["question"], text, label, None if label else NO_SPAN)


def rated_prediction_examples(data: Path) -> Iterator[Example]:
    """Read EfficientQA's rated predictions: definitely, possibly, not correct."""
    labels = {"def_correct_predictions": 1.0, "poss_correct_predictions": 0.6, "def_incorrect_predictions": 0.0}
    for row in _lines(data / "answers/efficientqa_test.jsonl"):
        if trains(row["question"]):
            first = question_with_references(row["question"], row["answer"])
            for field, label in labels.items():
                yield from (Example(Task.CORRECT, first, text, label) for text in row[field] if text.strip())


def similar_answer_examples(data: Path) -> Iterator[Example]:
    """Read pairs of NQ answers with human similarity 0, 1, 2, in both directions."""
    for row in _lines(data / "answers/sas_nq.jsonl"):
        if trains(row["question"]):
            for reference, text in ((row["answer1"], row["answer2"]), (row["answer2"], row["answer1"])):
                first = question_with_references(row["question"], [reference])
                yield Example(Task.CORRECT, first, text, (0.0, 0.6, 1.0)[int(float(row["label"]))])


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Cut a paragraph into sentences, as code points."""
    ends = [match.end() for match in re.finditer(r"[.!?]['\")\]]*\s+(?=[A-Z0-9\"'(\[])", text)] + [len(text)]
    return [(start, end) for start, end in zip([0, *ends], ends, strict=False) if end > start]


def _sentences(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in sentence_spans(text)]


def _window_around(sentences: list[tuple[int, int]], place: int, rng: random.Random, *, most: int = 3) -> tuple[int, int]:
    """Choose one to ``most`` + 1 sentences around a place."""
    index = next((i for i, (_, end) in enumerate(sentences) if place < end), len(sentences) - 1)
    before = rng.randint(0, most - 1) if most > 1 else 0
    after = rng.randint(0, most - 1) if most > 1 else 0
    return sentences[max(0, index - before)][0], sentences[min(len(sentences) - 1, index + after)][1]


def _excerpt(text: str, rng: random.Random) -> str:
    sentences = sentence_spans(text)
    start, end = _window_around(sentences, rng.choice(sentences)[0], rng)
    return text[start:end]


def _windows(context: str, rng: random.Random) -> list[str]:
    return [context, _excerpt(context, rng)]


def _word_share(question: str, text: str) -> float:
    """Return the share of a question's longer words that a text repeats, by their first five letters."""
    stems = {word[:5] for word in re.findall(r"[a-z0-9]{4,}", question.lower())} - {"what", "which", "when", "where", "does"}
    found = {word[:5] for word in re.findall(r"[a-z0-9]{4,}", text.lower())}
    return len(stems & found) / len(stems) if stems else 0.0


def _squad(data: Path, *, train: bool = True) -> list[tuple[str, list[dict[str, Any]]]]:
    articles = json.loads((data / "reading/squad2_dev_part.json").read_text())["data"]
    return [
        (paragraph["context"], paragraph["qas"])
        for article in articles
        if trains_by_document(article["title"]) == train
        for paragraph in article["paragraphs"]
    ]


def _held_out_squad_texts(data: Path) -> set[str]:
    held_out = _squad(data, train=False)
    return {context for context, _ in held_out} | {q["question"] for _, questions in held_out for q in questions}


def _context(row: dict[str, Any]) -> list[tuple[str, list[str]]]:
    context = row["context"]
    return ast.literal_eval(context) if isinstance(context, str) else context


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
