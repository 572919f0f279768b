"""The dashboard in a real browser: it fits, loads nothing, and is accessible. Skipped where there is no Chromium."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rag_cover.dashboards import DashboardBuilder, StoreSource
from rag_cover.demo import kept_results_paths
from rag_cover.evaluation import Evaluation
from rag_cover.reports import write_dashboard

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")
axe_module = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python (extra dev)")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builder = DashboardBuilder()
    for day in (3, 2, 1):
        for path in kept_results_paths():
            results, judge = Evaluation.open(path).results, "two" if day == 3 else "one"  # the last
            builder.add(StoreSource(f"{path.stem}-{day}", datetime(2026, 1, day, tzinfo=UTC), "traces", results, judge))
    builder.refuse("bad.sqlite", "it is no store")
    written = tmp_path_factory.mktemp("page") / "dashboard.html"
    write_dashboard(written, builder.build())
    return written


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_axe_finds_no_violation_and_nothing_is_too_wide(browser: Any, page: Path, scheme: str, width: int) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    tab, problems = context.new_page(), []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("request", lambda request: None if request.url == page.as_uri() else problems.append(request.url))
    tab.goto(page.as_uri())
    tab.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")

    fits = tab.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    violations = axe_module.Axe().run(tab).response["violations"]
    context.close()

    assert [each["id"] for each in violations] == []
    assert problems == []
    assert fits
