"""How the encoder's tables and matrix products are computed: in floats, or in bytes.

In bytes, each row x of activations and each column w of weights has its own scale (Zafrir et al., Q8BERT, 2019, §2, with
scales by row instead of by tensor, so that no row depends on the others of its batch):

    x ≈ s (q - z),  q in [0, 255],  s = max |x| / 127,  z = 128
    w ≈ t p,        p in [-64, 64], t = max |w| / 64
    x · w ≈ s t Σ (q - z) p

The sum is exact. Weights have 7 bits because processors without VNNI add two products in 16 bits, saturating:
2 · 255 · 64 < 2¹⁵.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from onnx import TensorProto

from rag_cover_embedded.training.graph import MICROSOFT, Graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEIGHT_LEVELS = 64
WORD_LEVELS = 127


@dataclass(frozen=True, slots=True)
class Rows:
    """A (rows, columns) matrix ready to be multiplied; in bytes: its bytes around ``zero`` and one scale a row."""

    name: str
    scale: str = ""
    zero: int = 0


class Arithmetic(Protocol):
    """How rows are looked up and multiplied."""

    def look_up_rows(self, graph: Graph, table: NDArray[np.float32], rows: str, name: str) -> str:
        """Take rows of a table."""

    def prepare_rows(self, graph: Graph, source: str, name: str, *, least: float | None = None) -> Rows:
        """Make a matrix ready for products; ``least`` is the lowest value it can hold, if that is near 0."""

    def product(self, graph: Graph, rows: Rows, weight: NDArray[np.float32], name: str) -> str:
        """Multiply rows with (outputs, columns) weights."""


class Floats:
    """Everything in fp32."""

    def look_up_rows(self, graph: Graph, table: NDArray[np.float32], rows: str, name: str) -> str:
        """Take rows of a table."""
        return graph.node("Gather", [graph.constant(f"{name}.w", table), rows], name)

    def prepare_rows(self, graph: Graph, source: str, name: str, *, least: float | None = None) -> Rows:  # noqa: ARG002  # the protocol's
        """Return the matrix as it is."""
        return Rows(source)

    def product(self, graph: Graph, rows: Rows, weight: NDArray[np.float32], name: str) -> str:
        """Multiply rows with weights."""
        return graph.node("MatMul", [rows.name, graph.constant(f"{name}.w", weight.T)], name)


class Bytes:
    """Words, weights and activations in 8 bits."""

    def look_up_rows(self, graph: Graph, table: NDArray[np.float32], rows: str, name: str) -> str:
        """Take rows of a table whose rows have a scale each."""
        levels, scales = quantise_rows(table, WORD_LEVELS)
        found = graph.node("Gather", [graph.constant(f"{name}.q", levels, np.int8), rows], f"{name}.q.rows")
        scale = graph.node("Gather", [graph.constant(f"{name}.s", scales[:, None]), rows], f"{name}.s.rows")
        return graph.node("Mul", [graph.node("Cast", [found], f"{name}.levels", to=TensorProto.FLOAT), scale], name)

    def prepare_rows(self, graph: Graph, source: str, name: str, *, least: float | None = None) -> Rows:
        """Quantise a matrix by row.

        Around 128; values that are never far below 0 use nearly all bytes for what is above.
        """
        zero = 128 if least is None else 16
        absolute = source if least is not None else graph.node("Abs", [source], f"{name}.abs")
        peak = graph.node("ReduceMax", [absolute, graph.index(-1)], f"{name}.peak.any", keepdims=0)
        peak = graph.node(
            "Reshape", [peak, graph.full_name("rows")], f"{name}.peak", allowzero=1
        )  # where there are no rows, too
        scale = graph.node("Mul", [peak, graph.constant(f"step{zero}", np.float32(1 / (255 - zero)))], f"{name}.s")
        if least is not None:
            scale = graph.node("Max", [scale, graph.constant("step.least", np.float32(-least / zero))], f"{name}.s.least")
        levels = graph.node("QuantizeLinear", [source, scale, self._zeros(graph, zero)], f"{name}.q", axis=0)
        return Rows(levels, graph.node("Unsqueeze", [scale, graph.index(1)], f"{name}.s.column"), zero)

    @staticmethod
    def _zeros(graph: Graph, zero: int) -> str:
        """Return the zero point, once for each row: `QuantizeLinear` asks for as many as scales."""
        name = f"zeros{zero}"
        if graph.full_name(name) not in graph.nodes:
            graph.node("Expand", [graph.constant(f"{name}.each", [zero], np.uint8), graph.full_name("rows")], name)
        return graph.full_name(name)

    def product(self, graph: Graph, rows: Rows, weight: NDArray[np.float32], name: str) -> str:
        """Multiply bytes with bytes, then scale each row."""
        levels, scales = quantise_rows(weight, WEIGHT_LEVELS)
        inputs = [
            rows.name,
            graph.constant(f"{name}.q", levels.T, np.int8),
            graph.constant("one", np.float32(1)),
            graph.constant(f"{name}.s", scales),
            graph.constant(f"zero{rows.zero}", np.uint8(rows.zero), np.uint8),
        ]
        unscaled = graph.node("MatMulIntegerToFloat", inputs, f"{name}.x", domain=MICROSOFT)
        return graph.node("Mul", [unscaled, rows.scale], name)


def quantise_rows(matrix: NDArray[np.float32], most: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Quantise each row to whole numbers from ``-most`` to ``most``: (rows, columns) levels, (rows,) scales.

    >>> levels, scales = quantise_rows(np.array([[0.5, -1.0, 0.26]], dtype=np.float32), 2)
    >>> levels.tolist(), scales.tolist()
    ([[1, -2, 1]], [0.5])
    """
    scales = np.maximum(np.abs(matrix).max(axis=1) / most, 1e-12).astype(np.float32)
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales
