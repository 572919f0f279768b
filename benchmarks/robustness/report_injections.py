"""Open reports in Chromium whose every text field carries texts made to run a script there.

    python -m benchmarks.robustness.report_injections --chromium /usr/bin/chromium

Each of 60 texts (scripts, event handlers, breakouts of elements, attributes, styles, comments and templates, addresses of
scripts, frames, redirects, fetched styles and images) stands in every text field of every kind of report. A text that runs
calls a function that the browser reports, sets the page's title, or asks for an address. Everything in a page is unfolded,
every handler is called, every link to elsewhere clicked. The browser's requests go to a proxy that counts them, and are
counted by the browser, too, whether or not it was let send them.

Printed are, by report: pages opened, fields, pages in which something ran, and pages that asked for something; as the
report is, and without the policy in its head, so that neither escaping nor the policy stands in for the other. The first
row is the control: the same texts in a page that escapes nothing.

Data: none; a Chromium.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks.support.chromium import Chromium, counting_proxy, found_chromium, opened_chromium
from benchmarks.support.hostile_results import FIELDS, PAGES
from benchmarks.support.injections import CONTROLS, HOST, PAYLOADS
from benchmarks.support.tables import show

__all__ = ["control", "counted", "without_policy"]

_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')


def without_policy(page: str) -> str:
    """Take the policy out of a page."""
    bare, found = _POLICY.subn("", page)
    if found != 1:
        message = f"the page has {found} policies"
        raise ValueError(message)
    return bare


def control(payload: str, folder: Path) -> Path:
    """Write a page that escapes nothing."""
    path = folder / "control.html"
    places = "".join(place.format(payload) for place in CONTROLS)
    path.write_text(f"<!doctype html><meta charset=utf-8><title>x</title>{places}", encoding="utf-8", errors="replace")
    return path


def counted(browser: Chromium, asked: list[str], pages: Iterable[Path]) -> tuple[int, int, int]:
    """Open pages; count them, those in which something ran, and those that asked for something."""
    count = ran = requests = 0
    for page in pages:
        before = len(asked)
        marked, sent = browser.visited(page)
        count, ran, requests = count + 1, ran + marked, requests + bool(sent or len(asked) > before)
    return count, ran, requests


def main() -> None:
    """Open all pages, print the table; end with 1 if anything ran, or the control did not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chromium", default=found_chromium(), help="the browser (default: the one on PATH)")
    options = parser.parse_args()
    if not options.chromium:
        parser.error("no Chromium was found on PATH; name one with --chromium")
    rows: list[list[str]] = []
    failed = False
    with (
        tempfile.TemporaryDirectory() as folder,
        counting_proxy() as (port, asked),
        opened_chromium(options.chromium, port) as browser,
    ):
        both = 0
        for payload in PAYLOADS:
            ran, sent = browser.visited(control(payload, Path(folder)))
            harmful = ran or any(HOST in url for url in sent)
            both += harmful
            if not harmful:
                print(f"harmless even where nothing is escaped: {payload!r}")
        rows.append(["control: nothing escaped", str(len(PAYLOADS)), str(len(CONTROLS)), f"ran or asked: {both}", "", "", ""])
        failed |= both < len(PAYLOADS)
        for name in PAGES:
            cells = [name, str(len(PAYLOADS)), str(len(FIELDS[name]))]
            for bare in (False, True):
                _, ran, sent = counted(browser, asked, _written(name, Path(folder), bare=bare))
                failed |= bool(ran or sent)
                cells += [str(ran), str(sent)]
            rows.append(cells)
    header = ["report", "texts", "fields", "ran", "asked", "ran, no policy", "asked, no policy"]
    show("Texts made to run in reports", header, rows)
    print(f"\nrequests that reached the proxy, of the control alone: {len(asked)}")
    sys.exit(failed)


def _written(name: str, folder: Path, *, bare: bool) -> Iterable[Path]:
    for payload in PAYLOADS:
        path = folder / f"{name}.html"
        PAGES[name](path, payload)
        if bare:
            path.write_text(without_policy(path.read_text(encoding="utf-8")), encoding="utf-8")
        yield path


if __name__ == "__main__":
    main()
