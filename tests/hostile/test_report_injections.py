"""Reports with texts made to run in every field, opened in a browser; the browser must be one in which such texts do run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

EVERY = 6  # of the sixty texts, so many apart; benchmarks/robustness/report_injections.py opens them all


@pytest.mark.slow
def test_nothing_in_a_report_runs_or_asks_for_anything(module: Callable[[str], ModuleType], tmp_path: Path) -> None:
    chromium, injections, results = module("support.chromium"), module("support.injections"), module("support.hostile_results")
    pages = module("robustness.report_injections")
    if (path := chromium.found_chromium()) is None:
        pytest.skip("needs a Chromium on PATH, or named by CHROMIUM")
    faults = []

    with chromium.counting_proxy() as (port, asked), chromium.opened_chromium(path, port) as browser:
        harmless = [p for p in injections.PAYLOADS if browser.visited(pages.control(p, tmp_path)) == (False, [])]
        reached = len(asked)
        for payload in injections.PAYLOADS[::EVERY]:
            for name, write in results.PAGES.items():
                write(tmp_path / "page.html", payload)
                if (seen := browser.visited(tmp_path / "page.html")) != (False, []):
                    faults.append((name, payload, seen))

    assert harmless == []
    assert faults == []
    assert len(asked) == reached


def test_there_are_sixty_texts_all_different(module: Callable[[str], ModuleType]) -> None:
    assert len(set(module("support.injections").PAYLOADS)) == 60


def test_a_text_in_any_field_adds_no_element_to_a_dashboard(module: Callable[[str], ModuleType], tmp_path: Path) -> None:
    def elements(text: str) -> list[str]:
        module("support.hostile_results").PAGES["dashboard"](tmp_path / "page.html", text)
        return re.findall(r"<[a-z][^\s>]*", (tmp_path / "page.html").read_text(encoding="utf-8"))

    plain = elements("text")

    assert all(elements(payload) == plain for payload in module("support.injections").PAYLOADS)
