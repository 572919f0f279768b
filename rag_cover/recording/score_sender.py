"""Scores sent to where a pipeline's runs are looked at, on a thread of their own: neither the pipeline nor the judge waits."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from rag_cover.forks import reset_after_fork
from rag_cover.measures import TraceResult
from rag_cover.recording.notifications import LOG
from rag_cover.recording.scores import NamedScore, scores_of
from rag_cover.recording.worker import Worker

__all__ = ["ScoreSender", "SendScore"]

SendScore = Callable[[str, NamedScore], object]
"""Sends one score of the run with this id."""

_CAPACITY = 1000
_PATIENCE_S = 10.0

_Sending = tuple[str, NamedScore]


class ScoreSender:
    """Sends the scores of results, one after the other. What fails is counted, and told to ``fail``; nothing is raised.

    At most a thousand scores wait; further ones are dropped and counted.

    Args:
        send: called for each score, on a thread of its own.
        fail: called with what it raised.
    """

    def __init__(self, send: SendScore, fail: Callable[[BaseException, str], object]) -> None:
        self._send, self._fail = send, fail
        self._reset()
        reset_after_fork(self._reset)
        self._is_over = False
        self._worker: Worker[_Sending] = Worker(
            self._send_all, lambda error: fail(error, "sending scores"), capacity=_CAPACITY, name="rag-cover-scores"
        )

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._counts = Counter[str]()

    @property
    def counts(self) -> Mapping[str, int]:
        """Count the scores that were sent (``scores_sent``), and those that failed or were dropped (``scores_unsent``)."""
        with self._lock:
            return dict(self._counts)

    def offer(self, run_id: str, result: TraceResult) -> None:
        """Send the scores of the result of a run, soon, without waiting."""
        for score in scores_of(result):
            if not self._worker.offer((run_id, score)):
                self._count("scores_unsent")
                if self._counts["scores_unsent"] == 1:
                    LOG.warning("scores are dropped: more wait to be sent than fit")

    def flush(self, timeout_s: float | None = None) -> bool:
        """Wait until all scores are sent or have failed; tell whether they are, within the time given."""
        return self._worker.flush(timeout_s)

    def close(self, timeout_s: float | None = None) -> None:
        """Send what waits, for ten seconds at most, and stop; what is left is counted and logged."""
        self.flush(_PATIENCE_S if timeout_s is None else min(timeout_s, _PATIENCE_S))
        self._is_over = True
        if left := self._worker.pending:
            self._count("scores_unsent", len(self._worker.stop()))
            LOG.warning("%d scores were not sent: there was no time left when the recording was closed", left)
        self._worker.stop()

    def _send_all(self, scores: Sequence[_Sending]) -> None:
        for run_id, score in scores:
            if self._is_over:
                self._count("scores_unsent")
                continue
            try:
                self._send(run_id, score)
            except Exception as error:  # noqa: BLE001  # somebody else's server, and its client: recorded
                self._count("scores_unsent")
                self._fail(error, f"sending {score.name}")
            else:
                self._count("scores_sent")

    def _count(self, name: str, number: int = 1) -> None:
        with self._lock:
            self._counts[name] += number
