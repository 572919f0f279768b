"""What would bring back what one cause lost, in sentences that say nothing beyond what the results hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rag_cover.dashboards.causes import Cause, EvidenceKind, PartEvidence

__all__ = ["describe_remedies"]

_NAMED = 3
_HALF = 0.5  # of what a larger k brings: the first k that is named brings at least as many
_FIXED: Mapping[Cause, str] = {
    Cause.FAILED_PIPELINE: "The traces carry an error in their metadata in place of an answer.",
    Cause.NOT_IN_CORPUS: "The judge found nothing in the corpus that covers them: look whether it stands there in other words; "
    "if not, add documents, or let the answer say so.",
    Cause.FAILED_RETRIEVAL: "The step that searched for them ended in an error, which its trace holds.",
    Cause.UNCLEAR: "The judge is not sure of them: labels (rag-cover label) tell.",
    Cause.UNKNOWN: "The traces do not record the retrieval steps or the prompt that would tell.",
}


def describe_remedies(cause: Cause, evidence: Mapping[PartEvidence, int]) -> tuple[str, ...]:
    """Say what is known of sub-questions that one cause lost.

    >>> describe_remedies(Cause.NOT_RETRIEVED, {PartEvidence("k", 7, 5): 3, PartEvidence("query", None, 5): 1})[0]
    'k 5 → 7 brings 3 of 4, by their rank in a search of the corpus for the question.'

    Args:
        cause: why they were lost.
        evidence: how many sub-questions have equal evidence.
    """
    if cause in _FIXED:
        return (_FIXED[cause],)
    by_kind: dict[EvidenceKind, Counter[PartEvidence]] = {}
    for each, count in evidence.items():
        by_kind.setdefault(each.kind, Counter())[each] += count
    total = sum(evidence.values())
    match cause:
        case Cause.NOT_RETRIEVED:
            return tuple(_on_retrieval(by_kind, total))
        case Cause.DROPPED:
            return tuple(_on_steps(by_kind.get("step", Counter()), total))
        case Cause.SUB_ANSWER:
            return tuple(_on_parts(by_kind.get("part", Counter()), total))
        case _:
            return tuple(_on_prompt(by_kind.get("prompt", Counter()), total))


def _on_retrieval(by_kind: Mapping[EvidenceKind, Counter[PartEvidence]], total: int) -> Iterator[str]:
    yield from _on_k(by_kind.get("k", Counter()), total)
    counts = {kind: several.total() for kind, several in by_kind.items()}
    if count := counts.get("query"):
        yield f"The sub-question as a query of its own brings {count:,} of {total:,}."
    if count := counts.get("retriever"):
        yield f"Another retriever, with the same query and k, brings {count:,} of {total:,}."
    if count := counts.get("search failed"):
        yield f"For {count:,} of {total:,} the search of the corpus failed."
    if count := counts.get("not searched"):
        yield f"For {count:,} of {total:,} no corpus was searched: evaluate with --corpus to tell whether it has them."


def _on_k(several: Counter[PartEvidence], total: int) -> Iterator[str]:
    """Name, for the k that most of them were searched with, a larger one, and how many it brings."""
    by_k: dict[int, Counter[int]] = {}
    for each, count in several.items():
        if each.rank is not None and each.of is not None:
            by_k.setdefault(each.of, Counter())[each.rank] += count
    for k, ranks in sorted(by_k.items(), key=lambda pair: (-pair[1].total(), pair[0]))[:_NAMED]:
        enough = next(rank for rank in sorted(ranks) if _count_up_to(rank, ranks) >= _HALF * ranks.total())
        brought = _count_up_to(enough, ranks)
        more = "" if (last := max(ranks)) == enough else f"; k {last} brings {ranks.total():,}"
        basis = "by their rank in a search of the corpus for the question"
        yield f"k {k} → {enough} brings {brought:,} of {total:,}, {basis}{more}."


def _count_up_to(rank: int, ranks: Mapping[int, int]) -> int:
    return sum(count for each, count in ranks.items() if each <= rank)


def _on_steps(several: Counter[PartEvidence], total: int) -> Iterator[str]:
    by_step: dict[str, Counter[PartEvidence]] = {}
    for each, count in several.items():
        by_step.setdefault(each.name, Counter())[each] += count
    for name, found in sorted(by_step.items(), key=lambda pair: (-pair[1].total(), pair[0])):
        ranks = _spread(found, "rank")
        kept = _spread(found, "of")
        if name == "prompt":
            yield f"{found.total():,} of {total:,} were left out of the prompt, at {ranks} of what the last step left."
        else:
            yield f"A {name} step dropped {found.total():,} of {total:,}, at {ranks} of what it was given; it kept {kept}."
    if rest := total - several.total():
        yield f"Of {rest:,} of {total:,} the traces do not tell which step dropped them."


def _on_prompt(several: Counter[PartEvidence], total: int) -> Iterator[str]:
    if several:
        ranks, of = _spread(several, "rank"), _spread(several, "of")
        yield f"The prompt had {several.total():,} of {total:,}, at {ranks} of {of} passages: retrieval is not what lost them."
    if rest := total - several.total():
        yield f"Of {rest:,} of {total:,} no single passage of the prompt is known to cover them."


def _on_parts(several: Counter[PartEvidence], total: int) -> Iterator[str]:
    for each, count in several.most_common(_NAMED):
        yield f"{each.name} left {count:,} of {total:,} out of its answer."
    if rest := total - sum(count for _, count in several.most_common(_NAMED)):
        yield f"Of {rest:,} of {total:,} no part of the pipeline is named here."


def _spread(several: Counter[PartEvidence], of: str) -> str:
    """Write the values as a range with their median; "rank 6" where they are one."""
    values: Sequence[int] = sorted(value for each in several.elements() if (value := getattr(each, of)) is not None)
    if not values:
        return "an unknown rank" if of == "rank" else "an unknown number"
    low, middle, high = values[0], values[len(values) // 2], values[-1]
    word = "rank " if of == "rank" else ""
    return f"{word}{low}" if low == high else f"{word}{low}–{high} (median {middle})"
