"""Scores as feedback in LangSmith, at the runs that they are about.

https://docs.langchain.com/langsmith/attach-user-feedback
"""

from __future__ import annotations

import inspect
import threading
import time
from contextlib import suppress
from typing import Any, Protocol
from uuid import UUID

from rag_cover.errors import InvalidValueError
from rag_cover.integration import describe_argument
from rag_cover.recording import NamedScore, SendScore

__all__ = ["Feedback", "FeedbackClient", "feedback_by", "sender_of"]

_ATTEMPTS = 3
"""A run reaches LangSmith in the background, so that its feedback may come first and is tried again."""
_SOURCE = {"made_by": "rag_cover"}
_WAIT_S = 1.0


class FeedbackClient(Protocol):
    """What sends feedback: ``langsmith.Client``."""

    def create_feedback(self, run_id: Any, key: str, **feedback: Any) -> object:
        """Send one score of a run."""
        ...


Feedback = FeedbackClient | SendScore
"""A client of LangSmith, or a function that is called with a run's id and a score."""


def feedback_by(client: FeedbackClient, *, project: str | None = None) -> SendScore:
    """Return what sends scores by a client: each at its run, its name as key, what it rests on and what was lost as comment.

    Args:
        client: ``langsmith.Client()``.
        project: the name of the project that the runs are traced to; None: the one that the environment names.

    Raises:
        InvalidValueError: it is no client of LangSmith.
    """
    if isinstance(client, type) or not callable(getattr(client, "create_feedback", None)):
        message = f"feedback is {describe_argument(client)}; give a langsmith.Client(), or a function that sends a score"
        raise InvalidValueError(message)
    return _Feedback(client, project)


def sender_of(feedback: Feedback) -> SendScore:
    """Return what sends a score, of what a user gave.

    Raises:
        InvalidValueError: it sends nothing.
    """
    if callable(feedback) and not isinstance(feedback, type):
        return feedback
    return feedback_by(feedback)  # type: ignore[arg-type]  # it is checked


class _Feedback:
    """Sends scores; where in LangSmith their project is, is asked once."""

    def __init__(self, client: FeedbackClient, project: str | None) -> None:
        self._client, self._project = client, project
        self._lock = threading.Lock()
        self._place: dict[str, Any] | None = None

    def __call__(self, run_id: str, score: NamedScore) -> None:
        """Send a score; what goes wrong is raised."""
        self._client.create_feedback(
            UUID(run_id),
            score.name,
            score=score.value,
            value=score.label or None,
            comment=score.explanation or None,
            source_info=dict(_SOURCE),
            stop_after_attempt=_ATTEMPTS,
            **self._find_project(),
        )

    def _find_project(self) -> dict[str, Any]:
        """Return the project's id, as clients ask for it that can tell a run by its project alone."""
        with self._lock:
            if self._place is None:
                self._place = self._ask_for_project()
            return self._place

    def _ask_for_project(self) -> dict[str, Any]:
        """Ask for it again where it is not there: a project is made when its first run arrives."""
        client: Any = self._client
        if "session_id" not in inspect.signature(client.create_feedback).parameters:
            return {}
        from langsmith.utils import LangSmithNotFoundError, get_tracer_project

        name = self._project or get_tracer_project()
        for attempt in range(1, _ATTEMPTS):
            with suppress(LangSmithNotFoundError):
                return {"session_id": client.read_project(project_name=name).id}
            time.sleep(attempt * _WAIT_S)
        return {"session_id": client.read_project(project_name=name).id}
