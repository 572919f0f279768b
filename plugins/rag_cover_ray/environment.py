"""What a Ray of our own finds in its environment; Ray reads it when it is imported, so it is set before that."""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from pathlib import Path

__all__ = ["prepare"]


def prepare(address: str | None) -> None:
    """Keep the cluster to itself that this address has Ray start: none is named, or none is running."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if address is None or (address == "auto" and not _belongs_to_a_cluster()):
        _keep_to_itself()


def _keep_to_itself() -> None:
    """Have the local clusters of this process let nobody in, and write no more than errors that end them.

    Ray listens on all interfaces, and runs what it is sent: a token of this process' own keeps others out. What the user has
    set stays, and where Ray was imported before, it goes by what it found then.
    """
    if "ray" in sys.modules:
        return
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    if os.environ.setdefault("RAY_AUTH_MODE", "token") == "token" and "RAY_AUTH_TOKEN_PATH" not in os.environ:
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))


def _belongs_to_a_cluster() -> bool:
    """Return whether ``"auto"`` may find a cluster: by the environment, or by what ``ray start`` leaves on a machine."""
    left = Path(os.environ.get("RAY_TMPDIR") or tempfile.gettempdir(), "ray", "ray_current_cluster")
    return "RAY_ADDRESS" in os.environ or left.exists()
