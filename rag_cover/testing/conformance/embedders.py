"""What a model of embeddings owes its callers (`rag_cover.backends.Embedder`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag_cover.backends import Embedder
from rag_cover.testing.conformance.models import Answers, ModelTests

__all__ = ["EmbedderTests"]

_ALIKE = (
    ("How much is a heat pump?", "What does a heat pump cost?", "Who wrote Hamlet?"),
    ("The children are asleep.", "The kids are sleeping.", "The share price fell by ten percent."),
    ("Where can I park my car in the town?", "Parking places for cars in town", "Boil the eggs for six minutes."),
    ("Symptoms of influenza", "What are the signs of having the flu?", "The history of the violin"),
    ("Why do leaves turn yellow?", "The reason that leaves become yellow", "The rules of chess"),
)
"""(a text, one that means the same, one that does not)."""
_LENGTH_OFF = 1e-3  # half precision


class EmbedderTests(ModelTests[Embedder, str]):
    """Tests of an `Embedder`: subclass them under a name that begins with ``Test``, and give it as the fixture ``model``.

        class TestMyEmbedder(EmbedderTests):
            @pytest.fixture
            def model(self) -> Embedder:
                return MyEmbedder()

    Attributes:
        tolerated: the share of plain cases that may go wrong.
    """

    tolerated: float = 0.2

    def items(self) -> Sequence[str]:
        """Return texts of several lengths."""
        return ("Why is the sky blue?", "Bread", "The two children are asleep in their beds, and the dog before the door.")

    def odd_items(self, text: str) -> Sequence[str]:
        """Return the text, and one that holds it."""
        return (text, f"Bread {text}")

    def ask(self, model: Embedder, items: Sequence[str]) -> Answers:
        """Return the vector of each text."""
        return model.embed(items)

    def check(self, found: Answers, items: Sequence[str], about: str) -> None:
        """Fail unless these are vectors of unit length, one for each text."""
        assert isinstance(found, np.ndarray), f"embed returned a {type(found).__name__} for {about}; return an array"
        assert found.ndim == len(("texts", "dimensions")), (
            f"embed returned the shape {found.shape} for {about}; return (texts, dimensions), also where there are no texts"
        )
        assert len(found) == len(items), f"embed returned {len(found)} vectors for {about}, {len(items)} texts; return one each"
        assert np.issubdtype(found.dtype, np.floating), f"embed returned {found.dtype} for {about}; return float32"
        assert np.isfinite(found).all(), f"embed returned NaN or infinity for {about}; a blank text has a vector, too"
        assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=_LENGTH_OFF), (
            f"a vector is not of unit length for {about}; divide each vector by its length"
        )

    def test_all_texts_have_vectors_of_one_size(self, model: Embedder) -> None:
        """Vectors of different calls are compared."""
        sizes = {self._ask_checked(model, [item], "one text")[0].shape for item in self.items()}

        assert len(sizes) == 1, f"vectors have different sizes: {sorted(sizes)}; give them all the same dimensions"

    def test_texts_alike_in_meaning_are_nearer(self, model: Embedder) -> None:
        """Than texts about something else, in plain cases."""
        vectors = [self._ask_checked(model, case, "plain cases") for case in _ALIKE]
        wrong = [case[0] for case, (base, same, other) in zip(_ALIKE, vectors, strict=True) if base @ same <= base @ other]

        assert len(wrong) <= self.tolerated * len(_ALIKE), (
            f"for {len(wrong)} of {len(_ALIKE)} plain cases a text of another subject is as near as a paraphrase, "
            f"such as for {wrong[0]!r}; check the pooling and the prefix that the model was trained with"
        )
