"""What the embedded judge takes for a device where a judge's name may stand."""

from __future__ import annotations

import re

__all__ = ["DEVICE"]

DEVICE = re.compile(r"cuda(?::\d+)?|mps")
"""The devices of torch that ``"embedded:DEVICE"`` names; no fitted judge is called so."""
