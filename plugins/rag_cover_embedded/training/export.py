"""The file the judge ships as: one ONNX graph with int8 weights, written node by node.

Weights of linear layers are quantised in blocks of 32 along the input (symmetric, one scale a block); at run time
activations are quantised for each row and block, so a row's result does not depend on the batch it stands in. Word vectors
are quantised one row at a time. Layer norms, biases and heads stay fp32.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from rag_cover_embedded.training.network import TASK_TOKENS, WIDTH, JudgeNetwork

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import nn

HEADS = 12
BLOCK = 32
OUTPUTS = {
    "tokens": ("batch", "length", WIDTH),
    "embedding": ("batch", WIDTH),
    "entailment": ("batch", 3),
    "answers": ("batch", 1),
    "correct": ("batch", 1),
    "span": ("batch", "length", 2),
}
_MICROSOFT = "com.microsoft"


@dataclass(slots=True)
class Graph:
    """A graph under construction: nodes and constants, each result named as it is made."""

    quantised: bool
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def constant(self, name: str, array: NDArray[Any]) -> str:
        """Add a constant and return its name."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, kind: str, inputs: Sequence[str], name: str, *, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output and return the output's name."""
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, domain=domain, **attributes))
        return name

    def linear(self, source: str, layer: nn.Linear | tuple[NDArray[Any], NDArray[Any]], name: str) -> str:
        """Add x @ W.T + b, quantised or not."""
        weight, bias = layer if isinstance(layer, tuple) else (_array(layer.weight), _array(layer.bias))
        if self.quantised:
            packed, scales = quantised_blocks(weight)
            inputs = [source, self.constant(f"{name}.q", packed), self.constant(f"{name}.s", scales)]
            rows, columns = weight.shape
            product = self.node(
                "MatMulNBits",
                inputs,
                f"{name}.x",
                domain=_MICROSOFT,
                K=columns,
                N=rows,
                bits=8,
                block_size=BLOCK,
                accuracy_level=4,
            )
        else:
            product = self.node("MatMul", [source, self.constant(f"{name}.w", weight.T)], f"{name}.x")
        return self.node("Add", [product, self.constant(f"{name}.b", bias)], name)

    def head(self, source: str, layers: nn.Sequential, name: str) -> str:
        """Add a two-layer head in fp32."""
        hidden = self.node("Tanh", [self._plain(source, layers[0], f"{name}.hidden")], f"{name}.tanh")
        return self._plain(hidden, layers[3], name)

    def _plain(self, source: str, layer: nn.Linear, name: str) -> str:
        product = self.node("MatMul", [source, self.constant(f"{name}.w", _array(layer.weight).T)], f"{name}.x")
        return self.node("Add", [product, self.constant(f"{name}.b", _array(layer.bias))], name)

    def norm(self, source: str, layer: nn.LayerNorm, name: str) -> str:
        """Add a layer norm."""
        scale, shift = self.constant(f"{name}.g", _array(layer.weight)), self.constant(f"{name}.b", _array(layer.bias))
        return self.node("LayerNormalization", [source, scale, shift], name, axis=-1, epsilon=layer.eps)


def quantised_blocks(weight: NDArray[np.float32]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Quantise (out, in) weights in blocks along the input: bytes (out, blocks, 32) around 128, scales (out * blocks,)."""
    rows, columns = weight.shape
    blocks = weight.reshape(rows, columns // BLOCK, BLOCK)
    scales = np.maximum(np.abs(blocks).max(axis=-1) / 127, 1e-12).astype(np.float32)
    levels = np.clip(np.rint(blocks / scales[..., None]), -127, 127) + 128
    return levels.astype(np.uint8), scales.reshape(-1)


def export(network: JudgeNetwork, path: Path, *, quantised: bool = True) -> None:
    """Write the network as ONNX; see `OUTPUTS` for what it returns."""
    graph = Graph(quantised)
    hidden = _embeddings(graph, network)
    for number, layer in enumerate(network.encoder.encoder.layer):
        hidden = _encoder_layer(graph, layer, hidden, f"layer{number}")
    _outputs(graph, network, hidden)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in ("ids", "segments")]
    inputs.append(helper.make_tensor_value_info("mask", TensorProto.INT32, ["batch", "length"]))
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)) for name, shape in OUTPUTS.items()]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(_MICROSOFT, 1)]
    body = helper.make_graph(graph.nodes, "rag_cover_judge", inputs, outputs, graph.constants)
    onnx.save(helper.make_model(body, opset_imports=opsets, ir_version=9, producer_name="rag_cover"), path)


def _embeddings(graph: Graph, network: JudgeNetwork) -> str:
    table = network.encoder.embeddings
    words = _array(table.word_embeddings.weight).copy()
    words[1:TASK_TOKENS] = _array(network.task_vectors)[1:]  # the task tokens' own vectors
    if graph.quantised:
        scales = np.maximum(np.abs(words).max(axis=1, keepdims=True) / 127, 1e-12).astype(np.float32)
        rows = graph.node("Gather", [graph.constant("words.q", np.rint(words / scales).astype(np.int8)), "ids"], "words.rows")
        levels = graph.node("Cast", [rows], "words.levels", to=TensorProto.FLOAT)
        scale = graph.node("Gather", [graph.constant("words.s", scales), "ids"], "words.scale")
        graph.node("Mul", [levels, scale], "words")
    else:
        graph.node("Gather", [graph.constant("words.w", words), "ids"], "words")
    kinds = graph.node(
        "Gather", [graph.constant("segments.w", _array(table.token_type_embeddings.weight)), "segments"], "kinds"
    )
    graph.node("Slice", [graph.node("Shape", ["ids"], "shape"), _index(graph, 1), _index(graph, 2)], "length")
    places = graph.constant("places.w", _array(table.position_embeddings.weight))
    place = graph.node("Slice", [places, _index(graph, 0), "length"], "places")
    total = graph.node("Add", [graph.node("Add", ["words", kinds], "words+kinds"), place], "embedded")
    return graph.norm(total, table.LayerNorm, "embedded.norm")


def _index(graph: Graph, value: int) -> str:
    name = f"index{value}"
    if not any(constant.name == name for constant in graph.constants):
        graph.constant(name, np.array([value], dtype=np.int64))
    return name


def _encoder_layer(graph: Graph, layer: nn.Module, source: str, name: str) -> str:
    attention = layer.attention.self
    parts = (attention.query, attention.key, attention.value)
    weight = np.concatenate([_array(part.weight) for part in parts])
    bias = np.concatenate([_array(part.bias) for part in parts])
    joined = graph.linear(source, (weight, bias), f"{name}.qkv")
    names = [f"{name}.{part}" for part in ("query", "key", "value")]
    thirds = graph.constant(f"{name}.thirds", np.array([WIDTH] * 3, dtype=np.int64))
    graph.nodes.append(helper.make_node("Split", [joined, thirds], names, axis=-1))
    attended = graph.node(
        "MultiHeadAttention",
        [*names, "", "mask"],
        f"{name}.attended",
        domain=_MICROSOFT,
        num_heads=HEADS,
        mask_filter_value=-1e9,
    )
    mixed = graph.linear(attended, layer.attention.output.dense, f"{name}.mixed")
    first = graph.norm(graph.node("Add", [mixed, source], f"{name}.sum1"), layer.attention.output.LayerNorm, f"{name}.norm1")
    wide = graph.node(
        "Gelu", [graph.linear(first, layer.intermediate.dense, f"{name}.wide")], f"{name}.gelu", domain=_MICROSOFT
    )
    narrow = graph.linear(wide, layer.output.dense, f"{name}.narrow")
    return graph.norm(graph.node("Add", [narrow, first], f"{name}.sum2"), layer.output.LayerNorm, f"{name}.norm2")


def _outputs(graph: Graph, network: JudgeNetwork, hidden: str) -> None:
    graph.node("Identity", [hidden], "tokens")
    axis = _index(graph, 1)
    lead = graph.node("Squeeze", [graph.node("Slice", [hidden, _index(graph, 0), axis, axis], "lead.row"), axis], "lead")
    for name in ("entailment", "answers", "correct"):
        graph.head(lead, getattr(network, name), name)
    graph._plain(hidden, network.span, "span")  # noqa: SLF001  # the graph is this module's own
    real = graph.node("Unsqueeze", [graph.node("Cast", ["mask"], "mask.float", to=TensorProto.FLOAT), _index(graph, 2)], "real")
    total = graph.node("ReduceSum", [graph.node("Mul", [hidden, real], "kept"), axis], "summed", keepdims=0)
    length = graph.node("ReduceL2", [total], "norm", axes=[1], keepdims=1)
    graph.node("Div", [total, length], "embedding")


def _array(parameter: torch.Tensor) -> NDArray[np.float32]:
    return parameter.detach().float().numpy()
