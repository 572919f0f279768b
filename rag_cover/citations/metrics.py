"""ALCE's citation recall and precision, of what the cited passages entail together, alone, and without each of them.

Gao et al., *Enabling large language models to generate text with citations* (EMNLP 2023), §3 "Citation quality". A statement is
supported where its cited passages, read together, entail it. A citation of a supported statement is precise unless it is
irrelevant: its passage alone does not entail the statement, and the others entail it without it.

    recall = supported statements / statements        precision = precise citations / citations

A statement without citations, or with one of a passage that is not there, is not supported; citations of a statement with one
that is not there are not counted, as in the published script. Where nothing is cited, precision is None; the script says 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["CitedSupport", "citation_precision", "citation_recall", "list_precision"]


@dataclass(frozen=True, slots=True)
class CitedSupport:
    """Whether the passages that one statement cites entail it: together, each alone, and all but each.

    ``alone`` and ``without`` have one entry for each citation, in order; of a single citation ``without`` is False. ``missing``
    counts citations of passages that are not there.
    """

    together: bool = False
    alone: tuple[bool, ...] = ()
    without: tuple[bool, ...] = ()
    missing: int = 0

    @property
    def supported(self) -> bool:
        """Tell whether the citations support the statement."""
        return self.together and bool(self.alone) and not self.missing

    @property
    def precise(self) -> tuple[bool, ...]:
        """Tell of each citation whether it is precise: the statement is supported, and the citation is not irrelevant.

        A single citation is precise where it supports its statement.
        """
        if len(self.alone) == 1:
            return (self.supported,)
        pairs = zip(self.alone, self.without, strict=True)
        return tuple(self.supported and (alone or not without) for alone, without in pairs)


def citation_recall(statements: Sequence[CitedSupport]) -> float | None:
    """Return the share of statements that their citations support, in [0, 1]; None without statements.

    >>> citation_recall([CitedSupport(True, (True,), (False,)), CitedSupport()])
    0.5
    """
    return sum(each.supported for each in statements) / len(statements) if statements else None


def citation_precision(statements: Sequence[CitedSupport]) -> float | None:
    """Return the share of citations that are precise, in [0, 1]; None where nothing is cited.

    Of "It is blue [1][2].", which passage 1 entails and passage 2 does not, citation 2 is irrelevant:

    >>> citation_precision([CitedSupport(True, (True, False), (False, True))])
    0.5
    """
    cited = [precise for each in statements if not each.missing for precise in each.precise]
    return sum(cited) / len(cited) if cited else None


def list_precision(statements: Sequence[CitedSupport]) -> float | None:
    """Return the precision of one list of citations for the answer as a whole, in [0, 1]; None where nothing is cited.

    ALCE knows no such lists: here one of them is precise where it is for some statement. Each statement has the whole list.

    >>> blue, wet = CitedSupport(True, (True, False), (False, True)), CitedSupport(True, (False, True), (True, False))
    >>> list_precision([blue, wet])
    1.0
    """
    columns = list(zip(*(each.precise for each in statements), strict=True))
    return sum(map(any, columns)) / len(columns) if columns else None
