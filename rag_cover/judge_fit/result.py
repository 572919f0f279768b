"""What fitting a judge to labels gives: before and after, on questions that had no part in the fit, and why it was refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rag_cover.backends import Mode
from rag_cover.score_fits import FittedMode, SavedJudge
from rag_cover.stats.intervals import Interval

__all__ = ["Change", "JudgeFit", "ModeFit"]


@dataclass(frozen=True, slots=True)
class Change:
    """A figure of the judge as it was and as it was fitted, on other questions; ``gain`` is above 0 where that is better."""

    before: float
    after: float
    gain: Interval

    @property
    def is_better(self) -> bool:
        """Return whether it is clearly better: the whole interval of the gain lies above 0."""
        return self.gain.lower is not None and self.gain.lower > 0

    @property
    def is_worse(self) -> bool:
        """Return whether it is clearly worse."""
        return self.gain.upper is not None and self.gain.upper < 0


@dataclass(frozen=True, slots=True)
class ModeFit:
    """The fit of one mode: of the verdicts on passages, or on replies.

    ``log_loss`` is in nats a label, ``accuracy`` the share of labels that verdicts agree with; None where nothing was fitted.
    ``over_constant`` is by how much the fit's log-loss is below that of always saying the share covered. ``fitted`` is None
    where the fit was refused, ``refused_because`` says why.
    """

    mode: Mode
    labels: int
    covered: int
    questions: int
    log_loss: Change | None = None
    accuracy: Change | None = None
    over_constant: Interval | None = None
    fitted: FittedMode | None = None
    refused_because: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeFit:
    """A judge fitted to labels, mode by mode; ``saved`` is None where no mode's fit was kept, or nobody wanted it kept.

    ``judge`` is the fingerprint of the judge that was fitted, ``notes`` say which labels were left out.
    """

    judge: str
    modes: tuple[ModeFit, ...]
    notes: tuple[str, ...] = ()
    saved: SavedJudge | None = field(default=None)

    @property
    def fitted(self) -> Mapping[Mode, FittedMode]:
        """Return what was fitted, by mode; without the modes whose fit was refused."""
        return {each.mode: each.fitted for each in self.modes if each.fitted is not None}

    @property
    def refused_because(self) -> str | None:
        """Return why nothing was fitted; None where something was."""
        if self.fitted:
            return None
        return "; ".join(f"{each.mode}: {each.refused_because}" for each in self.modes)

    def to_dict(self) -> dict[str, Any]:
        """Write as JSON data."""
        saved = None if self.saved is None else asdict(self.saved) | {"folder": str(self.saved.folder)}
        return {
            "judge": self.judge,
            "modes": [asdict(each) for each in self.modes],
            "notes": list(self.notes),
            "refused_because": self.refused_because,
            "saved": saved,
        }
