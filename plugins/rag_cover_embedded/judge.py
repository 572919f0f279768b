"""The embedded judge: one small encoder that scores, locates, entails, embeds and detects abstentions; deterministic."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import IN_FLOATS, Abstention, CalibrationShift, CertainCuts, Mode, ScoringItem, Span, TokenRelevance
from rag_cover.score_fits import FittedMode, SavedJudge, ScoreFeatures
from rag_cover.texts import encodable
from rag_cover_embedded.abstentions import abstention
from rag_cover_embedded.answers import AnswerJudge, Asked, ScoreCalibration, WindowEvidence, WindowJudgment
from rag_cover_embedded.bare_abstentions import only_abstains
from rag_cover_embedded.inputs import encode_texts, open_tokenizer
from rag_cover_embedded.memory import LogitMemory, VectorMemory
from rag_cover_embedded.named_judges import ABOUT, folder_for, merge_fitted, write_fitted
from rag_cover_embedded.relevance import token_relevance
from rag_cover_embedded.session import Network
from rag_cover_embedded.verdicts import correctness, entailment
from rag_cover_embedded.weights import FOLDER, Weights

__all__ = ["EmbeddedJudge"]

REMEMBERED = 65_536


class EmbeddedJudge:
    """A 22M-parameter judge that runs anywhere (rag_cover_embedded/MODEL_CARD.md).

    Thread-safe. The same text gets the same verdict alone, in any batch and in any order.

    Args:
        weights: a folder of trained weights; None is the judge that ships with rag_cover.
        threads: how many run the network, each on texts of its own; None: as many as there are cores.
        exhaustive: judge every window of every text instead of those the first stage proposes.
        device: a device of torch that runs the network in floats, such as ``"cuda"``; None: ONNX Runtime runs it in bytes on
            the CPU.
    """

    def __init__(
        self,
        weights: Path | None = None,
        *,
        threads: int | None = None,
        exhaustive: bool = False,
        device: str | None = None,
    ) -> None:
        opened = Weights.open(weights)
        self._options = (weights, threads, exhaustive, device)
        self._fitted, self._shifts = opened.fitted, opened.shifts
        self._folder, self._base = opened.folder, opened.base
        self.fingerprint = opened.fingerprint + (":exhaustive" if exhaustive else "") + (IN_FLOATS if device else "")
        self.entailment_mark = opened.entailment.mark
        self._session = opened.session(threads, device)
        self._open_entailment = partial(opened.entailment_session, threads, device)
        self._entailment_temperature = opened.entailment.temperature
        self._tokenizer = open_tokenizer(opened.tokenizer)
        self._known = LogitMemory(REMEMBERED)
        self._answers = AnswerJudge(
            self._session,
            self._tokenizer,
            threshold=self.threshold,
            reply_threshold=self.reply_threshold,
            calibrations=self._fitted.calibrations,
            proposing=None if exhaustive else self._fitted.proposing,
            known=self._known,
        )
        self._remembered: VectorMemory[Asked, WindowJudgment] = VectorMemory(REMEMBERED)
        self._abstentions: VectorMemory[Asked, Abstention] = VectorMemory(REMEMBERED)

    @property
    def threshold(self) -> float:
        """Return the fitted cut for passages without references."""
        return self._fitted.threshold

    @property
    def reply_threshold(self) -> float:
        """Return the fitted cut for replies without references."""
        return self._fitted.reply_threshold

    @property
    def certain(self) -> CertainCuts:
        """Return the cuts of each mode between which a verdict is unsure."""
        return self._fitted.certain

    @property
    def calibration_shifts(self) -> Mapping[Mode, CalibrationShift]:
        """Return how far its probabilities lie off on labelled sets that it was not trained on, by mode."""
        return self._shifts

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages that it was trained on."""
        return ("en",)

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        """Return (n,) P(the text contains a correct answer to the question, given the references); they may be empty."""
        found = np.zeros(len(items), dtype=np.float32)
        free = [row for row, item in enumerate(items) if not item.references]
        found[free] = [judgment.probability for judgment in self._judge_items([items[row] for row in free])]
        given = [row for row, item in enumerate(items) if item.references and item.text.strip()]
        if given:
            chosen = [items[row] for row in given]
            found[given] = correctness(self._session, self._tokenizer, chosen, temperature=self._fitted.correct_temperature)
        return found

    @property
    def score_weights(self) -> Mapping[str, tuple[float, ...]]:
        """Return the weights of every kind of text: logit, logarithms of windows and tokens, similarity, intercept."""
        known = self._fitted.calibrations
        kinds = {"passages": known.passages, "long_passages": known.long_passages, "replies": known.replies}
        kinds["long_replies"] = known.long_replies or known.long_passages
        return {name: _weights_of(each) for name, each in kinds.items()}

    def score_features(self, items: Sequence[ScoringItem]) -> list[ScoreFeatures | None]:
        """Return what each probability without references is made of; None where nothing is read closely."""
        asked = [(item.question, item.text, item.user_question) for item in items]
        found = self._answers.evidence_by_kind(asked)
        return [None if each is None else ScoreFeatures(each[0], _features_of(each[1])) for each in found]

    def fitted_folder(self, place: str | Path) -> Path:
        """Return the folder of a fitted judge: a path as it is, a name in the folder of named judges."""
        return folder_for(place)

    def save_fitted(self, place: str | Path, modes: Mapping[Mode, FittedMode], *, overwrite: bool = False) -> SavedJudge:
        """Keep this judge with what was fitted, under a name (``embedded:NAME``) or in a folder."""
        folder = folder_for(place)
        about = json.loads((self._folder / ABOUT).read_text(encoding="utf-8"))
        base = None if self._base == FOLDER else self._base
        write_fitted(folder, merge_fitted(about, modes, base), overwrite=overwrite)
        return SavedJudge(f"embedded:{place}", folder, Weights.open(folder).fingerprint)

    def locate(self, items: Sequence[ScoringItem]) -> list[Span | None]:
        """Return the sentences of each text that answer its question, None where none does; references are not read."""
        return [judgment.fragment for judgment in self._judge_items(items)]

    def abstains(self, items: Sequence[ScoringItem]) -> list[Abstention]:
        """Return whether each text declines to answer its question; a blank text does not, as it says nothing."""
        asked = [(item.question, item.text, item.user_question) for item in items]
        found = self._abstentions.recall(
            asked,
            lambda new: abstention(self._session, self._tokenizer, new, self._fitted.abstention, known=self._known),
        )
        return ["wholly" if only_abstains(*each[:2]) else found[each] for each in asked]

    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return (n, 3): P(entailment), P(neutral), P(contradiction) of each (premise, hypothesis)."""
        return entailment(self._entailment_session, self._tokenizer, pairs, temperature=self._entailment_temperature)

    def token_relevance(self, question: str, texts: Sequence[str]) -> TokenRelevance:
        """Return P(a text says something about a word of the question), for each text and each word but function words."""
        return token_relevance(self._session, self._tokenizer, question, texts, known=self._known)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, 384) unit vectors, close to all-MiniLM-L6-v2's; a text counts up to its 254th token."""
        encoded = encode_texts(self._tokenizer, [encodable(text) for text in texts])
        vectors = [vector for (vector,) in self._session.run(encoded, ["embedding"])]
        return np.array(vectors, dtype=np.float32).reshape(-1, 384)

    @cached_property
    def _entailment_session(self) -> Network:
        return self._open_entailment()  # when it is first asked for: coverage needs none

    def __reduce__(self) -> tuple[Callable[..., EmbeddedJudge], tuple[object, ...]]:
        """Travel to another process as what it was opened with: the network is opened there."""
        return _reopen, self._options

    def _judge_items(self, items: Sequence[ScoringItem]) -> list[WindowJudgment]:
        asked = [(item.question, item.text, item.user_question) for item in items]
        judged = self._remembered.recall(asked, self._answers.judge)
        return [judged[each] for each in asked]


def _weights_of(calibration: ScoreCalibration) -> tuple[float, ...]:
    known = calibration
    return known.logit, known.windows, known.tokens, known.similarity, known.intercept


def _features_of(evidence: WindowEvidence) -> tuple[float, ...]:
    return evidence.logit, math.log(evidence.windows), math.log(evidence.tokens), evidence.similarity, 1.0


def _reopen(
    weights: Path | None,
    threads: int | None,
    exhaustive: bool,  # noqa: FBT001  # as it travelled
    device: str | None,
) -> EmbeddedJudge:
    return EmbeddedJudge(weights, threads=threads, exhaustive=exhaustive, device=device)
