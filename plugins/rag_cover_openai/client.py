"""One model over one connection: every call under the one policy, within its time, and no key in anything said."""

from __future__ import annotations

import json
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from openai import OpenAIError

from rag_cover.errors import InvalidValueError, ModelFailedError, TransientError
from rag_cover.llm.deadline import Deadline
from rag_cover.llm.retry import Called, Caller
from rag_cover_openai.connections import Connected, Connection, open_sdk_client
from rag_cover_openai.errors import connection_error, fault_of, late, redact_secrets, unacceptable, without_secrets
from rag_cover_openai.limits import HTTP, MOST_BYTES, UnacceptableReplyError, too_long
from rag_cover_openai.server_quirks import Dialect

__all__ = ["Client"]

_NOT_OF_SDK = ("top_k",)  # what servers take and the SDK has no parameter for


class Client:
    """Asks one model. Thread-safe; all that ask the same model over the same connection share one, and so its limits."""

    def __init__(self, model: str, connection: Connection) -> None:
        if not model:
            message = "'openai' needs a model's name, such as 'openai:gpt-4.1-mini'"
            raise InvalidValueError(message)
        self.model, self.name = model, f"openai:{model}"
        self.caller = Caller(connection.policy)
        self.dialect = Dialect(self.name)
        self._connection = connection
        self._lock = threading.Lock()
        self._made: Connected | None = None

    @property
    def base_url(self) -> str:
        """Return the server's address, without credentials."""
        return self._open_connection().base_url

    def chat(self, body: Mapping[str, Any], *, tokens: int, clock: Deadline) -> Called[object]:
        """Ask for a chat completion.

        Raises:
            ModelFailedError: there is none, after its retries.
        """
        create = self._open_connection().sdk.chat.completions.with_streaming_response.create
        return self._call(create, body, tokens, clock)

    def embeddings(self, body: Mapping[str, Any], *, tokens: int, clock: Deadline) -> Called[object]:
        """Ask for embeddings.

        Raises:
            ModelFailedError: there are none, after its retries.
        """
        return self._call(self._open_connection().sdk.embeddings.with_streaming_response.create, body, tokens, clock)

    def _call(self, create: Callable[..., Any], body: Mapping[str, Any], tokens: int, clock: Deadline) -> Called[object]:
        known = {name: value for name, value in body.items() if name not in _NOT_OF_SDK}
        extra = {name: value for name, value in body.items() if name in _NOT_OF_SDK}
        arguments = {"model": self.model, **known, "extra_body": extra or None}
        return self.caller.call(lambda timeout_s: self._send(create, arguments, timeout_s), tokens=tokens, clock=clock)

    def _send(self, create: Callable[..., Any], arguments: Mapping[str, Any], timeout_s: float) -> object:
        """Send one request; errors are raised outside of the SDK's, whose requests hold the key."""
        fault: ModelFailedError
        secrets = self._open_connection().secrets
        try:
            text = without_secrets(_read(create, arguments, timeout_s), secrets)
        except OpenAIError as error:
            fault = fault_of(error, name=self.name, secrets=secrets)
        except (TimeoutError, HTTP.TimeoutException):
            fault = late(self.name)
        except UnacceptableReplyError as refused:
            fault = unacceptable(self.name, refused)
        except HTTP.HTTPError as error:
            fault = connection_error(self.name, redact_secrets(str(error), secrets))
        else:
            try:
                return json.loads(text)
            except (ValueError, RecursionError):
                fault = self._undecodable(redact_secrets(text, secrets))
        try:
            raise fault
        finally:
            del fault  # an error and the frame that raised it would keep each other, and this client with its key, alive

    def _undecodable(self, text: str) -> ModelFailedError:
        if text.lstrip().startswith("<"):
            message = (
                f"{self.name}: the server answered with a web page; check base_url ({self.base_url}), it often ends in /v1"
            )
            return ModelFailedError(message, kind="no API", raw=text)
        fault = TransientError(f"{self.name}: the server's answer broke off, or is no JSON", kind="connection")
        fault.raw = text
        return fault

    def _open_connection(self) -> Connected:
        with self._lock:
            if self._made is None:
                self._made = open_sdk_client(self.name, self._connection)
                weakref.finalize(self, self._made.sdk.close)
            return self._made


def _read(create: Callable[..., Any], arguments: Mapping[str, Any], timeout_s: float) -> str:
    """Read a whole answer; the HTTP library's own timeout is of each piece, and never ends with a server that trickles.

    Raises:
        TimeoutError: it is not all there in time.
        UnacceptableReplyError: it does not end.
    """
    ends = time.monotonic() + timeout_s
    content = bytearray()
    with create(**arguments, timeout=timeout_s) as response:
        for piece in response.iter_bytes():
            content += piece
            if len(content) > MOST_BYTES:
                raise too_long()
            if time.monotonic() >= ends:
                raise TimeoutError
    return content.decode("utf-8", "replace")
