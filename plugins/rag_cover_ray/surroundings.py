"""What a Ray of our own finds in its environment; Ray reads it when it is imported, so it is set before that."""

from __future__ import annotations

import os
import secrets
import sys

__all__ = ["keep_to_itself"]


def keep_to_itself() -> None:
    """Have the local clusters of this process tell nobody that they are there, and let nobody in.

    Ray listens on all interfaces, and runs what it is sent: a token of this process' own keeps others out. What the user has
    set stays, and where Ray was imported before, it goes by what it found then.
    """
    if "ray" in sys.modules:
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    if os.environ.setdefault("RAY_AUTH_MODE", "token") == "token" and "RAY_AUTH_TOKEN_PATH" not in os.environ:
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
