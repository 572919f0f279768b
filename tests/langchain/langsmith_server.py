"""A server on this machine that speaks as much of LangSmith's protocol as feedback needs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from langsmith import Client

__all__ = ["PROJECT_ID", "LangSmithServer", "serve"]

PROJECT_ID = "5f0d1c5e-3b54-4d5c-9a53-6f2a1c9d4e77"

_PROJECT = {
    "id": PROJECT_ID,
    "tenant_id": PROJECT_ID,
    "reference_dataset_id": None,
    "start_time": "2026-01-01T00:00:00Z",
    "end_time": None,
    "description": None,
    "extra": None,
}


class LangSmithServer(ThreadingHTTPServer):
    """Keeps what it is sent. ``status`` answers feedback; ``absent`` is how often a project is not there yet."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.feedback: list[dict[str, Any]] = []
        self.runs: list[bytes] = []
        self.clients: list[Client] = []
        self.projects: list[str] = []
        self.status, self.absent = 200, 0
        self.hold = threading.Event()
        self.hold.set()

    @property
    def said(self) -> bytes:
        """Return all that feedback said."""
        return json.dumps(self.feedback).encode()

    def client(self) -> Client:
        """Return LangSmith's own client of this server, without threads of its own, which outlive a test."""
        made = Client(api_url=f"http://127.0.0.1:{self.server_port}", api_key="none", auto_batch_tracing=False)
        self.clients.append(made)
        return made


class _Handler(BaseHTTPRequestHandler):
    server: LangSmithServer

    def do_GET(self) -> None:
        """Describe the server, or a project."""
        address = urlsplit(self.path)
        if address.path.endswith("/info"):
            self._reply(200, {"version": "0.12.0", "instance_flags": {}})
        elif address.path.endswith("/sessions"):
            (name,) = parse_qs(address.query)["name"]
            self.server.projects.append(name)
            if self.server.absent:
                self.server.absent -= 1
                self._reply(200, [])
            else:
                self._reply(200, [_PROJECT | {"name": name}])
        else:
            self._reply(404, {"detail": self.path})

    def do_POST(self) -> None:
        """Take feedback, or runs."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.endswith("/feedback"):
            self.server.hold.wait(20)
            if self.server.status == 200:
                self.server.feedback.append(json.loads(body))
            self._reply(self.server.status, {})
        else:
            self.server.runs.append(body)
            self._reply(202, {})

    def _reply(self, status: int, data: object) -> None:
        content = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
        """Say nothing."""


@contextmanager
def serve() -> Iterator[LangSmithServer]:
    """Serve until the block ends."""
    server = LangSmithServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.hold.set()
        for client in server.clients:
            client.close(0)
        server.shutdown()
        server.server_close()
        thread.join()
