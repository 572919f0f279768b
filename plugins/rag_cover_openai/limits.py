"""What is taken from a server: no reply without end, and no redirect to another host, where the texts would go along."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import openai

__all__ = ["HTTP", "MOST_BYTES", "UnacceptableReplyError", "guarded_http_client", "too_long"]

HTTP: Any = sys.modules[openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0]]
"""The HTTP library of the installed SDK, httpx or httpx2: its errors pass through the SDK while an answer is read."""

MOST_BYTES = 16 << 20
"""How many bytes of a reply are read, packed and unpacked."""
_MOST_OF_REFUSALS = 64 << 10  # of which the SDK unpacks all at once
_REFUSED = 400


class UnacceptableReplyError(Exception):
    """A reply that is not read on; says why."""


def guarded_http_client() -> Any:
    """Return the SDK's HTTP client, which refuses redirects to other hosts and replies without end."""
    return openai.DefaultHttpxClient(event_hooks={"response": [_guard]})


def _guard(response: Any) -> None:
    if response.has_redirect_location:
        asked, target = response.request.url, response.request.url.join(response.headers["location"])
        if (target.scheme, target.host) not in ((asked.scheme, asked.host), ("https", asked.host)):
            message = f"the server redirects to another host ({target.host}), where the texts would go, too: it is not followed"
            raise UnacceptableReplyError(message)
    most = _MOST_OF_REFUSALS if response.status_code >= _REFUSED else MOST_BYTES
    response.stream = _CappedStream(response.stream, most)


class _CappedStream(HTTP.SyncByteStream):  # type: ignore[misc]  # of whichever library is installed
    """Yields the bytes of a stream, so many at most."""

    def __init__(self, stream: Any, most: int) -> None:
        self._stream, self._most = stream, most

    def __iter__(self) -> Iterator[bytes]:
        read = 0
        for piece in self._stream:
            read += len(piece)
            if read > self._most:
                raise too_long(self._most)
            yield piece

    def close(self) -> None:
        """End the stream."""
        self._stream.close()


def too_long(most: int = MOST_BYTES) -> UnacceptableReplyError:
    """Return the error for a reply that does not end."""
    size = f"{most >> 20} MB" if most >= 1 << 20 else f"{most >> 10} KB"
    return UnacceptableReplyError(f"the reply is longer than {size}, and is not read on")
