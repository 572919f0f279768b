"""Products of small integers by onnxruntime: exact, so equal rows score equally wherever they stand, and four times as dense.

A real vector is written in balanced digits to the base 127, q ≈ step · Σ_k 127^k · d_k with -63 ≤ d_k ≤ 63; a product with
whole numbers is then the sum of its digits' products. A digit has seven bits, since processors without VNNI add pairs of
products of bytes in 16 bits. The graph is one MatMulInteger (ONNX, operator set 10), written here as the protocol buffer that
it is: no package that writes such files is needed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rag_cover_embedded.runtime import onnxruntime

__all__ = ["BASE", "IntegerProducts", "split_digits"]

BASE = 127
_MIDDLE = 64
"""What an unsigned byte holds for 0."""
_UINT8, _INT8, _INT32 = 2, 3, 6


def split_digits(values: NDArray[np.floating], count: int) -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Write (rows, width) numbers as (count, rows, width) digits, highest first, and the (rows,) steps of the lowest.

    >>> digits, steps = split_digits(np.array([[1.0, -0.5, 0.0]]), 2)
    >>> digits.tolist(), (1 / steps).tolist()
    ([[[63, -32, 0]], [[63, 32, 0]]], [8064.0])
    """
    largest = (BASE**count - 1) // 2
    steps = np.maximum(np.abs(values).max(axis=1), 1e-12).astype(np.float64) / largest
    rest = np.rint(values / steps[:, None]).astype(np.int64)
    digits = np.empty((count, *values.shape), dtype=np.int8)
    for place in reversed(range(count)):
        digits[place] = (rest + BASE // 2) % BASE - BASE // 2
        rest = (rest - digits[place]) // BASE
    return digits, steps


class IntegerProducts:
    """Multiplies (m, width) bytes by (width, n) signed bytes, on one thread. Thread-safe.

    Where ``others`` are given they are packed once, and the rows are numbers from -64 to 63; else rows are 0 or more.
    """

    def __init__(self, others: NDArray[np.int8] | None = None) -> None:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1
        if others is not None:
            # read where it is, so it must stay
            self._held = onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(others))
            options.add_external_initializers(["others"], [self._held])
        self._session = onnxruntime.InferenceSession(_graph(others), options, providers=["CPUExecutionProvider"])

    def with_packed(self, rows: NDArray[np.int8]) -> NDArray[np.int32]:
        """Multiply signed rows by what was packed."""
        found: NDArray[np.int32] = self._session.run(None, {"rows": (rows.astype(np.int16) + _MIDDLE).astype(np.uint8)})[0]
        return found

    def multiply(self, rows: NDArray[np.uint8], others: NDArray[np.int8]) -> NDArray[np.int32]:
        """Multiply unsigned rows by others."""
        found: NDArray[np.int32] = self._session.run(None, {"rows": rows, "others": others})[0]
        return found


def _graph(others: NDArray[np.int8] | None) -> bytes:
    """Write the model: its format's version, its graph, its operator set (fields 1, 7 and 8 of a ModelProto)."""
    inputs = ["rows", "others"] + ["middle"] * (others is not None)
    node = b"".join(_field(1, name.encode()) for name in inputs) + _field(2, b"products") + _field(4, b"MatMulInteger")
    graph = _field(1, node) + _field(2, b"products") + _field(11, _declare("rows", _UINT8))
    if others is None:
        graph += _field(11, _declare("others", _INT8))
    else:
        graph += _field(5, _tensor("middle", _UINT8, (), bytes([_MIDDLE])))
        elsewhere = _field(1, b"location") + _field(2, b"memory")
        graph += _field(5, _tensor("others", _INT8, others.shape) + _field(13, elsewhere) + _number(14, 1))
    graph += _field(12, _declare("products", _INT32))
    return _number(1, 8) + _field(7, graph) + _field(8, _field(1, b"") + _number(2, 10))


def _declare(name: str, kind: int) -> bytes:
    """Declare an input or output: its name, and a tensor of two dimensions of any size."""
    shape = _field(2, _field(1, b"") * 2)
    return _field(1, name.encode()) + _field(2, _field(1, _number(1, kind) + shape))


def _tensor(name: str, kind: int, shape: tuple[int, ...], content: bytes | None = None) -> bytes:
    """Write a constant; without content it is to be found elsewhere."""
    written = b"".join(_number(1, size) for size in shape) + _number(2, kind) + _field(8, name.encode())
    return written if content is None else written + _field(9, content)


def _field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return bytes([number << 3]) + _varint(value)


def _varint(value: int) -> bytes:
    """Write a whole number in groups of seven bits, lowest first; all but the last have the eighth bit set."""
    groups = bytearray()
    while value > 127:  # noqa: PLR2004  # what seven bits hold
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])
