"""How a model's server is reached: the SDK's client, and what of the connection nobody may read anywhere."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from openai import OpenAI, OpenAIError
from pydantic import SecretStr

from rag_cover.errors import InvalidValueError
from rag_cover.llm.retry import RetryPolicy
from rag_cover_openai.limits import guarded_http_client

__all__ = ["Connected", "Connection", "open_sdk_client"]

_OPENAI = ".openai.com"
_NO_KEY = "unneeded"  # what servers without keys are sent: the SDK wants to send something


@dataclass(frozen=True, slots=True)
class Connection:
    """Where a model is asked, as whom, and under which policy; what is None the SDK takes from its environment."""

    base_url: str | None = None
    api_key: SecretStr | None = None
    organization: str | None = None
    project: str | None = None
    policy: RetryPolicy = field(default_factory=RetryPolicy)


@dataclass(frozen=True, slots=True)
class Connected:
    """The SDK's client, the address it asks, and the secrets it sends."""

    sdk: OpenAI
    base_url: str
    secrets: tuple[str, ...] = field(repr=False)


def open_sdk_client(name: str, connection: Connection) -> Connected:
    """Make the SDK's client; nothing is sent yet.

    User and password in an address become a header: addresses are logged.

    Raises:
        InvalidValueError: the address is none, or OpenAI is to be asked without a key.
    """
    _address(connection.base_url or "https://api.openai.com/v1")
    sdk = _client(name, connection, base_url=connection.base_url)
    address = _address(str(sdk.base_url))
    secrets = [sdk.api_key] if sdk.api_key != _NO_KEY else []
    if address.username is not None:
        user_and_password = f"{unquote(address.username)}:{unquote(address.password or '')}"
        basic = base64.b64encode(user_and_password.encode()).decode()
        secrets += [basic, user_and_password.partition(":")[2]]
        sdk.close()
        header = {"Authorization": f"Basic {basic}"}
        sdk = _client(name, connection, base_url=_without_credentials(address), default_headers=header)
    return Connected(sdk, _without_credentials(address), tuple(secret for secret in secrets if secret))


def _client(name: str, connection: Connection, **options: Any) -> OpenAI:
    """Open the SDK; retries are ours. A server other than OpenAI's own may do without a key."""
    key = connection.api_key.get_secret_value() if connection.api_key else None
    options |= {"organization": connection.organization, "project": connection.project, "max_retries": 0}
    try:
        client = _guarded(key, options)
    except OpenAIError:
        client = _guarded(_NO_KEY, options)
    if client.api_key and client.api_key != _NO_KEY:
        return client
    client.close()
    if f".{client.base_url.host}".endswith(_OPENAI):
        message = (
            f"{name!r} needs a key: set OPENAI_API_KEY, or pass api_key=…; "
            "a server of your own is named by base_url=… or OPENAI_BASE_URL"
        )
        raise InvalidValueError(message)
    return _guarded(_NO_KEY, options)


def _guarded(key: str | None, options: Mapping[str, Any]) -> OpenAI:
    return OpenAI(api_key=key, http_client=guarded_http_client(), **options)


def _address(url: str) -> SplitResult:
    """Take an address apart; the message does not repeat it, for it may hold a password."""
    try:
        address = urlsplit(url)
        usable = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        usable = False
    if not usable:
        message = "base_url is no address of a server; one is http://127.0.0.1:8000/v1"
        raise InvalidValueError(message)
    if address.query or address.fragment:
        message = "base_url ends at its path, often /v1, without a query; pass the server's key as api_key=…"
        raise InvalidValueError(message)
    return address


def _without_credentials(address: SplitResult) -> str:
    return urlunsplit((address.scheme, address.netloc.rpartition("@")[2], address.path.rstrip("/"), "", ""))
