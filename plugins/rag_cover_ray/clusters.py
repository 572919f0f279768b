"""A connection to Ray: the process's own, a running cluster's, or a local one that lives as long as it is needed."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray

from rag_cover.errors import EngineError

__all__ = ["connect"]

_log = logging.getLogger(__name__)


@contextmanager
def connect(address: str | None) -> Iterator[None]:
    """Connect to Ray for a while; a connection that was there before is used, and left.

    Raises:
        EngineError: no cluster answers at this address, or a local one cannot be started.
    """
    if ray.is_initialized():
        yield
        return
    _connect(address)
    try:
        yield
    finally:
        ray.shutdown()


def _connect(address: str | None) -> None:
    if address is None:
        _start()
        return
    try:
        _refuse_silence(address)
        ray.init(address=address, **_QUIET)
    except ConnectionError as unreachable:
        if address == "auto":
            _log.warning("No Ray cluster is running on this machine; a local one is started.")
            _start()
            return
        raise _refusal(address, unreachable) from unreachable
    except (OSError, RuntimeError, ValueError) as wrong:
        raise _refusal(address, wrong) from wrong


def _refuse_silence(address: str) -> None:
    """Find out in seconds, where Ray takes minutes, that nobody answers at an address such as ``ray://head:10001``."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE_S).close()


def _start() -> None:
    """Start a cluster of this machine alone; again where another that starts at the same time took the port it had chosen."""
    for left in reversed(range(_STARTS)):
        try:
            ray.init(address="local", include_dashboard=False, **_QUIET)
        except (OSError, RuntimeError, ValueError) as failed:
            ray.shutdown()
            if left:
                continue
            message = f"Ray cannot be started here: {_first_line(failed)}; the local engine needs no Ray (engine='local')"
            raise EngineError(message) from failed
        return


_PATIENCE_S = 5.0
_STARTS = 3
_QUIET: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}


def _refusal(address: str, why: Exception) -> EngineError:
    message = (
        f"No Ray cluster answers at {address!r}: {_first_line(why)}; "
        "check the address, or leave it out to use the processors of this machine"
    )
    return EngineError(message)


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).partition("\n")[0]
