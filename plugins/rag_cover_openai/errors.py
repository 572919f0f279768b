"""The SDK's errors made ours: what passes, what the server refuses, and in the server's own words, without secrets."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from email.utils import mktime_tz, parsedate_tz

from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAIError

from rag_cover.errors import ModelFailedError, TransientError
from rag_cover.llm.retry import is_transient
from rag_cover_openai.limits import UnacceptableReplyError

__all__ = ["RefusedError", "connection_error", "fault_of", "late", "redact_secrets", "unacceptable", "without_secrets"]

_SENTENCE = 400  # characters of a server's own words
_ALIKE = re.compile(r"\b(?:sk|pk|rk)-[\w*.-]{6,}|(?i:\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}|(?<![\w-])[\w-]*+\*{3,}[\w*-]*")
_LONG = 12  # characters from which a secret is no word that texts hold by chance
_KINDS = {400: "bad request", 401: "authentication", 403: "permission", 404: "not found", 408: "timeout", 429: "rate limit"}
_SPENT = "insufficient_quota"  # a 429 that no waiting mends


class RefusedError(ModelFailedError):
    """A request that the server refuses, however often it is sent; ``parameter`` is the one it names."""

    def __init__(self, message: str, *, kind: str | None = None, status: int = 400, parameter: str | None = None) -> None:
        super().__init__(message, kind=kind)
        self.status, self.parameter = status, parameter


def fault_of(error: OpenAIError, *, name: str, secrets: Sequence[str]) -> ModelFailedError:
    """Translate an error of the SDK into one of rag_cover; ``secrets`` are removed from its text."""
    match error:
        case APITimeoutError():
            return late(name)
        case APIConnectionError(__cause__=UnacceptableReplyError() as refused):
            return unacceptable(name, refused)
        case APIConnectionError():
            return connection_error(name, redact_secrets(str(error.__cause__ or ""), secrets))
        case APIStatusError():
            return _status(error, name, redact_secrets(_words(error), secrets))
        case _:
            return ModelFailedError(f"{name}: {redact_secrets(str(error), secrets)}", kind=type(error).__name__)


def late(name: str) -> TransientError:
    """Return the error for a call without an answer in time."""
    return TransientError(f"{name}: the server did not answer in time", kind="timeout")


def unacceptable(name: str, refused: UnacceptableReplyError) -> ModelFailedError:
    """Return the error for a reply that is not taken, and not asked for again."""
    return ModelFailedError(f"{name}: {refused}", kind="unacceptable reply")


def connection_error(name: str, why: str) -> TransientError:
    """Return the error for a failed connection."""
    return TransientError(f"{name}: the connection failed{f' ({why})' if why else ''}", kind="connection")


def redact_secrets(text: str, secrets: Sequence[str] = ()) -> str:
    """Take secrets, and whatever looks like one, out of what a server says, and shorten it.

    >>> redact_secrets("Incorrect API key provided: sk-abc123***xyz. Use another than hunter2 or hun***er2.", ["hunter2"])
    'Incorrect API key provided: ***. Use another than *** or ***.'
    """
    for secret in secrets:
        whole_word = re.escape(secret) if len(secret) >= _LONG else rf"(?<!\w){re.escape(secret)}(?!\w)"
        text = re.sub(whole_word, "***", text)
    return _ALIKE.sub(_stars, text)[:_SENTENCE]


def without_secrets(text: str, secrets: Sequence[str]) -> str:
    """Take long secrets out of an answer, which is data: a short one may be a word of it (``ollama``).

    >>> without_secrets("test: 0123456789abcdef", ["test", "0123456789abcdef"])
    'test: ***'
    """
    for secret in secrets:
        text = text.replace(secret, "***") if len(secret) >= _LONG else text
    return text


def _stars(match: re.Match[str]) -> str:
    return "***." if match[0].endswith(".") else "***"


def _status(error: APIStatusError, name: str, words: str) -> ModelFailedError:
    status = error.status_code
    kind = _KINDS.get(status, "server error" if status >= 500 else f"HTTP {status}")  # noqa: PLR2004  # of HTTP
    message = f"{name}: the server answered {status}: {words}"
    if _SPENT in (error.code, error.type):
        return RefusedError(message, kind="quota", status=status)
    if is_transient(status):
        return TransientError(message, kind=kind, retry_after_s=_retry_after_s(error.response.headers))
    return RefusedError(message, kind=kind, status=status, parameter=error.param if isinstance(error.param, str) else None)


def _words(error: APIStatusError) -> str:
    """Find the server's sentence in whatever shape its body has."""
    body = error.body
    for name in ("message", "detail", "error"):
        if isinstance(body, Mapping) and body.get(name):
            return str(body[name])
    return str(body) if body else "no reason given"


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Read Retry-After in its three forms: milliseconds, seconds, a date."""
    for header, per_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            return max(0.0, float(headers[header]) / per_second)
        except (KeyError, ValueError):
            continue
    try:
        date, sent = (parsedate_tz(headers.get(header, "")) for header in ("retry-after", "date"))
        now = mktime_tz(sent) if sent else time.time()  # by the server's own clock, where it tells the time
        return max(0.0, mktime_tz(date) - now) if date else None
    except (ValueError, OverflowError):  # a day that no calendar has
        return None
