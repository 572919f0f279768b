"""The store of a test session's answers: refused before the first test where it may not be written, written after the last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from rag_cover.errors import RagCoverError
from rag_cover.llm.usage import UsageReport
from rag_cover.measures import TraceResult
from rag_cover.pytest_plugin.session import TestedAnswer, read_test
from rag_cover.stores import Store
from rag_cover.stores.locks import hold
from rag_cover.traces import Identities, name_of

__all__ = ["ResultsStore"]


@dataclass(frozen=True, slots=True)
class ResultsStore:
    """The file that ``--rag-cover-store`` names; nothing that it holds is written over without a word.

    ``resume`` keeps the answers that it holds, but for those that a test checks again, ``overwrite`` removes them.
    """

    path: Path
    resume: bool = False
    overwrite: bool = False

    def refuse_unwritable(self) -> None:
        """Refuse a file that may not be written, before any test runs.

        Raises:
            UsageError: says which option to give.
        """
        if self.resume and self.overwrite:
            message = "--rag-cover-resume goes on with what the store holds and --rag-cover-force removes it; choose one"
            raise pytest.UsageError(message)
        if not self.path.parent.is_dir():
            message = f"--rag-cover-store: there is no folder {self.path.parent}; make it, or name another file"
            raise pytest.UsageError(message)
        if not self.path.exists():
            return
        try:
            with Store.open(self.path, create=False) as store:
                store.check()
        except RagCoverError as unreadable:
            message = f"--rag-cover-store: {unreadable}"
            raise pytest.UsageError(message) from unreadable
        if not self.resume and not self.overwrite:
            message = (
                f"--rag-cover-store: {self.path} exists already; add to it with --rag-cover-resume, replace it with "
                "--rag-cover-force, or name another file"
            )
            raise pytest.UsageError(message)

    def write(self, answers: Sequence[TestedAnswer]) -> int:
        """Write answers, and return how many the store holds then.

        Raises:
            StoreError: it cannot be written.
        """
        with Store.open(self.path) as store, hold(self.path):
            held = self._results_in(store)
            about = dict(store.meta.get("evaluation") or {}) if held else {}
            ran = {each.test for each in answers}
            others = {key: result for key, result in held.items() if read_test(key) not in ran}
            merged = others | {each.key: each.checked.result for each in answers}
            store.begin(_describe(answers, about), resume=self.resume, overwrite=self.overwrite)
            kept = zip(sorted(merged), _with_ids([merged[key] for key in sorted(merged)]), strict=True)
            store.keep([(place, key, result) for place, (key, result) in enumerate(kept)], UsageReport())
            store.finish(len(merged))
        return len(merged)

    def _results_in(self, store: Store) -> dict[str, TraceResult]:
        if not self.resume:
            return {}
        return {key: store.result(ordinal) for ordinal, key in store.keys().items()}


def _describe(answers: Sequence[TestedAnswer], held: dict[str, object]) -> dict[str, object]:
    """Say who judged and what was measured; the shifts of one judge are kept."""
    judges = [each.checked.judge for each in answers]
    before = held.get("judge")
    names = dict.fromkeys([*(before.split(", ") if isinstance(before, str) else ()), *judges])
    measured = held.get("measures")
    measures = dict.fromkeys(
        [
            *(measured if isinstance(measured, list) else ()),
            *(name for each in answers for name in each.checked.result.outcomes),
        ]
    )
    shifts = {mode: shift.to_dict() for mode, shift in answers[0].checked.shifts.items()} if len(names) == 1 else {}
    return {"judge": ", ".join(names), "measures": list(measures), "seed": 0} | ({"shifts": shifts} if shifts else {})


def _with_ids(results: Sequence[TraceResult]) -> list[TraceResult]:
    """Give every trace an id that no other has."""
    identities = Identities()
    return [
        TraceResult(each.trace.model_copy(update={"id": identities.give(each.trace.id or name_of(each.trace))}), each.outcomes)
        for each in results
    ]
