"""The file the judge ships as: one ONNX graph, written node by node.

Matrix products of the encoder and its word vectors are in bytes (`arithmetic`); layer norms, biases, attention and heads stay
fp32. Every row of activations has its own scale, so a text's result does not depend on the batch it stands in.

Inside, rows stand token by token, not text by text: so the heads of attention are read and multiplied where they lie.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper

from rag_cover_embedded.features import FEATURES
from rag_cover_embedded.training.arithmetic import Arithmetic, Bytes, Rows
from rag_cover_embedded.training.graph import MICROSOFT, Graph, array
from rag_cover_embedded.training.network import TASK_TOKENS, WIDTH, JudgeNetwork

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import nn

HEADS = 12
OUTPUTS = {
    "tokens": ("batch", "length", WIDTH),
    "embedding": ("batch", WIDTH),
    "entailment": ("batch", 3),
    "answers": ("batch", 1),
    "replies": ("batch", 1),
    "abstention": ("batch", 3),
    "correct": ("batch", 1),
    "span": ("batch", "length", 2),
    "relevance": ("batch", "length", 1),
}
_LOWEST_GELU = -0.17
_MASKED = -1e9


def export(network: JudgeNetwork, path: Path, arithmetic: Arithmetic | None = None) -> None:
    """Write the network as ONNX, in bytes unless told otherwise; see `OUTPUTS` for what it returns."""
    arithmetic = arithmetic or Bytes()
    graph = Graph()
    hidden = _embeddings(graph, arithmetic, network)
    _mask(graph)
    for number, layer in enumerate(network.encoder.encoder.layer):
        hidden = _encoder_layer(graph, arithmetic, layer, hidden, f"layer{number}")
    _outputs(graph, network, hidden)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in ("ids", "segments")]
    inputs.append(helper.make_tensor_value_info("mask", TensorProto.INT32, ["batch", "length"]))
    inputs.append(helper.make_tensor_value_info("features", TensorProto.FLOAT, ["batch", len(FEATURES)]))
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)) for name, shape in OUTPUTS.items()]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid(MICROSOFT, 1)]
    body = helper.make_graph(list(graph.nodes.values()), "rag_cover_judge", inputs, outputs, list(graph.constants.values()))
    onnx.save(helper.make_model(body, opset_imports=opsets, ir_version=10, producer_name="rag_cover"), path)


def _embeddings(graph: Graph, arithmetic: Arithmetic, network: JudgeNetwork) -> str:
    """Look up (length, batch) tokens, make them rows, and name the shapes between which the graph changes."""
    ids, segments = (graph.node("Transpose", [name], f"{name}.by_token", perm=[1, 0]) for name in ("ids", "segments"))
    size = graph.node("Shape", [ids], "size")
    graph.node("ReduceProd", [size], "rows", keepdims=1)
    graph.node("Concat", [size, graph.index(WIDTH)], "by_token", axis=0)
    graph.node("Concat", [size, graph.constant("heads", [HEADS, WIDTH // HEADS], np.int64)], "by_head", axis=0)
    graph.constant("by_row", [-1, WIDTH], np.int64)
    table = network.encoder.embeddings
    vectors = array(table.word_embeddings.weight).copy()
    vectors[1:TASK_TOKENS] = array(network.task_vectors)[1:]  # the task tokens' own vectors
    words = arithmetic.looked_up(graph, vectors, ids, "words")
    kind = graph.node("Gather", [graph.constant("kinds.w", array(table.token_type_embeddings.weight)), segments], "kinds")
    length = graph.node("Slice", [size, graph.index(0), graph.index(1)], "length")
    places = graph.constant("places.w", array(table.position_embeddings.weight)[:, None])
    place = graph.node("Slice", [places, graph.index(0), length], "places")
    total = graph.node("Add", [graph.node("Add", [words, kind], "words+kinds"), place], "embedded")
    return graph.norm(graph.node("Reshape", [total, "by_row"], "embedded.rows"), table.LayerNorm, "embedded.norm")


def _mask(graph: Graph) -> None:
    """Make what is added to scores, (batch, 1, length, length): 0 for real tokens."""
    real = graph.node("Cast", ["mask"], "real", to=TensorProto.FLOAT)
    padding = graph.node("Sub", [graph.constant("one", np.float32(1)), real], "padding")
    added = graph.node("Mul", [padding, graph.constant("masked", np.float32(_MASKED))], "masking.tokens")
    added = graph.node("Unsqueeze", [added, graph.constant("middle", [1, 2], np.int64)], "masking.row")
    shape = graph.node("Concat", [graph.index(1), graph.index(1), "length", graph.index(1)], "masking.shape", axis=0)
    graph.node("Expand", [added, shape], "masking")


def _encoder_layer(graph: Graph, arithmetic: Arithmetic, layer: nn.Module, source: str, name: str) -> str:
    attended = _attention(graph, arithmetic, layer.attention.self, source, name)
    mixing, widening, narrowing = layer.attention.output.dense, layer.intermediate.dense, layer.output.dense
    values = array(mixing.weight) @ array(layer.attention.self.value.bias)  # the weights of attention add up to 1
    rows = arithmetic.prepared(graph, attended, f"{name}.mixed.in")
    mixed = _linear(graph, arithmetic, rows, (array(mixing.weight), array(mixing.bias) + values), f"{name}.mixed")
    first = graph.norm(graph.node("Add", [mixed, source], f"{name}.sum1"), layer.attention.output.LayerNorm, f"{name}.norm1")
    rows = arithmetic.prepared(graph, first, f"{name}.wide.in")
    wide = arithmetic.product(graph, rows, array(widening.weight), f"{name}.wide")
    bias = graph.constant(f"{name}.wide.b", array(widening.bias))
    curved = graph.node("FastGelu", [wide, bias], f"{name}.gelu", domain=MICROSOFT)
    rows = arithmetic.prepared(graph, curved, f"{name}.narrow.in", least=_LOWEST_GELU)
    narrow = _linear(graph, arithmetic, rows, (array(narrowing.weight), array(narrowing.bias)), f"{name}.narrow")
    return graph.norm(graph.node("Add", [narrow, first], f"{name}.sum2"), layer.output.LayerNorm, f"{name}.norm2")


def _attention(graph: Graph, arithmetic: Arithmetic, layer: nn.Module, source: str, name: str) -> str:
    """Attend without the biases of keys, which softmax cancels, and of values, which the caller adds."""
    rows = arithmetic.prepared(graph, source, f"{name}.attention.in")
    parts = [
        _linear(graph, arithmetic, rows, (array(layer.query.weight), array(layer.query.bias)), f"{name}.query"),
        arithmetic.product(graph, rows, array(layer.key.weight), f"{name}.key"),
        arithmetic.product(graph, rows, array(layer.value.weight), f"{name}.value"),
    ]
    query, key, value = (graph.node("Reshape", [part, "by_head"], f"{part}.heads") for part in parts)
    scale = (WIDTH // HEADS) ** -0.5
    scores = graph.node(
        "FusedMatMul", [query, key], f"{name}.scores", domain=MICROSOFT, transBatchA=1, transBatchB=1, transB=1, alpha=scale
    )
    weights = graph.node("Softmax", [graph.node("Add", [scores, "masking"], f"{name}.masked")], f"{name}.weights", axis=-1)
    attended = graph.node("FusedMatMul", [weights, value], f"{name}.attended", domain=MICROSOFT, transBatchB=1)
    by_token = graph.node("Transpose", [attended], f"{name}.attended.by_token", perm=[2, 0, 1, 3])
    return graph.node("Reshape", [by_token, "by_row"], f"{name}.attended.rows")


def _linear(
    graph: Graph, arithmetic: Arithmetic, rows: Rows, layer: tuple[NDArray[np.float32], NDArray[np.float32]], name: str
) -> str:
    weight, bias = layer
    return graph.biased(arithmetic.product(graph, rows, weight, f"{name}.x"), bias, name)


def _outputs(graph: Graph, network: JudgeNetwork, hidden: str) -> None:
    by_token = graph.node("Reshape", [hidden, "by_token"], "hidden.by_token")
    lead = graph.node("Gather", [by_token, graph.constant("first", 0, np.int64)], "lead", axis=0)
    for name in ("entailment", "answers", "replies", "abstention"):
        graph.head(lead, getattr(network, name), name)
    graph.head(graph.node("Concat", [lead, "features"], "lead+features", axis=1), network.correct, "correct")
    graph.node("Transpose", [by_token], "tokens", perm=[1, 0, 2])
    for name in ("span", "relevance"):
        graph.linear("tokens", getattr(network, name), name)
    kept = graph.node("Mul", ["tokens", graph.node("Unsqueeze", ["real", graph.index(2)], "real.column")], "kept")
    total = graph.node("ReduceSum", [kept, graph.index(1)], "summed", keepdims=0)
    graph.node("Div", [total, graph.node("ReduceL2", [total, graph.index(1)], "norm", keepdims=1)], "embedding")
