"""How many of the judge's right positive verdicts the first stage keeps, at every setting of floor, margin and most.

    python -m benchmarks.judge.proposing --target 0.95

Judges every window of (question, text) pairs and ranks the same windows by the first stage, both once; then plays all
settings on these numbers. *squad* (articles of buckets 0-79) and *2wiki* (questions of buckets 0-69) are training data in
passages of about 120 words, *cases* the written training cases, dense passages of one subject whose answers stand in other
words; *long* are whole SQuAD articles joined to ``--long-words`` words, *demo* the demo's passages. Where labels are known
(squad, 2wiki, cases) only right positive verdicts count; of *long* and *demo* all positive verdicts do, and *demo* is shown but
chooses nothing. A positive is lost when every window that reaches the threshold ranks too low; the first stage never adds one.
Windows are judged in rounds of 1, 1, 2, 4, … until one answers, so ``windows`` is what a setting costs per pair.

Prints the cheapest settings for a list of recalls, then the JSON for ``fitted`` in judge.json: the cheapest setting that
reaches ``--target`` on every set that chooses, with slope and intercept fitted (logistic regression on the labelled pairs below
the floor) so that the best window's score estimates the probability that the text answers.

Data: shared folder.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.datasets import Hop, hops_of, lines, paragraphs_of, sample, squad_articles, two_wiki
from benchmarks.support.judges import about_judge, opened_weights
from benchmarks.support.tables import arguments, percent, show
from rag_cover import demo
from rag_cover.stats.intervals import wilson
from rag_cover_embedded.answers import MAX_QUESTION, WINDOW, Proposing, window_evidence
from rag_cover_embedded.inputs import Encoded, Task, encodable, join, open_tokenizer
from rag_cover_embedded.segments import SegmentedText, segment_texts
from rag_cover_embedded.session import Session
from rag_cover_embedded.training.authored_examples import TEXTS
from rag_cover_embedded.training.crossed import is_held_out
from rag_cover_embedded.weights import Weights
from rag_cover_embedded.window_retrieval import question_vectors, similarities, window_scores

Floats = NDArray[np.float64]

FLOORS = (-1.0, *(round(0.2 + 0.025 * step, 3) for step in range(21)))
MARGINS = (0.03, 0.06, 0.1, 0.15, 0.2, 0.25, 0.35, 2.0)
MOST = (1, 2, 3, 4, 6, 8, 12, 16, 32, 1_000)
RECALLS = (0.95, 0.96, 0.97, 0.98, 0.99, 0.995, 1.0)
PASSAGE_WORDS = 120

SHOWN_ONLY = "demo"
LABELLED = ("squad", "2wiki", "cases")

Asked = tuple[str, dict[str, bool]]
"""A text and the questions asked of it, each with whether a positive verdict counts."""


Setting = tuple[float, float, int]
"""Floor, margin and most."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Each pair's windows, best-ranked first: first-stage scores and the judge's probabilities, both (pairs, windows).

    Pairs with fewer windows are filled up with scores of minus infinity and probabilities of 0. ``counts`` tells for each pair
    whether a positive verdict counts.
    """

    scores: Floats
    probabilities: Floats
    counts: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Played:
    """What one setting does with a set of pairs: positives in all and kept, windows judged of how many."""

    positives: int
    kept: int
    judged: int
    windows: int
    pairs: int


def squad_pairs(data: Path, rng: random.Random, limit: int) -> list[Asked]:
    """Ask of SQuAD paragraphs their own questions (some without an answer), two of the same article, one of another."""
    articles = squad_articles(data, "train")
    chosen = [(article, paragraph) for article in articles for paragraph in article["paragraphs"]]
    found = []
    for article, paragraph in rng.sample(chosen, min(limit, len(chosen))):
        own = rng.sample(paragraph["qas"], min(4, len(paragraph["qas"])))
        near = rng.sample([q for other in article["paragraphs"] if other is not paragraph for q in other["qas"]], 2)
        far = rng.choice(rng.choice(rng.choice(articles)["paragraphs"])["qas"])
        asked = {q["question"].strip(): False for q in (*near, far)}
        asked |= {q["question"].strip(): not q["is_impossible"] for q in own}
        found.append((paragraph["context"], asked))
    return found


def two_wiki_pairs(data: Path, rng: random.Random, limit: int) -> list[Asked]:
    """Ask of passages of 2Wiki paragraphs the questions they answer and those of another row."""
    rows = two_wiki(data, "train")
    hops = [(row, hop) for row in rows for hop in hops_of(row)]
    found = []
    for row, hop in rng.sample(hops, min(limit, len(hops))):
        others = [each.question for each in hops_of(row)] + [rng.choice(hops)[1].question]
        found.append((_passage(hop, row, rng), dict.fromkeys(others, False) | {hop.question: True}))
    return found


def _passage(hop: Hop, row: dict[str, Any], rng: random.Random) -> str:
    parts, neighbours = [hop.paragraph], [text for _, text in paragraphs_of(row) if text != hop.paragraph]
    rng.shuffle(neighbours)
    while neighbours and sum(len(part.split()) for part in parts) < PASSAGE_WORDS:
        parts.append(neighbours.pop())
    rng.shuffle(parts)
    return " ".join(parts)


def long_pairs(data: Path, rng: random.Random, limit: int, words: int) -> list[Asked]:
    """Ask 20 questions of whole articles joined to so many words."""
    articles = squad_articles(data, "train")
    found = []
    for first in rng.sample(articles, min(limit, len(articles))):
        others = [article for article in articles if article is not first]
        rng.shuffle(others)
        document, joined = [first], _text(first)
        while others and len(joined.split()) < words:
            document.append(others.pop())
            joined = "\n\n".join(map(_text, document))
        questions = [q["question"].strip() for article in document for p in article["paragraphs"] for q in p["qas"]]
        found.append((" ".join(joined.split(" ")[:words]), dict.fromkeys(rng.sample(questions, 20), True)))
    return found


def _text(article: dict[str, Any]) -> str:
    return "\n\n".join(paragraph["context"] for paragraph in article["paragraphs"])


def demo_pairs(rng: random.Random, limit: int) -> list[Asked]:
    """Ask each demo sub-question of the passages that answer it and of six others."""
    passages = {row["id"]: row["text"] for row in lines(demo.corpus_path())}
    asked: dict[str, dict[str, bool]] = {}
    for label in sample(list(lines(demo.labels_path())), limit, rng.randrange(2**32)):
        others = [name for name in passages if name not in label["passages"]]
        for name in (*label["passages"], *rng.sample(others, 6)):
            asked.setdefault(passages[name], {})[label["sub_question"]] = True
    return [*asked.items()]


def case_pairs() -> list[Asked]:
    """Ask of every passage of the written training cases every sub-question of its case."""
    cases = [case for case in lines(TEXTS / "cases.jsonl") if not is_held_out(case["domain"])]
    return [
        (passage["text"], {question: name in passage["covers"] for name, question in case["subs"].items()})
        for case in cases
        for passage in case["passages"]
    ]


def judged_windows(weights: Weights, pairs: Sequence[Asked]) -> Windows:
    """Run both stages over every window of every pair."""
    session, tokenizer = Session(weights.network), open_tokenizer(weights.tokenizer)
    texts = segment_texts(tokenizer, [text for text, _ in pairs])
    questions = list(dict.fromkeys(question for _, asked in pairs for question in asked))
    asked_of = question_vectors(session, tokenizer, [encodable(question) for question in questions], longest=MAX_QUESTION)
    vectors = dict(zip(questions, asked_of, strict=True))
    encodings = tokenizer.encode_batch([encodable(question) for question in questions], add_special_tokens=False)
    ids = {question: encoding.ids[:MAX_QUESTION] for question, encoding in zip(questions, encodings, strict=True)}
    stacked = [np.concatenate([vectors[question].vectors for question in asked]) for _, asked in pairs]
    scores: list[Floats] = []
    encoded: list[Encoded] = []
    read: list[SegmentedText] = []
    for text, (_, asked), similar in zip(texts, pairs, similarities(session, texts, stacked), strict=True):
        bounds = np.cumsum([len(vectors[question].weights) for question in asked])[:-1]
        for question, mine in zip(asked, np.split(similar, bounds), strict=True):
            scores.append(window_scores(mine, vectors[question].weights, text.windows(WINDOW)).astype(np.float64))
            encoded += _encoded(ids[question], text)
            read.append(text)
    logits = (float(logit[0]) for (logit,) in session.run(encoded, ["answers"]))
    calibrations, probabilities = weights.fitted.calibrations, []
    for text, found in zip(read, scores, strict=True):
        for logit in islice(logits, len(found)):
            evidence = window_evidence(text, logit, windows=len(found), similarity=float(found.max()))
            probabilities.append(calibrations.probability(Task.ANSWERS, evidence))
    return _ranked(scores, np.array(probabilities), [counts for _, asked in pairs for counts in asked.values()])


def _encoded(question: Sequence[int], text: SegmentedText) -> Iterator[Encoded]:
    for window in text.windows(WINDOW):
        yield join(Task.ANSWERS, question, text.ids[text.tokens(window)].tolist())


def _ranked(scores: Sequence[Floats], probabilities: Floats, counts: Sequence[bool]) -> Windows:
    widest = max(map(len, scores))
    ranked = Windows(np.full((len(scores), widest), -np.inf), np.zeros((len(scores), widest)), np.array(counts))
    bounds = np.cumsum([len(each) for each in scores])[:-1]
    for row, (mine, judged) in enumerate(zip(scores, np.split(probabilities, bounds), strict=True)):
        order = np.argsort(-mine, kind="stable")
        ranked.scores[row, : len(mine)], ranked.probabilities[row, : len(mine)] = mine[order], judged[order]
    return ranked


def play(windows: Windows, setting: Setting, threshold: float) -> Played:
    """Count what one setting keeps and judges."""
    floor, margin, most = setting
    scores, hits = windows.scores[:, :most], windows.probabilities[:, :most] >= threshold
    least = np.maximum(floor, scores[:, :1] - margin)
    proposed = scores >= least  # a prefix of each row, since rows are ranked
    hits = hits & proposed
    count, kept = proposed.sum(axis=1), hits.any(axis=1)
    rounds = 2 ** np.ceil(np.log2(hits.argmax(axis=1) + 1)).astype(int)
    positives = (windows.probabilities >= threshold).any(axis=1) & windows.counts
    judged = np.where(kept, np.minimum(rounds, count), count)
    found = (positives & kept).sum()
    return Played(int(positives.sum()), int(found), int(judged.sum()), int(np.isfinite(windows.scores).sum()), len(kept))


def logistic(scores: Floats, wanted: Floats) -> tuple[float, float]:
    """Fit slope and intercept of P = σ(slope · score + intercept) to probabilities, by Newton's method.

    >>> slope, intercept = logistic(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.5, 0.5, 1.0]))
    >>> round(slope, 3), round(intercept, 3)
    (2.197, -1.099)
    """
    features = np.stack([scores, np.ones_like(scores)], axis=1)
    beta = np.zeros(2)
    for _ in range(50):
        expected = 1 / (1 + np.exp(-features @ beta))
        curvature = features.T @ (features * (expected * (1 - expected))[:, None]) + 1e-9 * np.eye(2)
        beta = beta + np.linalg.solve(curvature, features.T @ (wanted - expected))
    return float(beta[0]), float(beta[1])


def cheapest(games: dict[Setting, dict[str, Played]], target: float) -> Setting | None:
    """Choose the setting with the fewest windows whose recall reaches the target on every set that chooses."""
    games = {setting: {name: each for name, each in game.items() if name != SHOWN_ONLY} for setting, game in games.items()}
    good = [setting for setting, game in games.items() if all(each.kept >= target * each.positives for each in game.values())]
    return min(good, key=lambda setting: (_cost(games[setting]), -setting[0], setting), default=None)


def _cost(game: dict[str, Played]) -> float:
    return sum(each.judged / each.windows for each in game.values())


def _show_sets(sets: dict[str, Windows], threshold: float) -> None:
    rows = []
    for name, windows in sets.items():
        covered = (windows.probabilities >= threshold).any(axis=1)
        best, count = windows.scores[:, 0], np.isfinite(windows.scores).sum()
        sizes = [str(len(best)), f"{count / len(best):.1f}", f"{covered.mean():.1%}"]
        rows.append(
            [name, *sizes, _quantile(best[covered], 0.01), _quantile(best[covered], 0.5), _quantile(best[~covered], 0.5)]
        )
    header = ["set", "pairs", "windows/pair", "covered", "best score: 1% of covered", "median of covered", "median of others"]
    show(f"Pairs, every window judged at threshold {threshold:g}", header, rows)


def _quantile(values: Floats, share: float) -> str:
    return f"{np.quantile(values, share):.3f}" if len(values) else "-"


def _show_games(games: dict[Setting, dict[str, Played]], settings: dict[str, Setting]) -> None:
    rows = [
        [name, *(f"{value:g}" for value in setting), *(_result(game) for game in games[setting].values())]
        for name, setting in settings.items()
    ]
    sets = [f"{name}: recall %; windows/pair" for name in next(iter(games.values()))]
    show("Cheapest settings by the lowest recall over the sets", ["recall", "floor", "margin", "most", *sets], rows)


def _result(game: Played) -> str:
    kept = percent(wilson(game.kept, game.positives)) if game.positives else "no positives"
    return f"{kept}; {game.judged / game.pairs:.2f}"


def _show_fit(sets: dict[str, Windows], proposing: Proposing, threshold: float) -> None:
    rows = []
    for name, windows in sets.items():
        best, read = windows.scores[:, 0], windows.probabilities.max(axis=1)
        below = best < proposing.floor
        given = np.array([proposing.estimate(float(score), threshold) for score in best[below]])
        means = [f"{each.mean():.3f}" if below.any() else "-" for each in (given, read[below], windows.counts[below])]
        rows.append([name, f"{below.mean():.1%}", *(means if name in LABELLED else [*means[:2], "-"])])
    show("Pairs below the floor", ["set", "share", "mean estimate", "mean probability if read", "answered by label"], rows)


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--threshold", type=float, help="the cut to keep positives of (default: the judge's)")
    parser.add_argument(
        "--target", type=float, default=0.95, help="the recall that the printed setting reaches on every set but demo"
    )
    parser.add_argument("--long-documents", type=int, default=4)
    parser.add_argument("--long-words", type=int, default=6_000)
    options = parser.parse_args()
    weights = opened_weights(options.judge)
    fitted = weights.fitted
    threshold = options.threshold or fitted.threshold
    rng = random.Random(options.seed)  # noqa: S311  # a sample, not a secret
    limit = options.limit or 300
    pairs = {
        "squad": squad_pairs(options.data, rng, limit),
        "2wiki": two_wiki_pairs(options.data, rng, limit),
        "cases": case_pairs(),
        "long": long_pairs(options.data, rng, options.long_documents, options.long_words),
        "demo": demo_pairs(rng, limit),
    }
    sets = {name: judged_windows(weights, found) for name, found in pairs.items() if found}
    _show_sets(sets, threshold)
    games = {
        setting: {name: play(windows, setting, threshold) for name, windows in sets.items()}
        for setting in product(FLOORS, MARGINS, MOST)
    }
    chosen = {f"≥ {recall:g}": cheapest(games, recall) for recall in sorted({*RECALLS, options.target})}
    shipped = (fitted.proposing.floor, fitted.proposing.margin, fitted.proposing.most)
    games[shipped] = {name: play(windows, shipped, threshold) for name, windows in sets.items()}
    _show_games(games, {name: setting for name, setting in chosen.items() if setting} | {"as it is": shipped})
    best = np.concatenate([sets[name].scores[:, 0] for name in LABELLED])
    wanted = np.concatenate([sets[name].counts for name in LABELLED]).astype(np.float64)
    floor, margin, most = chosen[f"≥ {options.target:g}"] or shipped
    slope, intercept = logistic(best[best < floor], wanted[best < floor])
    proposing = Proposing(floor, margin, most, round(slope, 3), round(intercept, 3))
    _show_fit(sets, proposing, threshold)
    numbers = about_judge(options.judge)["fitted"] | {"threshold": threshold, "proposing": asdict(proposing)}
    print("\n" + json.dumps(numbers, indent=2))


if __name__ == "__main__":
    main()
