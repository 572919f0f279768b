"""The weights of a packed judge, as floats: what was packed in bytes times its scales. Needs the package ``onnx``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

__all__ = ["read_weights"]

Floats = NDArray[np.float32]

_TABLES = frozenset({"kinds.w", "places.w"})


def read_weights(path: Path) -> dict[str, Floats]:
    """Read the weights of a ``judge.onnx`` by name: matrices ``.w`` as (outputs, inputs), biases ``.b``, norms' scales ``.g``.

    ``words`` is the table of (words, width), ``kinds.w`` and ``places.w`` are the other two.
    """
    arrays = {each.name: numpy_helper.to_array(each) for each in onnx.load(path).graph.initializer}
    floats = {name: values for name, values in arrays.items() if values.dtype == np.float32}
    found = {name: values.T if name.endswith(".w") and name not in _TABLES else values for name, values in floats.items()}
    found["words"] = arrays["words.q"].astype(np.float32) * floats["words.s"]
    for name, values in arrays.items():
        if name.startswith("layer") and name.endswith(".q"):
            product = name.removesuffix(".q")
            found[f"{product.removesuffix('.x')}.w"] = (values.astype(np.float32) * floats[f"{product}.s"]).T
    return {name: np.array(values, order="C") for name, values in found.items()}
