"""Does the router know which questions one passage answers, which take several, and which the corpus does not answer?

    python -m benchmarks.routing.mixed_stream

A stream over six sets (`benchmarks.support.mixed`): questions of one passage and of several, the same with every passage that
supports the answer taken out, and questions of another set; ten passages each by BM25. The rule that ships is fitted on
training buckets of four sets (``--fit`` writes it); the others are for testing only. Printed are, for test questions,
accuracy and the mean of the three recalls, with classes as they occur, and, leaving one set out of the fit, the same for
training questions. Beside the rule: the paper's thresholds (RRCP) as they ship, "over ten words is complex", and "several steps
are complex, else unanswerable below a best answer probability of .7" (the cut with the best accuracy on training questions).
Then how often an abstention is right and how many of the unanswerable questions it finds.

``--limit`` is the number of questions of each kind and set (default: 100).

Data: shared folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.mixed import FITTED, Streamed, stream_of
from benchmarks.support.tables import arguments, percent, show
from rag_cover import open_scorer
from rag_cover.backends import Scorer, fingerprint_of
from rag_cover.routing import Demand
from rag_cover.routing.decision import demand_of
from rag_cover.routing.evidence import EVIDENCE_NUMBERS, EvidenceRule
from rag_cover.stats.intervals import Interval, jackknife
from rag_cover.stats.logistic import fit_weights

WORDS, BEST = 10, 0.7
DEMANDS: tuple[Demand, ...] = get_args(Demand)
Decide = Callable[[Streamed], Demand]


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--fit", action="store_true", help="fit the rule on training questions, and write it")
    parser.add_argument("--kept", type=Path, help="a folder to keep what the judge says in")
    options = parser.parse_args()
    scorer, limit = open_scorer("embedded"), options.limit or 100
    train = stream_of(options.data, "train", scorer, limit=limit, seed=options.seed, kept=options.kept)
    if options.fit:
        write(fit(train, limit), scorer)
    show_rules("Training questions, their set left out of the fit", train, leave_set_out(train, limit))
    if not options.fit:
        test = stream_of(options.data, "test", scorer, limit=limit, seed=options.seed, kept=options.kept)
        shipped = EvidenceRule.from_dict(json.loads(EVIDENCE_NUMBERS.read_text(encoding="utf-8"))[fingerprint_of(scorer)])
        show_rules("Test questions", test, by_rule(shipped))


def fit(stream: Sequence[Streamed], limit: int) -> EvidenceRule:
    """Fit both regressions, and centre them on even odds."""
    single = [each for each in stream if not each.steps.is_nested and each.demand != "complex"]
    nested = [each for each in stream if each.steps.is_nested]
    return EvidenceRule(
        single=_weights([EvidenceRule.single_columns(each.complexity) for each in single], single),
        nested=_weights([EvidenceRule.nested_columns(each.complexity, each.steps) for each in nested], nested),
        name=f"{', '.join(FITTED)}: {len(stream):,} questions of the training buckets, up to {limit} of a kind, BM25, k = 10",
        n=len(stream),
    )


def _weights(columns: Sequence[Sequence[float]], rows: Sequence[Streamed]) -> tuple[float, ...]:
    truth = np.array([each.demand != "unanswerable" for each in rows])
    weights = fit_weights(columns, truth, ridge=3.0)
    weights[0] -= np.log(truth.sum() / (~truth).sum())
    return tuple(round(float(weight), 4) for weight in weights)


def by_rule(rule: EvidenceRule) -> Decide:
    """Decide by one rule."""
    return lambda each: rule.decide(each.complexity, each.steps)[0]


def leave_set_out(stream: Sequence[Streamed], limit: int) -> Decide:
    """Decide each question by a rule fitted without its set."""
    rules = {name: fit([each for each in stream if each.corpus != name], limit) for name in FITTED}
    return lambda each: by_rule(rules[each.corpus])(each)


def show_rules(title: str, stream: Sequence[Streamed], ours: Decide, more: Mapping[str, Decide] = MappingProxyType({})) -> None:
    """Show how the rule and the simple ones do, and ``more`` of these."""
    rules: Mapping[str, Decide] = {
        "steps and what is answered": ours,
        "the paper's thresholds, as shipped": lambda each: demand_of(each.complexity)[0],
        f"several steps, else best below {BEST}": _by_best,
        f"over {WORDS} words": lambda each: "complex" if len(each.text.split()) > WORDS else "direct",
        **more,
    }
    said = {name: np.array([decide(each) for each in stream]) for name, decide in rules.items()}
    truth = np.array([each.demand for each in stream])
    keys = [each.key for each in stream]
    first = next(iter(said.values()))
    rows = []
    for name, found in said.items():
        recalls = [np.mean(found[truth == demand] == demand) for demand in DEMANDS]
        abstained = found == "unanswerable"
        right = f"{np.mean(truth[abstained] == 'unanswerable'):.2f}" if abstained.any() else "none"
        difference = "" if found is first else percent(_mean((first == truth).astype(float) - (found == truth), keys))
        each_recall = " / ".join(f"{recall:.2f}" for recall in recalls)
        accuracy = percent(_mean((found == truth).astype(float), keys))
        rows.append([name, accuracy, difference, f"{np.mean(recalls):.3f}", each_recall, right])
    header = [
        "rule",
        "accuracy",
        "the first is better by",
        "mean recall",
        f"recall of {' / '.join(DEMANDS)}",
        "abstentions right",
    ]
    show(f"{title}: n = {len(stream):,}, {np.mean(truth == 'unanswerable'):.0%} unanswerable", header, rows)
    corpora = sorted({each.corpus for each in stream})
    places = {name: np.array([each.corpus == name for each in stream]) for name in corpora}
    show(
        f"{title}: accuracy by set",
        ["rule", *(f"{name}, {places[name].sum()}" for name in corpora)],
        [[name, *(f"{np.mean(found[mine] == truth[mine]):.3f}" for mine in places.values())] for name, found in said.items()],
    )


def _by_best(each: Streamed) -> Demand:
    if each.steps.is_nested:
        return "complex"
    return "direct" if (each.complexity.max_answer_probability or 0.0) >= BEST else "unanswerable"


def _mean(values: NDArray[np.float64], keys: Sequence[str]) -> Interval:
    """Return the mean with an interval over questions; twins of one question go together."""
    sums: dict[str, NDArray[np.float64]] = {}
    for key, value in zip(keys, values, strict=True):
        sums[key] = sums.get(key, np.zeros(2)) + np.array([value, 1.0])
    found = jackknife(np.array(list(sums.values())), lambda rows: rows[..., 0] / rows[..., 1])
    return found or Interval(float(values.mean()), None, None, len(sums))


def write(rule: EvidenceRule, scorer: Scorer) -> None:
    """Write the rule of a judge."""
    data: dict[str, Any] = {"single": rule.single, "nested": rule.nested, "name": rule.name, "n": rule.n}
    EVIDENCE_NUMBERS.write_text(json.dumps({fingerprint_of(scorer): data}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
