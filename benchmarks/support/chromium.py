"""A headless Chromium driven over its debugging pipe: pages opened one after the other, and what ran or was asked for there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

__all__ = ["MARK", "Chromium", "counting_proxy", "found_chromium", "opened_chromium"]

MARK = "ragCoverRan"
"""The name of the function that a script calls which should not have run."""

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless_shell")
_FLAGS = ("--headless=shell", "--no-sandbox", "--no-zygote", "--single-process", "--disable-gpu", "--disable-dev-shm-usage")
_OF_THE_BROWSER = re.compile(r"(?:^|[./])(?:google|gvt1|googleapis|gstatic|googleusercontent)\.com(?:[:/]|$)")
"""Where a Chromium calls by itself; no page of ours or of an attacker's text here names these hosts."""
_LONGEST_S = 30.0
_BEGIN = """\
import fcntl, os, sys
asked, answered = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(asked, 3), os.dup2(answered, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""  # a browser's pipe has the numbers 3 and 4

_DEFINED = f"window.{MARK} = () => {{ try {{ top.document.title = '{MARK}'; }} catch {{}} }};"
_TOUCH = f"""(async () => {{
  for (const each of document.querySelectorAll("details")) each.open = true;
  for (const each of [...document.querySelectorAll("*")].slice(0, 20000)) {{
    for (const name of each.getAttributeNames()) {{
      const wanted = name.toLowerCase();
      if (wanted.startsWith("on")) each.dispatchEvent(new Event(wanted.slice(2), {{bubbles: true}}));
    }}
    const aim = each.getAttribute("href") || each.getAttribute("xlink:href") || each.getAttribute("action") || "";
    const elsewhere = /^\\s*(javascript|data|http)/i.test(aim.replace(/[\\x00-\\x20]/g, ""));
    if (elsewhere) each.dispatchEvent(new MouseEvent("click", {{bubbles: true, cancelable: true}}));
    if (each.tagName === "FORM") each.requestSubmit();
  }}
  await new Promise((resolve) => setTimeout(resolve, WAIT));
  return document.title === "{MARK}" || document.documentElement.dataset.{MARK.lower()} !== undefined;
}})()"""


def found_chromium() -> str | None:
    """Find a Chromium on PATH, or where CHROMIUM says."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)


class Chromium:
    """A browser over its pipe; not thread-safe."""

    def __init__(self, command: Sequence[str]) -> None:
        theirs, self._out = os.pipe()
        self._in, answers = os.pipe()
        begun = [sys.executable, "-c", _BEGIN, str(theirs), str(answers), *command]
        self._process = subprocess.Popen(  # noqa: S603 -- the browser that the caller named
            begun, pass_fds=(theirs, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(theirs)
        os.close(answers)
        self._number = 0
        self._buffer = b""
        self.events: list[dict[str, Any]] = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = ""
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Page", "Network"):
            self._ask(f"{domain}.enable")
        self._ask("Page.addScriptToEvaluateOnNewDocument", source=_DEFINED)

    _session = ""

    def visited(self, page: Path, *, wait_ms: int = 60) -> tuple[bool, list[str]]:
        """Open a page, unfold and touch all that is in it; tell whether a mark was set, and what was asked of the network."""
        self.events.clear()
        address = page.resolve().as_uri()
        self._ask("Page.navigate", url=address)
        self._until("Page.loadEventFired")
        told = self._ask(
            "Runtime.evaluate", expression=_TOUCH.replace("WAIT", str(wait_ms)), awaitPromise=True, returnByValue=True
        )
        ran = told.get("result", {}).get("value") is not False
        dialogs = any(each["method"] == "Page.javascriptDialogOpening" for each in self.events)
        sent = [each["params"]["request"]["url"] for each in self.events if each["method"] == "Network.requestWillBeSent"]
        return ran or dialogs, [url for url in sent if url != address and not url.startswith(("data:", "about:", "blob:"))]

    @property
    def peak_bytes(self) -> int | None:
        """Return the most memory that the browser had at one time; None where the system does not tell it."""
        try:
            told = Path(f"/proc/{self._process.pid}/status").read_text(encoding="utf-8")
        except OSError:
            return None
        found = re.search(r"VmHWM:\s+(\d+) kB", told)
        return int(found.group(1)) * 1024 if found else None

    def close(self) -> None:
        """End the browser."""
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)

    def __enter__(self) -> Self:
        """Be closed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        for answer in self._messages():
            if answer.get("id") == self._number:
                return dict(answer.get("result", {}))
        raise EOFError

    def _until(self, event: str) -> None:
        if any(each["method"] == event for each in self.events):
            return
        for each in self._messages():
            if each.get("method") == event:
                return

    def _messages(self) -> Iterator[dict[str, Any]]:
        """Yield what the browser says, and keep its events; a dialog is closed, since it stops everything."""
        ends = time.monotonic() + _LONGEST_S
        while time.monotonic() < ends:
            while b"\0" not in self._buffer:
                if not (piece := os.read(self._in, 1 << 16)):
                    raise EOFError
                self._buffer += piece
            raw, _, self._buffer = self._buffer.partition(b"\0")
            message = json.loads(raw)
            if "method" in message:
                self.events.append(message)
                if message["method"] == "Page.javascriptDialogOpening":
                    self._number += 1
                    closing = {"id": self._number + 10**6, "method": "Page.handleJavaScriptDialog", "params": {"accept": False}}
                    os.write(self._out, json.dumps(closing | {"sessionId": self._session}).encode() + b"\0")
            yield message
        raise TimeoutError


@contextmanager
def opened_chromium(path: str, proxy: int) -> Iterator[Chromium]:
    """Open a browser all of whose requests go to a proxy on this port."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = (f"--proxy-server=127.0.0.1:{proxy}", "--proxy-bypass-list=<-loopback>", f"--user-data-dir={profile}")
        with Chromium([path, *_FLAGS, *options, "--remote-debugging-pipe", "about:blank"]) as browser:
            yield browser


@contextmanager
def counting_proxy() -> Iterator[tuple[int, list[str]]]:
    """Serve as a proxy that answers everything with nothing; yield its port and the list of what pages asked it for.

    What the browser asks by itself (the time, updates) does not count.
    """
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def _noted(self) -> None:
            if not _OF_THE_BROWSER.search(self.path):
                asked.append(f"{self.command} {self.path}")
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST = do_HEAD = do_CONNECT = do_OPTIONS = _noted  # noqa: N815 -- the names that the server calls

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port, asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
