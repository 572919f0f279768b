"""A graph of ONNX under construction, and the layers that are computed in fp32."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray
    from torch import Tensor, nn

MICROSOFT = "com.microsoft"


@dataclass(slots=True)
class Graph:
    """Nodes and constants, each result named as it is made.

    ``prefix`` stands before the names of nodes, so that the same layer can be computed twice with the same constants.
    """

    nodes: dict[str, NodeProto] = field(default_factory=dict)
    constants: dict[str, TensorProto] = field(default_factory=dict)
    prefix: str = ""

    def within(self, prefix: str) -> Graph:
        """Return the same graph under another prefix."""
        return Graph(self.nodes, self.constants, prefix)

    def full_name(self, name: str) -> str:
        """Return the full name of a node of this prefix."""
        return self.prefix + name

    def constant(self, name: str, values: ArrayLike, kind: type[np.generic] = np.float32) -> str:
        """Add a constant, once, and return its name."""
        if name not in self.constants:
            self.constants[name] = numpy_helper.from_array(np.array(values, dtype=kind, order="C"), name)
        return name

    def index(self, value: int) -> str:
        """Add a vector of one whole number, once, and return its name."""
        return self.constant(f"index{value}", [value], np.int64)

    def node(self, kind: str, inputs: Sequence[str], name: str, *, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output and return the output's name."""
        full = self.full_name(name)
        self.nodes[full] = helper.make_node(kind, list(inputs), [full], name=full, domain=domain, **attributes)
        return full

    def add_bias(self, product: str, bias: NDArray[np.float32], name: str) -> str:
        """Add a bias to each row."""
        return self.node("Add", [product, self.constant(f"{name}.b", bias)], name)

    def linear(self, source: str, layer: nn.Linear, name: str) -> str:
        """Add x Wᵀ + b."""
        product = self.node("MatMul", [source, self.constant(f"{name}.w", array(layer.weight).T)], f"{name}.x")
        return self.add_bias(product, array(layer.bias), name)

    def head(self, source: str, layers: nn.Sequential, name: str) -> str:
        """Add a head of two layers."""
        hidden = self.node("Tanh", [self.linear(source, layers[0], f"{name}.hidden")], f"{name}.tanh")
        return self.linear(hidden, layers[3], name)

    def norm(self, source: str, layer: nn.LayerNorm, name: str) -> str:
        """Add a layer norm."""
        scale, shift = self.constant(f"{name}.g", array(layer.weight)), self.constant(f"{name}.b", array(layer.bias))
        return self.node("LayerNormalization", [source, scale, shift], name, axis=-1, epsilon=layer.eps)


def array(parameter: Tensor) -> NDArray[np.float32]:
    """Return a parameter's values."""
    values: NDArray[np.float32] = parameter.detach().float().numpy()
    return values
