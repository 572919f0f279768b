"""What a process that is forked off begins anew."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable

import pytest

from rag_cover.forks import reset_after_fork

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


class Counting:
    def __init__(self) -> None:
        self.resets = 0
        reset_after_fork(self.reset)

    def reset(self) -> None:
        self.resets += 1


class Failing(Counting):
    def reset(self) -> None:
        message = "not now"
        raise RuntimeError(message)


def _in_child(check: Callable[[], bool]) -> bool:
    child = os.fork()
    if not child:
        code = 2
        try:
            code = int(not check())
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_it_is_called_once_in_the_child_and_never_in_the_parent() -> None:
    counting = Counting()

    assert _in_child(lambda: counting.resets == 1)
    assert counting.resets == 0


def test_one_that_raises_costs_no_other_its_turn() -> None:
    failing, counting = Failing(), Counting()

    assert _in_child(lambda: counting.resets == 1)
    assert failing.resets == 0


def test_what_is_gone_is_forgotten() -> None:
    counting = Counting()
    del counting
    gc.collect()

    assert _in_child(lambda: True)
