"""Check the texts written for training, pack them, and print what they are like.

    python -m benchmarks.judge.pack_training_texts --from folder     # checks folder/{crossed,claims,…}/*.jsonl, packs them
    python -m benchmarks.judge.pack_training_texts                   # checks what is packed

Refuses rows of another form (file and line are named). Leaves out duplicates, and topics whose questions stand in a test part
of the data folder or among the probes. Prints, for the crossed texts, the AUC with which the share of the question's words
predicts the label: 0.5 says that shared words tell nothing.

Data: shared folder.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.support.datasets import lines
from benchmarks.support.judges import overlap
from benchmarks.support.scores import auc
from benchmarks.support.tables import arguments, plain, show
from rag_cover.errors import InputError
from rag_cover_embedded.training.crossed import TEXTS, is_held_out, make_crossed_examples
from rag_cover_embedded.training.near_questions import ANSWERS, NEAR_MISS
from rag_cover_embedded.training.splits import LEARNING
from rag_cover_embedded.training.subjects import is_kept_from_weights

FOLDERS = {
    "crossed": "crossed",
    "claims": "claims",
    "verdicts": "agreement",
    "abstentions": "abstentions",
    "contrast": "contrast",
    "claims2": "contrast_claims",
    "verdicts2": "contrast_agreement",
    "cases": "cases",
    "near": "near_cases",
    "near_questions": "near_questions",
    "copies": "near_copies",
    "paragraphs": "other_words",
    "long_replies": "long_replies",
    "subjects": "subjects",
    "members": "set_members",
}
"""Folders of raw files, and the file that each is packed into."""
CASE_KEYS = frozenset({"domain", "question", "subs", "passages", "answers"})
KEYS: Mapping[str, frozenset[str]] = {
    "crossed": frozenset({"domain", "question", "subs"}),
    "claims": frozenset({"kind", "domain", "premise", "claims"}),
    "agreement": frozenset({"question", "references", "right", "wrong"}),
    "abstentions": frozenset({"question", "text", "abstains", "how"}),
    "contrast": frozenset({"domain", "kind", "question", "pairs"}),
    "contrast_claims": frozenset({"kind", "domain", "premise", "claims"}),
    "contrast_agreement": frozenset({"question", "references", "right", "wrong"}),
    "cases": CASE_KEYS,
    "near_cases": CASE_KEYS,
    "near_questions": frozenset({"domain", "questions"}),
    "near_copies": frozenset({"kind", "domain", "premise", "claims"}),
    "long_replies": CASE_KEYS,
    "other_words": frozenset({"topic", "kind", "text", "asked"}),
    "subjects": frozenset({"domain", "passages", "questions"}),
    "set_members": frozenset({"domain", "entities", "sets"}),
}
SUB_KEYS = frozenset({"s", "type", "clause", "topic", "yes", "no", "unknown"})
YES = frozenset({"short", "same", "other", "lean", "list", "table", "two"})
NO = frozenset({"mention", "attribute", "entity", "time", "hypothetical", "other"})
SHORTEST = 20  # letters of a question that meets another one by chance no more


def main() -> None:
    """Check and pack."""
    parser = arguments(__doc__)
    parser.add_argument(
        "--from",
        dest="source",
        type=Path,
        help="the folder of folders of raw files; a kind without any stays as it is packed, and is checked",
    )
    options = parser.parse_args()
    tested = frozenset(questions_that_test(options.data))
    table = []
    for folder, name in FOLDERS.items():
        raw = sorted((options.source / folder).glob("*.jsonl")) if options.source else []
        rows = [row for file in raw or [TEXTS / f"{name}.jsonl"] for row in checked(file, name)]
        distinct = list({key_of(name, row): row for row in rows}.values())
        kept = [row for row in distinct if tested.isdisjoint(map(letters, questions_of(name, row)))]
        if raw:
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept)
            (TEXTS / f"{name}.jsonl").write_text(text, encoding="utf-8")
        table.append([name, str(len(rows)), str(len(rows) - len(distinct)), str(len(distinct) - len(kept)), COUNTS[name](kept)])
    show("Texts written for training", ["file", "rows", "duplicates", "leaks", "kept"], table)
    show_overlap(list(lines(TEXTS / "crossed.jsonl")), options.data, options.seed)


def checked(file: Path, name: str) -> Iterator[dict[str, Any]]:
    """Read rows, and refuse those of another form."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            problem = f"not JSON: {error}; mend or delete the line"
            raise InputError(problem, file=file, line=number) from error
        if frozenset(row) != KEYS[name]:
            problem = f"has the fields {', '.join(sorted(row))}; wanted {', '.join(sorted(KEYS[name]))}"
            raise InputError(problem, file=file, line=number)
        for field, problem in ROW_CHECKS.get(name, find_nothing)(row):
            raise InputError(problem, file=file, line=number, field=field)
        yield row


def find_nothing(_: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find no problem: the fields say it all."""
    yield from ()


def find_in_case(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find quotes and sentences that do not stand in their text, and names of no sub-question or passage."""
    for part in ("passages", "answers"):
        for place, text in enumerate(row[part]):
            wrong = [name for name, quote in text["covers"].items() if name not in row["subs"] or quote not in text["text"]]
            stated = text.get("sentences", [])
            wrong += [each["text"] for each in stated if each["text"] not in text["text"]]
            wrong += [each["text"] for each in stated if not set(each["by"]) <= set(range(len(row["passages"])))]
            for each in wrong:
                yield (
                    f"$.{part}[{place}]",
                    f"{each!r} does not stand in the text, or names what is not there; mend or delete it",
                )


def find_in_group(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find near questions that lack an answer or have one too many."""
    for place, each in enumerate(row["questions"]):
        if frozenset(each) != {"question", "answers"} or frozenset(each["answers"]) != {*ANSWERS, NEAR_MISS}:
            problem = "a question lacks an answer or has one too many; the form stands in texts/README.md"
            yield f"$.questions[{place}]", problem


def find_in_paragraph(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find fragments that do not stand once in their text."""
    for place, each in enumerate(row["asked"]):
        if "fragment" in each and row["text"].count(each["fragment"]) != 1:
            yield f"$.asked[{place}]", "the fragment does not stand once in the text; mend or delete it"


def find_in_collection(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find questions that name passages which are not there, or one as a full and a partial answer."""
    return find_misnamed(row, "passages", "questions", ("answered_by", "partly_by"))


def find_in_sets(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find sets with members that are not there, or that are both members and unclear."""
    return find_misnamed(row, "entities", "sets", ("members", "unclear"))


def find_misnamed(row: Mapping[str, Any], named: str, rows: str, fields: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """Find rows whose two lists of ids name what is not there, or one thing twice."""
    known = {each["id"] for each in row[named]}
    for place, each in enumerate(row[rows]):
        first, second = (set(each[field]) for field in fields)
        if (first & second) or not (first | second) <= known:
            problem = f"names an id that is not among the {named}, or one both in {' and in '.join(fields)}; mend or delete it"
            yield f"$.{rows}[{place}]", problem


def find_in_cells(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find sub-questions that lack a cell or have one too many."""
    for place, sub in enumerate(row["subs"]):
        if frozenset(sub) != SUB_KEYS or frozenset(sub["yes"]) != YES or frozenset(sub["no"]) != NO:
            problem = "a sub-question lacks a cell or has one too many; the form stands in texts/README.md"
            yield f"$.subs[{place}]", problem


ROW_CHECKS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[tuple[str, str]]]] = {
    "cases": find_in_case,
    "near_cases": find_in_case,
    "long_replies": find_in_case,
    "near_questions": find_in_group,
    "other_words": find_in_paragraph,
    "crossed": find_in_cells,
    "subjects": find_in_collection,
    "set_members": find_in_sets,
}
"""How to find what is wrong in a row that has the right fields, by file."""


def key_of(name: str, row: Mapping[str, Any]) -> str:
    """Return what makes a row a duplicate of another."""
    if name == "near_questions":
        return letters(row["questions"][0]["question"])
    if name == "other_words":
        return letters(row["text"])
    if name in {"subjects", "set_members"}:
        return letters(row["domain"])
    return letters(row["premise"] if "premise" in row else row["question"] + (row["text"] if name == "abstentions" else ""))


def questions_of(name: str, row: Mapping[str, Any]) -> list[str]:
    """List the questions of a row."""
    if name == "crossed":
        return [row["question"], *(sub["s"] for sub in row["subs"])]
    if KEYS[name] is CASE_KEYS:
        return [row["question"], *row["subs"].values()]
    if name in {"near_questions", "other_words", "subjects"}:
        return [each["question"] for each in row["asked" if name == "other_words" else "questions"]]
    if name == "set_members":
        return [each["set"] for each in row["sets"]]
    return [row["premise"] if "premise" in row else row["question"]]


def letters(text: str) -> str:
    """Keep letters and digits, in lower case."""
    return re.sub(r"[\W_]", "", text.lower())


def questions_that_test(data: Path) -> Iterator[str]:
    """List the questions of test parts and of the probes."""
    for path in (data / "judge").glob("*.jsonl.gz"):
        with gzip.open(path, "rt", encoding="utf-8") as rows:
            yield from (
                letters(row.get("question") or row.get("premise") or "")
                for row in map(json.loads, rows)
                if row["split"] == "test"
            )
    for name, field in (
        ("answerability", "sub_question"),
        ("subquestion_types", "sub_question"),
        ("ragchecker_preferences", "query"),
    ):
        yield from (letters(row[field]) for row in lines(data / f"coverage/{name}_part.jsonl"))
    for path in (Path(__file__).parent / "probes").rglob("*.jsonl"):
        for row in lines(path):
            asked = [each["question"] for each in row.get("questions", ())] or [row.get("question") or row.get("premise", "")]
            yield from (found for question in asked if len(found := letters(question)) > SHORTEST)


def count_crossed(rows: list[dict[str, Any]]) -> str:
    """Say how much is kept of texts crossed by construction."""
    subs = [sub for row in rows for sub in row["subs"]]
    held_out = sum(len(row["subs"]) for row in rows if is_held_out(row["domain"]))
    domains = len({row["domain"] for row in rows})
    return f"{len(rows)} topics of {domains} domains, {len(subs)} sub-questions ({held_out} held out) × 16 texts"


def count_claims(rows: list[dict[str, Any]]) -> str:
    """Say how much is kept of premises."""
    return f"{len(rows)} premises, {sum(len(row['claims']) for row in rows)} claims"


def count_contrast(rows: list[dict[str, Any]]) -> str:
    """Say how much is kept of texts in pairs."""
    return f"{len(rows)} questions, {sum(len(row['pairs']) for row in rows)} pairs"


def count_cases(rows: list[dict[str, Any]]) -> str:
    """Say how much is kept of cases."""
    pairs = sum(len(row["subs"]) * len(row["passages"] + row["answers"]) for row in rows)
    stated = sum(len(text["sentences"]) for row in rows for text in row["answers"])
    held_out = sum(is_held_out(row["domain"]) for row in rows)
    return f"{len(rows)} cases ({held_out} held out), {pairs} pairs, {stated} claims"


def count_answers(rows: list[dict[str, Any]]) -> str:
    """Say how much is kept of answers against references."""
    return f"{len(rows)} questions, {sum(len(row['right']) + len(row['wrong']) for row in rows)} answers"


def count_near_questions(rows: list[dict[str, Any]]) -> str:
    """Say how much is kept of groups of near questions."""
    questions = sum(len(row["questions"]) for row in rows)
    return f"{len(rows)} groups, {questions} questions, {questions * (len(ANSWERS) + 1)} texts"


def count_paragraphs(rows: list[dict[str, Any]]) -> str:
    """Say how much is kept of paragraphs with questions in other words."""
    answered = sum("fragment" in each for row in rows for each in row["asked"])
    return f"{len(rows)} paragraphs, {sum(len(row['asked']) for row in rows)} questions ({answered} answered)"


def count_collections(rows: list[dict[str, Any]]) -> str:
    """Say how much is kept of collections on one subject."""
    questions = [each for row in rows for each in row["questions"]]
    pairs = sum(len(row["questions"]) * len(row["passages"]) for row in rows)
    answered = sum(bool(each["answered_by"]) for each in questions)
    held_out = sum(is_kept_from_weights(row["domain"]) for row in rows)
    return f"{len(rows)} collections ({held_out} held out), {len(questions)} questions ({answered} answered), {pairs} pairs"


def count_sets(rows: list[dict[str, Any]]) -> str:
    """Say how much is kept of sets of entities."""
    sets = [each for row in rows for each in row["sets"]]
    pairs = sum(len(row["sets"]) * len(row["entities"]) for row in rows)
    held_out = sum(is_kept_from_weights(row["domain"]) for row in rows)
    return f"{len(rows)} collections ({held_out} held out), {len(sets)} sets, {pairs} pairs"


def count_abstentions(rows: list[dict[str, Any]]) -> str:
    """Say how much is kept of replies, by kind."""
    return ", ".join(f"{count} {label}" for label, count in sorted(Counter(row["abstains"] for row in rows).items()))


COUNTS: Mapping[str, Callable[[list[dict[str, Any]]], str]] = {
    "crossed": count_crossed,
    "claims": count_claims,
    "contrast_claims": count_claims,
    "contrast": count_contrast,
    "cases": count_cases,
    "near_cases": count_cases,
    "long_replies": count_cases,
    "agreement": count_answers,
    "contrast_agreement": count_answers,
    "near_questions": count_near_questions,
    "near_copies": count_claims,
    "other_words": count_paragraphs,
    "subjects": count_collections,
    "set_members": count_sets,
    "abstentions": count_abstentions,
}
"""How to say how much is kept of a file."""


def show_overlap(rows: list[dict[str, Any]], data: Path, seed: int) -> None:
    """Print how well shared words predict the label: of all cells as written, and of the texts that one pass reads."""
    cells = [
        (sub["s"], text, side == "yes")
        for row in rows
        for sub in row["subs"]
        for side in ("yes", "no")
        for text in sub[side].values()
    ]
    four = [
        (sub["s"], sub[side][cell], side == "yes")
        for row in rows
        for sub in row["subs"]
        for side, cell in (("yes", "same"), ("yes", "other"), ("no", "mention"), ("no", "other"))
    ]
    rng = random.Random(seed)  # noqa: S311  # samples, not secrets
    drawn = [each for each in make_crossed_examples(data, rng, LEARNING) if each.label is not None]
    read = [(each.first, each.second, bool(each.label)) for each in drawn]
    table = []
    for title, found in (("all cells", cells), ("same, other, mention, other", four), ("one pass of training", read)):
        shares = [overlap(question, text) for question, text, _ in found]
        labels = [label for _, _, label in found]
        area = auc(shares, labels, [question for question, _, _ in found], seed=seed)
        table.append([title, str(len(found)), f"{np.mean(labels):.1%}", plain(area)])
    show("Share of the question's words as predictor of the label", ["texts", "n", "that answer", "ROC-AUC"], table)


if __name__ == "__main__":
    main()
