"""Who may use the page: the browser that was given the token, from this machine, on the page itself.

A request is refused unless its ``Host`` is the page's own (a page elsewhere whose name was pointed at this machine has its own:
DNS rebinding), no other site started it (``Origin``, ``Sec-Fetch-Site``), and it brings the session's cookie. The cookie is
given for the token in the address that the command prints, which is compared in constant time; after `MOST_GUESSES` wrong
tokens no token is taken any more.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

__all__ = ["LARGEST_BODY", "MOST_GUESSES", "SECURITY_HEADERS", "Access", "GuardedApp"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
ASGIApp = Callable[[Message, Receive, Send], Awaitable[None]]

MOST_GUESSES = 20
LARGEST_BODY = 64 * 1024
"""The bytes that a request may bring: a label, or a corrected sub-question."""

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_READING = ("GET", "HEAD")


class Access:
    """What opens the page: a token for the address, exchanged for a cookie of its own.

    Args:
        port: where the page is served on this machine.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.token = secrets.token_urlsafe(32)
        self._session = secrets.token_urlsafe(32)
        self._guesses = 0

    @property
    def address(self) -> str:
        """Return the address that opens the page, with the token."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def hosts(self) -> tuple[str, str]:
        """Return the names under which the page may be asked for."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    @property
    def cookie_name(self) -> str:
        """Return the cookie's name: browsers send a cookie to every port of a host, so that each has its own."""
        return f"rag_cover_label_{self.port}"

    @property
    def cookie(self) -> str:
        """Return the header that gives the cookie."""
        return f"{self.cookie_name}={self._session}; HttpOnly; SameSite=Strict; Path=/"

    @property
    def is_locked(self) -> bool:
        """Return whether too many tokens were wrong."""
        return self._guesses >= MOST_GUESSES

    def takes_token(self, token: str) -> bool:
        """Return whether a token is right; a wrong one counts as a guess."""
        if self.is_locked:
            return False
        is_right = secrets.compare_digest(token.encode(), self.token.encode())
        self._guesses += not is_right
        return is_right

    def takes_cookie(self, header: str) -> bool:
        """Return whether a request's cookies hold the session's."""
        try:
            found = SimpleCookie(header).get(self.cookie_name)
        except CookieError:
            return False
        return found is not None and secrets.compare_digest(found.value.encode(), self._session.encode())

    def refusal(self, method: str, headers: MutableMapping[str, str]) -> str | None:
        """Return why a request is refused before anything else is looked at; None where it is not."""
        host = headers.get("host", "").lower()
        if host not in self.hosts:
            return "This page answers under its own address alone."
        origin = headers.get("origin")
        if origin is None and method not in _READING:
            return "A request that changes something says where it comes from."
        if origin is not None and origin.lower() != f"http://{host}":
            return "Another site started this request."
        is_navigation = method in _READING and headers.get("sec-fetch-mode") == "navigate"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not is_navigation:
            return "Another site started this request."
        return None


class GuardedApp:
    """An application behind `Access`: refuses, exchanges the token, bounds bodies, and sets the headers of every response."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = _headers(scope["headers"])
        method = scope["method"]
        if (why := self._access.refusal(method, headers)) is not None:
            await _answer(send, HTTPStatus.FORBIDDEN, why)
        elif method == "GET" and scope["path"] == "/" and (tokens := _tokens(scope["query_string"])):
            await self._exchange(tokens[0], send)
        elif not self._access.takes_cookie(headers.get("cookie", "")):
            why = "Open the address that 'rag-cover label' prints: copy it whole, with the token, into the address bar."
            await _answer(send, HTTPStatus.FORBIDDEN, why)
        elif not headers.get("content-length", "0").isdigit() or int(headers.get("content-length", "0")) > LARGEST_BODY:
            await _answer(send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A request brings at most {LARGEST_BODY:,} bytes.")
        else:
            body = await _read(receive)
            if body is None:
                await _answer(send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A request brings at most {LARGEST_BODY:,} bytes.")
            else:
                await self._app(scope, _replay(body), _with_headers(send))

    async def _exchange(self, token: str, send: Send) -> None:
        if self._access.takes_token(token):
            await _answer(send, HTTPStatus.SEE_OTHER, "", (("location", "/"), ("set-cookie", self._access.cookie)))
        elif self._access.is_locked:
            why = "Too many wrong tokens: no token is taken any more. Stop 'rag-cover label' and start it again."
            await _answer(send, HTTPStatus.TOO_MANY_REQUESTS, why)
        else:
            await _answer(send, HTTPStatus.FORBIDDEN, "The token is wrong: copy the address whole, as the command prints it.")


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers by name; of one that comes twice the last counts, and a second host is no host."""
    found: dict[str, str] = {}
    for name, value in raw:
        key = name.decode("latin-1").lower()
        found[key] = "" if key in ("host", "origin") and key in found else value.decode("latin-1")
    return found


def _tokens(query: bytes) -> list[str]:
    return parse_qs(query.decode("latin-1"), keep_blank_values=True).get("token", [])


async def _read(receive: Receive) -> bytes | None:
    """Read a body; None where it is larger than it may be, whatever it said of its length."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return bytes(body)
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            return None
        if not message.get("more_body"):
            return bytes(body)


def _replay(body: bytes) -> Receive:
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return messages.pop() if messages else {"type": "http.disconnect"}

    return receive


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            ours = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", ()), *ours]}
        await send(message)

    return guarded


async def _answer(send: Send, status: HTTPStatus, text: str, headers: Iterable[tuple[str, str]] = ()) -> None:
    body = text.encode()
    own = (("content-type", "text/plain; charset=utf-8"), ("content-length", str(len(body))), *headers)
    started = {
        "type": "http.response.start",
        "status": int(status),
        "headers": [(name.encode(), value.encode()) for name, value in own],
    }
    await _with_headers(send)(started)
    await send({"type": "http.response.body", "body": body})
