"""Bring a judge of your own: any object with a threshold and `correctness`. Needs nothing but rag_cover."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover import Models, Trace, evaluate
from rag_cover.backends import ScoringItem


class SharedWords:
    """Says that a text answers a question when it holds half of the question's longer words."""

    threshold = 0.5
    fingerprint = "shared-words:1"  # names the judge, so that another one never meets its stored verdicts

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        """Return one probability for each item."""
        return np.array([self._share(item) for item in items], dtype=np.float32)

    def _share(self, item: ScoringItem) -> float:
        asked = {word.strip("?,.").lower() for word in item.question.split() if len(word) > 3}  # noqa: PLR2004
        said = {word.strip("?,.").lower() for word in item.text.split()}
        return len(asked & said) / len(asked) if asked else 0.0


def main() -> None:
    """Judge one answer."""
    trace = Trace.model_validate(
        {
            "question": "How do bees make honey, and why?",
            "answer": "Bees collect nectar and make honey from it.",
            "sub_questions": ["How do bees make honey?", "Why do bees need winter stores?"],
        }
    )
    evaluation = evaluate([trace], models=Models(judge=SharedWords()))
    print(evaluation.summary().metrics["core_coverage"].interval)


if __name__ == "__main__":
    main()
