"""A language model as judge: any Generator made a Scorer and Locator that reads whole texts and quotes what answers.

One call judges a text by the list of its questions. Verdicts that cannot be used are asked for once more, alone and with
what is wrong with them, and then once afresh; what is still unusable then is a counted failure and never a number. Whether a
text states a nugget is asked by `NuggetAssigner`.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from rag_cover.argument_checks import refuse_below, refuse_outside
from rag_cover.backends import Failure, Generation, Generator, Sampling, ScoringItem, Span, fingerprint_of
from rag_cover.llm.judge_prompt import PROMPTS, JudgePrompt, Judgment, ParsedVerdict, Verdicts, best_of, reading_of
from rag_cover.llm.nugget_assigner import NuggetAssigner
from rag_cover.llm.session import LLMSession, Remote
from rag_cover.llm.usage import CallForecast, Usage
from rag_cover.statements import StatementItem, StatementVerdict
from rag_cover.texts import character_windows

__all__ = ["PromptedJudge"]

_REMEMBERED = 65_536  # verdicts
_NOTHING = Judgment(0.0, None)
_ROUNDS = 3
_CHARACTERS_OF_TOKEN = 3  # fewer than in English prose, so that a forecast is rather too high


class PromptedJudge:
    """Judges by asking a Generator (`rag_cover.backends.Scorer` and `Locator`).

    Thread-safe. A verdict is remembered, so that locating what was scored asks nothing again; within a run a failure is too.

    Args:
        generator: the model to ask.
        threshold: the probability from which a text covers a question.
        longest: characters of a text that are judged in one call; a longer text is read in windows of whole sentences, and
            a question counts as answered as much as in the window that answers it best.
        questions: at most so many in one call.
        run: the run it is bound to (`for_run`).
    """

    def __init__(
        self,
        generator: Generator,
        *,
        threshold: float = 0.5,
        longest: int = 60_000,
        questions: int = 40,
        run: LLMSession | None = None,
    ) -> None:
        refuse_outside(0, 1, threshold=threshold)
        refuse_below(1, longest=longest, questions=questions)
        self.threshold = threshold
        self._generator, self._longest, self._questions = generator, longest, questions
        self._run = run
        self._assigner = NuggetAssigner(generator, longest=longest, run=run)
        self._lock = threading.Lock()
        self._judged: OrderedDict[ScoringItem, Judgment] = OrderedDict()
        self._failed: dict[ScoringItem, Failure] = {}

    @property
    def fingerprint(self) -> str:
        """Return what names this judge in caches."""
        return f"{fingerprint_of(self._generator)}:judge-{PROMPTS}:{self.threshold:g}:{self._longest}"

    def for_run(self, run: LLMSession) -> Self:
        """Return the same judge, going by this run's cache, ledger and clock; it begins without memories."""
        generator = self._generator.for_run(run) if isinstance(self._generator, Remote) else self._generator
        return type(self)(generator, threshold=self.threshold, longest=self._longest, questions=self._questions, run=run)

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        """Return (n,) P(the text answers the question, as the references do); a blank text answers nothing.

        Raises:
            ModelFailedError: some verdicts could not be had; those that could are remembered, and not asked for again.
        """
        return np.array([judgment.probability for judgment in self._judgments(items)], dtype=np.float32)

    def locate(self, items: Sequence[ScoringItem]) -> list[Span | None]:
        """Return the fragment of each text that answers its question, None where none does.

        Raises:
            ModelFailedError: some verdicts could not be had.
        """
        return [judgment.fragment for judgment in self._judgments(items)]

    def judge_statements(self, items: Sequence[StatementItem]) -> list[StatementVerdict]:
        """Return of each text whether it states the statement, as a whole or in part.

        Raises:
            ModelFailedError: some verdicts could not be had.
        """
        return self._assigner.judge_statements(items)

    def forecast(self, items: Sequence[ScoringItem]) -> CallForecast:
        """Return what judging items takes, where every reply can be used; room for a model's thoughts is not counted."""
        sheets = self._sheets([item for item in dict.fromkeys(items) if item.text.strip()])
        sent = sum(-(-sheet.characters // _CHARACTERS_OF_TOKEN) for sheet in sheets)
        return CallForecast(len(sheets), sent, sum(sheet.reply_tokens for sheet in sheets))

    @property
    def _rounds(self) -> int:
        return 1 if self._run is not None and self._run.asks_once else _ROUNDS

    def _judgments(self, items: Sequence[ScoringItem]) -> list[Judgment]:
        with self._lock:
            known = {item: self._judged[item] for item in items if item in self._judged}
            failed = {item: self._failed[item] for item in items if item in self._failed}
        known |= {item: _NOTHING for item in items if not item.text.strip()}
        read = self._ask([item for item in dict.fromkeys(items) if item not in known and item not in failed])
        self._remember(read)
        if failed := {**failed, **read.failed}:
            raise next(iter(failed.values())).error()
        known.update(read.judgments)
        return [known[item] for item in items]

    def _remember(self, read: ParsedVerdict) -> None:
        with self._lock:
            self._judged.update(read.judgments)
            while len(self._judged) > _REMEMBERED:
                self._judged.popitem(last=False)
            if self._run is not None:  # outside a run there is always a next time
                self._failed.update(read.failed)

    def _ask(self, items: Sequence[ScoringItem]) -> ParsedVerdict:
        """Judge items in one round of calls, and what was unusable in further ones."""
        sheets = self._sheets(items)
        reads = self._read(sheets)
        for _ in range(1, self._rounds):
            again = {index: sheets[index].about(read.problems) for index, read in enumerate(reads) if read.problems}
            for index, mended in zip(again, self._read(list(again.values())), strict=True):
                sheets[index], reads[index] = again[index], reads[index].merge(mended)
        self._count(len({item for read in reads for item in read.problems}))
        return best_of([read.give_up(self._rounds) for read in reads])

    def _sheets(self, items: Sequence[ScoringItem]) -> list[JudgePrompt]:
        by_text: dict[str, list[ScoringItem]] = {}
        for item in items:
            by_text.setdefault(item.text, []).append(item)
        return [
            JudgePrompt(window.of(text), window.start, tuple(asked[start : start + self._questions]))
            for text, asked in by_text.items()
            for window in character_windows(text, self._longest)
            for start in range(0, len(asked), self._questions)
        ]

    def _read(self, sheets: Sequence[JudgePrompt]) -> list[ParsedVerdict]:
        """Ask about the sheets, all that may be as long at once."""
        by_length: dict[Sampling, list[int]] = {}
        for index, sheet in enumerate(sheets):
            by_length.setdefault(sheet.sampling, []).append(index)
        replies: dict[int, Generation] = {}
        for sampling, indices in by_length.items():
            prompts = [sheets[index].prompt for index in indices]
            answered = self._generator.generate(prompts, sampling, schema=Verdicts, purpose="judge")
            replies |= dict(zip(indices, answered, strict=True))
        return [reading_of(sheet, replies[index]) for index, sheet in enumerate(sheets)]

    def _count(self, failures: int) -> None:
        if failures and self._run is not None:
            name = str(getattr(self._generator, "name", fingerprint_of(self._generator)))
            self._run.ledger.add(Usage(name, "judge", failures=failures))
