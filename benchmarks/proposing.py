"""How many of the judge's positive verdicts the first stage keeps, at every setting of floor, margin and most.

    python benchmarks/proposing.py --target 0.99

Judges every window of (question, text) pairs and ranks the same windows by the first stage, both once; then plays all
settings on these numbers. The pairs come from training data (SQuAD articles of buckets 0-79, 2WikiMultihopQA questions of
buckets 0-69) and from the demo, never from test data: *squad* and *2wiki* are passages of about 120 words, *long* whole
SQuAD articles joined to ``--long-words`` words, *demo* the demo's passages. A positive is lost when every window that
reaches the threshold ranks too low; the first stage never adds one. Windows are judged in rounds of 1, 1, 2, 4, … until one
answers, so ``windows`` is what a setting costs per pair.

Prints the cheapest settings for a list of recalls, then the JSON for ``fitted`` in judge.json: the cheapest setting that
reaches ``--target`` on every set, with slope and intercept fitted (logistic regression) so that the best window's score
estimates the probability that reading every window would give.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from _datasets import Hop, hops_of, lines, paragraphs_of, sample, squad_articles, two_wiki
from _judges import about_judge, opened_weights
from _tables import arguments, percent, show
from numpy.typing import NDArray

from rag_cover import demo
from rag_cover.intervals import wilson
from rag_cover_embedded.answers import MAX_QUESTION, WINDOW, Proposing
from rag_cover_embedded.inputs import Encoded, Task, encodable, join, open_tokenizer
from rag_cover_embedded.proposals import question_vectors, similarities, window_scores
from rag_cover_embedded.segments import SegmentedText, segmented
from rag_cover_embedded.session import Session
from rag_cover_embedded.weights import Weights

Floats = NDArray[np.float64]

FLOORS = (-1.0, *(round(0.2 + 0.025 * step, 3) for step in range(21)))
MARGINS = (0.03, 0.06, 0.1, 0.15, 0.2, 0.25, 0.35, 2.0)
MOST = (1, 2, 3, 4, 6, 8, 12, 16, 32, 1_000)
RECALLS = (0.95, 0.97, 0.98, 0.985, 0.99, 0.995, 1.0)
PASSAGE_WORDS = 120

Asked = tuple[str, tuple[str, ...]]
"""A text and the questions asked of it."""


Setting = tuple[float, float, int]
"""Floor, margin and most."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Each pair's windows, best-ranked first: first-stage scores and the judge's probabilities, both (pairs, windows).

    Pairs with fewer windows are filled up with scores of minus infinity and probabilities of 0.
    """

    scores: Floats
    probabilities: Floats


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
        found.append((paragraph["context"], tuple(q["question"].strip() for q in (*own, *near, far))))
    return found


def two_wiki_pairs(data: Path, rng: random.Random, limit: int) -> list[Asked]:
    """Ask of passages of 2Wiki paragraphs the questions they answer and those of another row."""
    rows = two_wiki(data, "train")
    hops = [(row, hop) for row in rows for hop in hops_of(row)]
    found = []
    for row, hop in rng.sample(hops, min(limit, len(hops))):
        others = [each.question for each in hops_of(row)] + [rng.choice(hops)[1].question]
        found.append((_passage(hop, row, rng), tuple(dict.fromkeys([hop.question, *others]))))
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
        found.append((" ".join(joined.split(" ")[:words]), tuple(rng.sample(questions, 20))))
    return found


def _text(article: dict[str, Any]) -> str:
    return "\n\n".join(paragraph["context"] for paragraph in article["paragraphs"])


def demo_pairs(rng: random.Random, limit: int) -> list[Asked]:
    """Ask each demo sub-question of the passages that answer it and of six others."""
    passages = {row["id"]: row["text"] for row in lines(demo.corpus_path())}
    asked: dict[str, list[str]] = {}
    for label in sample(list(lines(demo.labels_path())), limit, rng.randrange(2**32)):
        others = [name for name in passages if name not in label["passages"]]
        for name in (*label["passages"], *rng.sample(others, 6)):
            asked.setdefault(passages[name], []).append(label["sub_question"])
    return [(text, tuple(questions)) for text, questions in asked.items()]


def judged_windows(weights: Weights, pairs: Sequence[Asked]) -> Windows:
    """Run both stages over every window of every pair."""
    session, tokenizer = Session(weights.network), open_tokenizer(weights.tokenizer)
    texts = segmented(tokenizer, [text for text, _ in pairs])
    questions = list(dict.fromkeys(question for _, asked in pairs for question in asked))
    asked_of = question_vectors(session, tokenizer, [encodable(question) for question in questions], longest=MAX_QUESTION)
    vectors = dict(zip(questions, asked_of, strict=True))
    encodings = tokenizer.encode_batch([encodable(question) for question in questions], add_special_tokens=False)
    ids = {question: encoding.ids[:MAX_QUESTION] for question, encoding in zip(questions, encodings, strict=True)}
    stacked = [np.concatenate([vectors[question].vectors for question in asked]) for _, asked in pairs]
    scores: list[Floats] = []
    encoded: list[Encoded] = []
    for text, (_, asked), similar in zip(texts, pairs, similarities(session, texts, stacked), strict=True):
        bounds = np.cumsum([len(vectors[question].weights) for question in asked])[:-1]
        for question, mine in zip(asked, np.split(similar, bounds), strict=True):
            scores.append(window_scores(mine, vectors[question].weights, text.windows(WINDOW)).astype(np.float64))
            encoded += _encoded(ids[question], text)
    logits = [float(logit[0]) for (logit,) in session.run(encoded, ["answers"])]
    windows = [len(found) for found in scores for _ in found]
    return _ranked(scores, np.array([*map(weights.fitted.passages.probability, logits, windows)]))


def _encoded(question: Sequence[int], text: SegmentedText) -> Iterator[Encoded]:
    for window in text.windows(WINDOW):
        yield join(Task.ANSWERS, question, text.ids[text.tokens(window)].tolist())


def _ranked(scores: Sequence[Floats], probabilities: Floats) -> Windows:
    widest = max(map(len, scores))
    ranked = Windows(np.full((len(scores), widest), -np.inf), np.zeros((len(scores), widest)))
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
    positives = (windows.probabilities >= threshold).any(axis=1)
    judged = np.where(kept, np.minimum(rounds, count), count)
    return Played(int(positives.sum()), int(kept.sum()), int(judged.sum()), int(np.isfinite(windows.scores).sum()), len(kept))


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
    """Choose the setting with the fewest windows whose recall reaches the target on every set."""
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
        best, wanted = windows.scores[:, 0], windows.probabilities.max(axis=1)
        below = best < proposing.floor
        given = np.array([proposing.estimate(float(score), threshold) for score in best[below]])
        means = [f"{given.mean():.3f}", f"{wanted[below].mean():.3f}"] if below.any() else ["-", "-"]
        rows.append([name, f"{below.mean():.1%}", *means])
    show("Pairs below the floor", ["set", "share", "mean estimate", "mean probability if read"], rows)


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--threshold", type=float, help="the cut to keep positives of (default: the judge's)")
    parser.add_argument("--target", type=float, default=0.99, help="the recall that the printed setting reaches on every set")
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
    best = np.concatenate([windows.scores[:, 0] for windows in sets.values()])
    wanted = np.concatenate([windows.probabilities.max(axis=1) for windows in sets.values()])
    slope, intercept = logistic(best, wanted)
    floor, margin, most = chosen[f"≥ {options.target:g}"] or shipped
    proposing = Proposing(floor, margin, most, round(slope, 3), round(intercept, 3))
    _show_fit(sets, proposing, threshold)
    numbers = about_judge(options.judge)["fitted"] | {"threshold": threshold, "proposing": asdict(proposing)}
    print("\n" + json.dumps(numbers, indent=2))


if __name__ == "__main__":
    main()
