"""CAIMIRA: skills of agents, learnt from which questions each got right, that predict success on questions never asked.

Gor et al., EMNLP 2024 (arithmetic in `rag_cover.routing.irt`, what is minimised in `rag_cover.routing.fitting`). With the
paper's settings the model overfits where responses are few; `Caimira` therefore adds hierarchical Gaussian priors, whose
strength is chosen by cross-validation. Skills and difficulties are identified up to the order of the dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_cover.errors import InvalidValueError
from rag_cover.routing import irt
from rag_cover.routing.files import load_skills, save_skills
from rag_cover.routing.parameters import Parameters, feature_table
from rag_cover.routing.responses import Responses
from rag_cover.routing.subjects import Subjects
from rag_cover.routing.training import Settings, Trained, Validation, cross_validate_strengths, fit_parameters
from rag_cover.stats.intervals import Z95

__all__ = ["Caimira"]

Floats = NDArray[np.float64]


@dataclass(slots=True)
class Caimira:
    """A skill model: its settings, and after `fit`, `load` or `from_parameters` what it learnt.

    Args:
        dimensions: m, of skills and difficulties; 5 in the paper.
        temperature: τ of the relevance; 1 in the paper.
        skill_penalty: λ_s of the paper's loss, which counts where nothing is shrunk.
        difficulty_penalty: λ_d of the paper's loss, likewise.
        patience: where nothing is shrunk, how many steps without improvement on held-out questions end the fit; None: none do.
        seed: seed of the random generator (start and held-out questions).
        shrinkage: of the hierarchical priors, 1 being what suits weak content; None: chosen by cross-validation; 0: none,
            which with the defaults of the rest is the paper's model.

    Raises:
        InvalidValueError: a setting outside its range.
    """

    dimensions: int = 5
    temperature: float = 1.0
    skill_penalty: float = 1e-5
    difficulty_penalty: float = 1e-5
    patience: int | None = 10
    seed: int = 0
    shrinkage: float | None = None
    encoder: str | None = field(default=None, init=False)
    subjects: Subjects = field(default=Subjects(), init=False)
    _parameters: Parameters | None = field(default=None, init=False, repr=False, compare=False)
    _trained: Trained | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _require(self.dimensions >= 1, f"a model has one dimension at least, not {self.dimensions}")
        _require(self.temperature > 0, f"the temperature is above 0, not {self.temperature:g}")
        _require(min(self.skill_penalty, self.difficulty_penalty) >= 0, "penalties are at least 0")
        _require(self.patience is None or self.patience >= 1, f"patience is 1 at least or None, not {self.patience}")
        _require(self.shrinkage is None or self.shrinkage >= 0, f"shrinkage is at least 0 or None, not {self.shrinkage}")

    @classmethod
    def from_parameters(
        cls,
        skills: ArrayLike,
        relevance_weights: ArrayLike,
        relevance_bias: ArrayLike,
        difficulty_weights: ArrayLike,
        difficulty_mean: ArrayLike,
        *,
        temperature: float = 1.0,
        agents: Sequence[str] | None = None,
        encoder: str | None = None,
    ) -> Self:
        """Make a fitted model of known numbers: skills (a, m), W_R (m, d), b_R (m,), W_D (m, d) and the mean (m,).

        Raises:
            InvalidValueError: shapes that do not fit together.
        """
        s, w_r, b_r, w_d, mean = (
            np.array(each, dtype=np.float64)
            for each in (skills, relevance_weights, relevance_bias, difficulty_weights, difficulty_mean)
        )
        fits = s.ndim == w_r.ndim == 2 and w_r.shape == w_d.shape and b_r.shape == mean.shape == (len(w_r),) == s.shape[1:]  # noqa: PLR2004 - tables
        _require(fits, "skills are (a, m), weights (m, d), bias and mean (m,); these do not fit together")
        names = tuple(f"agent {number}" for number in range(1, len(s) + 1)) if agents is None else tuple(agents)
        _require(len(set(names)) == len(names) == len(s), f"{len(s)} agents need as many different names, not {len(names)}")
        m = s.shape[1]
        model = cls(dimensions=m, temperature=temperature)
        unknown, precision = np.full((len(s), m, m), np.nan), np.eye(m)
        model._parameters = Parameters(names, s, w_r, b_r, w_d, mean, temperature, unknown, s.mean(axis=0), precision)
        model.encoder = encoder
        return model

    def fit(
        self, responses: Responses, embeddings: ArrayLike, *, encoder: str | None = None, subjects: Subjects | None = None
    ) -> Self:
        """Learn skills, and what of a question's features makes it hard; the model itself changes, and is returned.

        Args:
            responses: of n questions; those that nobody answered are left out.
            embeddings: (n, d) features of these questions, as `rag_cover.routing.encode` makes them.
            encoder: the fingerprint of what made them, kept with the model.
            subjects: whose columns the features end with, kept with the model; None: they end with none.

        Raises:
            InvalidValueError: embeddings that do not match, no response at all, or an agent without one.
            MissingExtraError: scipy is not installed.
        """
        values, features = _observed_rows(responses, embeddings)
        self._trained = fit_parameters(responses.agents, values, features, self._settings)
        self._parameters, self.encoder, self.subjects = self._trained.parameters, encoder, subjects or Subjects()
        return self

    def cross_validate(self, responses: Responses, embeddings: ArrayLike) -> Validation:
        """Choose how strong the priors are, with the log-losses of held-out questions then; the model itself does not change.

        Args:
            responses: of n questions; those that nobody answered are left out.
            embeddings: (n, d) features of these questions.

        Raises:
            InvalidValueError: as `fit` does.
            MissingExtraError: scipy is not installed.
        """
        values, features = _observed_rows(responses, embeddings)
        return cross_validate_strengths(values, features, self._settings)

    @property
    def agents(self) -> tuple[str, ...]:
        """Name the agents."""
        return self._fitted.agents

    @property
    def skills(self) -> Floats:
        """Return (a, m) skills, on the scale of difficulties: at a difference of 0 the chance is one half."""
        return self._fitted.skills

    @property
    def skill_intervals(self) -> Floats:
        """Return (a, m, 2), the ends of the skills' 95% intervals by Laplace's approximation; NaN where they are not known."""
        deviations = np.sqrt(np.diagonal(self._sure().covariances, axis1=1, axis2=2))
        return np.stack([self.skills - Z95 * deviations, self.skills + Z95 * deviations], axis=-1)

    def predict(self, embeddings: ArrayLike, agents: Sequence[str] | None = None) -> Floats:
        """Return (n, agents) the probability that each answers each question right.

        Raises:
            InvalidValueError: embeddings of another size, an unknown agent, or a model that is not fitted.
        """
        model = self._fitted
        places = range(len(model.agents)) if agents is None else model.places(agents)
        return irt.probabilities(model.logits(embeddings, model.skills[list(places)]))

    def relevance(self, embeddings: ArrayLike) -> Floats:
        """Return (n, m) how relevant each dimension is to each question; rows sum to 1."""
        return self._fitted.relevance(embeddings)

    def difficulty(self, embeddings: ArrayLike) -> Floats:
        """Return (n, m) how difficult each question is in each dimension; 0 is the mean of the training questions."""
        return self._fitted.difficulty(embeddings)

    def with_agent(self, name: str, values: ArrayLike, embeddings: ArrayLike) -> Self:
        """Return a model that knows one more agent, from a few responses; questions' part and other agents stay as they are.

        Args:
            name: of the new agent.
            values: (n,) its success in [0, 1], NaN where it was not asked.
            embeddings: (n, d) of the same questions.

        Raises:
            InvalidValueError: a name that is taken, arrays that do not match, values outside [0, 1], or no response.
        """
        model = self._sure()
        _require(name not in model.agents, f"the agent {name!r} is there already; give the new one another name")
        features, success = feature_table(embeddings, model.features), np.asarray(values, dtype=np.float64)
        _require(success.shape == (len(features),), f"{len(features)} questions need as many values, not {success.shape}")
        has_response = ~np.isnan(success)
        _require(bool(has_response.any()), f"the agent {name!r} has no response; ask it a few questions first")
        _require(
            bool(((success[has_response] >= 0) & (success[has_response] <= 1)).all()), "success is a number from 0 to 1, or NaN"
        )
        return self._with(model.with_agent(name, success[has_response], features[has_response]))

    def save(self, path: Path | str) -> None:
        """Write ``<path>.npz`` with the numbers and ``<path>.json`` with the rest.

        Raises:
            StoreError: they cannot be written.
        """
        settings = {name: getattr(self, name) for name in _SETTINGS}
        save_skills(Path(path), self._sure(), settings, self.encoder, self.subjects)

    @classmethod
    def load(cls, path: Path | str, *, encoder: str | None = None, features: int | None = None) -> Self:
        """Read what `save` wrote.

        Args:
            path: as given to `save`, with or without a suffix.
            encoder: the fingerprint of the encoder that questions will come from; None: do not check.
            features: d, the size of its vectors; None: do not check.

        Raises:
            InputError: there is no such file.
            CorruptFileError: the files are damaged or do not belong together.
            UnfitModelError: the model was fitted with another encoder, or another size of vectors.
        """
        found = load_skills(Path(path), encoder, features)
        model = cls(**found.settings)
        model._parameters, model.encoder, model.subjects = found.parameters, found.encoder, found.subjects
        return model

    def _with(self, parameters: Parameters) -> Self:
        model = replace(self)
        model.encoder, model.subjects = self.encoder, self.subjects
        model._parameters = parameters  # noqa: SLF001 - its own class
        return model

    @property
    def _settings(self) -> Settings:
        return Settings(
            self.dimensions, self.temperature, self.skill_penalty, self.difficulty_penalty, self.patience, self.seed,
            self.shrinkage,
        )  # fmt: skip

    @property
    def _fitted(self) -> Parameters:
        if self._parameters is None:
            message = "this model knows no agent yet; call fit(…), or Caimira.load(…) one that was saved"
            raise InvalidValueError(message)
        return self._parameters

    def _sure(self) -> Parameters:
        """Return the parameters with the covariances of skills, computed when they are first asked for."""
        if self._trained is not None and np.isnan(self._fitted.covariances).all():
            self._parameters = self._trained.with_covariances()
        return self._fitted


_SETTINGS = ("dimensions", "temperature", "skill_penalty", "difficulty_penalty", "patience", "seed", "shrinkage")


def _require(holds: bool, message: str) -> None:  # noqa: FBT001 - a condition, not a switch
    if not holds:
        raise InvalidValueError(message)


def _observed_rows(responses: Responses, embeddings: ArrayLike) -> tuple[Floats, Floats]:
    """Return values (n, a) and features (n, d) of the questions that somebody answered; refuse what cannot be learnt from."""
    features = feature_table(embeddings)
    _require(
        len(features) == len(responses.questions),
        f"{len(responses.questions)} questions need as many rows of embeddings, not {len(features)}",
    )
    _require_answers(responses)
    has_responses = ~np.isnan(responses.values).all(axis=1)
    return responses.values[has_responses], features[has_responses]


def _require_answers(responses: Responses) -> None:
    silent = np.isnan(responses.values).all(axis=0)
    _require(bool(len(responses.agents)), "a skill model needs one agent at least")
    if silent.any():
        name = responses.agents[int(silent.argmax())]
        message = f"the agent {name!r} has no response to learn from; leave it out, or add it later by with_agent(…)"
        raise InvalidValueError(message)
