"""LangSmith without its server: a client whose session refuses every request, and notes it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NoReturn
from uuid import UUID, uuid5

from langsmith import Client
from langsmith.schemas import Example
from requests import Session

__all__ = ["OfflineSession", "example", "offline_client"]

_NAMES = UUID("6f1d2e0a-2f4f-4d0c-9b59-0d9a3c5f7a11")


class OfflineSession(Session):
    """Sends nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[Any, ...]] = []

    def request(self, *args: Any, **kwargs: Any) -> NoReturn:
        self.asked.append(args)
        raise ConnectionError


def offline_client(session: OfflineSession) -> Client:
    """Return a client that has no server: with a sampling rate of 0 it keeps what LangChain traces to itself."""
    return Client(
        api_url="http://localhost:1",
        api_key="none",
        session=session,
        auto_batch_tracing=False,
        tracing_sampling_rate=0,
        info={},
    )


def example(number: int, inputs: dict[str, Any], outputs: dict[str, Any] | None = None) -> Example:
    """Return a numbered example of a dataset that is nowhere."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Example(
        id=uuid5(_NAMES, str(number)),
        dataset_id=_NAMES,
        inputs=inputs,
        outputs=outputs,
        created_at=now,
        modified_at=now,
    )
