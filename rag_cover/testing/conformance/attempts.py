"""Calls that must not fail, and calls from many threads at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import TypeVar
from unittest import SkipTest

__all__ = ["THREADS", "at_once", "check_call", "check_call_or_refusal", "make_skip"]

T = TypeVar("T")

THREADS = 16
_PATIENCE_S = 30
_OFTEN_S = 1e-6


def check_call(call: Callable[[], T], doing: str, advice: str) -> T:
    """Return what a call returns; where it raises, fail with a sentence: what was done, what was raised and what to do.

    >>> check_call(lambda: 1 // 0, "dividing", "check the divisor")
    Traceback (most recent call last):
    AssertionError: dividing raised ZeroDivisionError: integer division or modulo by zero; check the divisor
    """
    try:
        return call()
    except SkipTest:
        raise
    except Exception as broken:
        message = f"{doing} raised {type(broken).__name__}: {broken}; {advice}"
        raise AssertionError(message) from broken


def check_call_or_refusal(call: Callable[[], T], doing: str, advice: str) -> T | None:
    """Return what a call returns, None where it refuses by a ValueError that says something; fail where it raises another."""
    try:
        return call()
    except ValueError as refused:
        said = str(refused)
    except Exception as broken:
        message = f"{doing} raised {type(broken).__name__}: {broken}; {advice}"
        raise AssertionError(message) from broken
    assert said.strip(), f"{doing} is refused without a word; {advice}"
    return None


def at_once(calls: Sequence[Callable[[], T]]) -> list[T]:
    """Return what calls return that begin together, each in a thread of its own; threads change often, so that races show."""
    gate = Barrier(len(calls))

    def waited(call: Callable[[], T]) -> T:
        gate.wait(_PATIENCE_S)
        return call()

    with _switching_often(), ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(waited, calls))


def make_skip(reason: str) -> SkipTest:
    """Return what to raise where a test does not apply: pytest and unittest both count it as skipped."""
    return SkipTest(reason)


@contextmanager
def _switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(_OFTEN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
