"""The cuts beyond which nine of ten verdicts are right."""

from __future__ import annotations

import pytest

from rag_cover.stats.certainty import fit_certain_cuts


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_equal_probabilities_lie_on_the_same_side(order: slice) -> None:
    """Half of the verdicts at 0.2 are wrong, whichever come first."""
    labels = [*[0] * 20, *[1] * 20]

    assert fit_certain_cuts([0.2] * 40, labels[order]) == (0.0, 1.0)


def test_without_verdicts_all_are_unsure() -> None:
    assert fit_certain_cuts([], []) == (0.0, 1.0)
