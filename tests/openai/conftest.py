"""A real server on loopback that speaks the OpenAI protocol, and fails in every way it is told to."""

from __future__ import annotations

import json
import random
import re
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from rag_cover.llm.retry import RetryPolicy

KEY = "sk-loopback-0123456789abcdef"

Body = dict[str, Any]
Reply = Callable[[Body], str]


@dataclass(frozen=True)
class Fault:
    """One way to go wrong: a status with a body and headers, or a named mischief."""

    kind: str = "status"
    status: int = 500
    message: str = "it went wrong"
    headers: dict[str, str] = field(default_factory=dict)
    error: dict[str, Any] = field(default_factory=dict)


RATE_LIMIT = Fault(status=429, message="slow down", headers={"Retry-After": "0.01"})
SERVER_ERROR = Fault(status=500)
RESET = Fault("reset")
BROKEN = Fault("broken")


class Server:
    """What the server is told to do, and what it was asked."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.requests: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.answered: list[Body] = []
        self.faults: list[Fault] = []
        self.fault_of: Callable[[Body], Fault | None] = lambda _: None
        self.reply: Reply = lambda _: "Paris"
        self.refused: dict[str, str] = {}
        self.formats = {"json_schema", "json_object"}
        self.counts_n = self.gives_logprobs = self.gives_usage = True
        self.needs_key: str | None = None
        self.finish_reason = "stop"
        self.busy = self.busiest = 0
        self.released = threading.Event()
        self.base_url = ""

    def next_fault(self, body: Body) -> Fault | None:
        with self.lock:
            if self.faults:
                return self.faults.pop(0)
        return self.fault_of(body) or self._refusal(body)

    def _refusal(self, body: Body) -> Fault | None:
        for name, message in self.refused.items():
            if name in body:
                return Fault(status=400, message=message, error={"param": name, "code": "unsupported_parameter"})
        wanted = body.get("response_format", {}).get("type")
        if wanted and wanted not in self.formats:
            return Fault(status=400, message=f"response_format of type {wanted} is not supported")
        return None

    def completion(self, body: Body) -> Body:
        count = body.get("n", 1) if self.counts_n else 1
        choices = [self._choice(index, self.reply(body), body) for index in range(count)]
        usage = {"prompt_tokens": 10, "completion_tokens": 3 * count, "total_tokens": 10 + 3 * count}
        answer = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"], "choices": choices}
        return answer | ({"usage": usage} if self.gives_usage else {})

    def _choice(self, index: int, text: str, body: Body) -> Body:
        tokens = [
            {"token": piece, "logprob": -0.25, "bytes": list(piece.encode("utf-8", "replace"))}
            for piece in re.findall(r"\S+\s*|\s+", text)
        ]
        logprobs = {"content": tokens} if body.get("logprobs") and self.gives_logprobs else None
        message = {"role": "assistant", "content": text}
        return {"index": index, "finish_reason": self.finish_reason, "message": message, "logprobs": logprobs}

    def embeddings(self, body: Body) -> Body:
        dimensions = body.get("dimensions", 8)
        rows = [
            {"object": "embedding", "index": index, "embedding": vector_of(text, dimensions)}
            for index, text in enumerate(body["input"])
        ]
        usage = {"prompt_tokens": sum(map(len, body["input"])), "total_tokens": 0}
        return {"object": "list", "model": body["model"], "data": rows[::-1], "usage": usage}


def vector_of(text: str, dimensions: int) -> list[float]:
    drawn = random.Random(text)  # a vector, not a secret
    return [3 * drawn.gauss(0, 1) for _ in range(dimensions)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    told: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.told
        with server.lock:
            server.requests.append(body)
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            server.busy += 1
            server.busiest = max(server.busiest, server.busy)
        try:
            self._answer(server, body)
        finally:
            with server.lock:
                server.busy -= 1

    def _answer(self, server: Server, body: Body) -> None:
        if server.needs_key and self.headers["Authorization"] != f"Bearer {server.needs_key}":
            given = self.headers["Authorization"].removeprefix("Bearer ")
            self._send(401, {"error": {"message": f"Incorrect API key provided: {given}.", "code": "invalid_api_key"}})
            return
        if (fault := server.next_fault(body)) is not None:
            self._fail(server, body, fault)
            return
        answer = server.embeddings(body) if self.path.endswith("/embeddings") else server.completion(body)
        with server.lock:
            server.answered.append(body)
        self._send(200, answer)

    def _fail(self, server: Server, body: Body, fault: Fault) -> None:
        match fault.kind:
            case "hang":
                server.released.wait(60)
                self.close_connection = True
            case "echo":  # an error that calls itself an answer, and repeats what it was sent
                self._send(200, {"error": {"message": f"I was sent {self.headers['Authorization']}"}})
            case "reset" | "cut" | "trickle":
                self._never_end(server, body, fault)
            case "endless":  # as much as anybody takes
                self._head(fault.status, 1 << 40, fault.headers)
                piece = b"x" * (1 << 16)
                while True:
                    self.wfile.write(piece)
            case "broken":  # JSON that breaks off, sent as if it were whole
                self._raw(200, json.dumps(server.completion(body)).encode()[:-20], {})
            case "page":
                self._raw(200, b"<html><body>Welcome</body></html>", {})
            case "no choices":
                self._send(200, server.completion(body) | {"choices": []})
            case "wrong shape":
                self._send(200, {"choices": "none"})
            case _:
                error = {"message": fault.message, "type": "invalid_request_error", **fault.error}
                self._raw(fault.status, json.dumps({"error": error}).encode(), fault.headers)

    def _never_end(self, server: Server, body: Body, fault: Fault) -> None:
        whole = json.dumps(server.completion(body)).encode()
        self._head(fault.status if fault.kind == "cut" else 200, 1 << 20, {})
        if fault.kind == "trickle":  # white space, for as long as somebody listens
            while not server.released.wait(0.02):
                self.wfile.write(b" ")
                self.wfile.flush()
        self.wfile.write(whole[: len(whole) // 2])
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def _send(self, status: int, body: Body) -> None:
        self._raw(status, json.dumps(body).encode(), {})

    def _raw(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self._head(status, len(content), headers)
        self.wfile.write(content)

    def _head(self, status: int, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(length), **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Stay silent."""


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """Clients that were hung up on are no news."""


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow loopback, and nothing else; forget the environment's own server and key."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if address[0] not in ("127.0.0.1", "::1"):
            message = f"a test tried to connect to {address}"
            raise AssertionError(message)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    pytest.importorskip("openai", reason="needs openai (extra openai)")
    told = Server()
    handler = type("Handler", (_Handler,), {"told": told})
    with _Quiet(("127.0.0.1", 0), handler) as listening:
        told.base_url = f"http://127.0.0.1:{listening.server_address[1]}/v1"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield told
        told.released.set()
        listening.shutdown()
        thread.join()


@pytest.fixture
def hasty() -> RetryPolicy:
    """Return a policy that waits milliseconds where others wait seconds, and bears with a busy machine."""
    return RetryPolicy(attempts=12, wait_initial_s=0.001, wait_max_s=0.02, timeout_s=600.0, deadline_s=3600.0)


@pytest.fixture
def options(server: Server, hasty: RetryPolicy) -> dict[str, Any]:
    return {"base_url": server.base_url, "api_key": KEY, "policy": hasty}


@pytest.fixture
def fault() -> type[Fault]:
    return Fault
