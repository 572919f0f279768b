"""The file the judge ships as: one ONNX graph, written node by node.

Matrix products of the encoder and its word vectors are in bytes (`arithmetic`); layer norms, biases, attention and heads stay
fp32. Every row of activations has its own scale, so a text's result does not depend on the batch it stands in.

Inside, rows stand token by token, not text by text: so the heads of attention are read and multiplied where they lie, and the
leading tokens of a batch, which the heads of pairs read, are its first rows. The last layer is computed for those alone, and
for the other tokens of those texts only whose answer or reply has a logit of at least the input ``least``.
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
    "whole": ("chosen",),
    "tokens": ("chosen", "length", WIDTH),
    "embedding": ("chosen", WIDTH),
    "entailment": ("batch", 3),
    "answers": ("batch", 1),
    "replies": ("batch", 1),
    "abstention": ("batch", 3),
    "correct": ("batch", 1),
    "span": ("chosen", "length", 2),
    "relevance": ("chosen", "length", 1),
}
_LOWEST_GELU = -0.17
_MASKED = -1e9


def export(network: JudgeNetwork, path: Path, arithmetic: Arithmetic | None = None) -> None:
    """Write the network as ONNX, in bytes by default; see `OUTPUTS` for what it returns."""
    arithmetic = arithmetic or Bytes()
    graph = Graph()
    hidden = _embeddings(graph, arithmetic, network)
    _mask(graph)
    *layers, last = network.encoder.encoder.layer
    for number, layer in enumerate(layers):
        hidden = _encoder_layer(graph, arithmetic, layer, hidden, f"layer{number}")
    name = f"layer{len(layers)}"
    lead, first = _first_tokens(graph, hidden)
    _pair_outputs(graph, network, _encoder_layer(graph, arithmetic, last, hidden, name, asking=(lead, first)))
    whole, rows = _whole_texts(graph, hidden)
    _token_outputs(whole, network, _encoder_layer(whole, arithmetic, last, rows, name))
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in ("ids", "segments")]
    inputs.append(helper.make_tensor_value_info("mask", TensorProto.INT32, ["batch", "length"]))
    inputs.append(helper.make_tensor_value_info("features", TensorProto.FLOAT, ["batch", len(FEATURES)]))
    inputs.append(helper.make_tensor_value_info("least", TensorProto.FLOAT, ["batch"]))
    kinds = {"whole": TensorProto.INT64}
    outputs = [
        helper.make_tensor_value_info(name, kinds.get(name, TensorProto.FLOAT), list(shape)) for name, shape in OUTPUTS.items()
    ]
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
    words = arithmetic.look_up_rows(graph, vectors, ids, "words")
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


def _encoder_layer(
    graph: Graph,
    arithmetic: Arithmetic,
    layer: nn.Module,
    source: str,
    name: str,
    *,
    asking: tuple[Graph, str] | None = None,
) -> str:
    """Compute one layer for all rows, or for those only that ``asking`` names, with the graph that knows their shapes."""
    own, asked = asking or (graph, source)
    attended = _attention(graph, arithmetic, layer.attention.self, source, name, (own, asked))
    mixing, widening, narrowing = layer.attention.output.dense, layer.intermediate.dense, layer.output.dense
    values = array(mixing.weight) @ array(layer.attention.self.value.bias)  # the weights of attention add up to 1
    rows = arithmetic.prepare_rows(own, attended, f"{name}.mixed.in")
    mixed = _linear(own, arithmetic, rows, (array(mixing.weight), array(mixing.bias) + values), f"{name}.mixed")
    first = own.norm(own.node("Add", [mixed, asked], f"{name}.sum1"), layer.attention.output.LayerNorm, f"{name}.norm1")
    rows = arithmetic.prepare_rows(own, first, f"{name}.wide.in")
    wide = arithmetic.product(own, rows, array(widening.weight), f"{name}.wide")
    bias = own.constant(f"{name}.wide.b", array(widening.bias))
    curved = own.node("FastGelu", [wide, bias], f"{name}.gelu", domain=MICROSOFT)
    rows = arithmetic.prepare_rows(own, curved, f"{name}.narrow.in", least=_LOWEST_GELU)
    narrow = _linear(own, arithmetic, rows, (array(narrowing.weight), array(narrowing.bias)), f"{name}.narrow")
    return own.norm(own.node("Add", [narrow, first], f"{name}.sum2"), layer.output.LayerNorm, f"{name}.norm2")


def _attention(
    graph: Graph, arithmetic: Arithmetic, layer: nn.Module, source: str, name: str, asking: tuple[Graph, str]
) -> str:
    """Attend without the biases of keys, which softmax cancels, and of values, which the caller adds."""
    own, asked = asking
    rows = arithmetic.prepare_rows(graph, source, f"{name}.attention.in")
    asked_rows = rows if asked == source else arithmetic.prepare_rows(own, asked, f"{name}.asked.in")
    query = _linear(own, arithmetic, asked_rows, (array(layer.query.weight), array(layer.query.bias)), f"{name}.query")
    key = arithmetic.product(graph, rows, array(layer.key.weight), f"{name}.key")
    value = arithmetic.product(graph, rows, array(layer.value.weight), f"{name}.value")
    query = _by_head(own, query, f"{name}.query.heads")
    key, value = _by_head(graph, key, f"{name}.key.heads"), _by_head(graph, value, f"{name}.value.heads")
    scale = (WIDTH // HEADS) ** -0.5
    scores = own.node(
        "FusedMatMul", [query, key], f"{name}.scores", domain=MICROSOFT, transBatchA=1, transBatchB=1, transB=1, alpha=scale
    )
    masked = own.node("Add", [scores, own.full_name("masking")], f"{name}.masked")
    weights = own.node("Softmax", [masked], f"{name}.weights", axis=-1)
    attended = own.node("FusedMatMul", [weights, value], f"{name}.attended", domain=MICROSOFT, transBatchB=1)
    by_token = own.node("Transpose", [attended], f"{name}.attended.by_token", perm=[2, 0, 1, 3])
    return own.node("Reshape", [by_token, "by_row"], f"{name}.attended.rows")


def _by_head(graph: Graph, rows: str, name: str) -> str:
    return graph.node("Reshape", [rows, graph.full_name("by_head")], name, allowzero=1)


def _linear(
    graph: Graph, arithmetic: Arithmetic, rows: Rows, layer: tuple[NDArray[np.float32], NDArray[np.float32]], name: str
) -> str:
    weight, bias = layer
    return graph.add_bias(arithmetic.product(graph, rows, weight, f"{name}.x"), bias, name)


def _first_tokens(graph: Graph, hidden: str) -> tuple[Graph, str]:
    """Take the first row of each text."""
    lead = graph.within("lead.")
    texts = lead.node("Slice", ["size", graph.index(1), graph.index(2)], "rows")
    lead.node("Concat", [graph.index(1), texts, "heads"], "by_head", axis=0)
    lead.node("Identity", ["masking.row"], "masking")
    return lead, lead.node("Slice", [hidden, graph.index(0), texts], "hidden")


def _whole_texts(graph: Graph, hidden: str) -> tuple[Graph, str]:
    """Take all rows of the texts whose logit is at least ``least``; the output ``whole`` numbers them."""
    whole = graph.within("whole.")
    logits = whole.node("Squeeze", [whole.node("Max", ["answers", "replies"], "logits"), graph.index(1)], "logits.row")
    likely = whole.node("NonZero", [whole.node("GreaterOrEqual", [logits, "least"], "likely")], "likely.row")
    chosen = graph.node("Squeeze", [likely, graph.index(0)], "whole")
    by_token = whole.node("Reshape", [hidden, "by_token"], "hidden.all")
    taken = whole.node("Gather", [by_token, chosen], "hidden.chosen", axis=1)
    size = whole.node("Slice", [whole.node("Shape", [taken], "shape"), graph.index(0), graph.index(2)], "size")
    whole.node("ReduceProd", [size], "rows", keepdims=1)
    whole.node("Concat", [size, "heads"], "by_head", axis=0)
    whole.node("Concat", [size, graph.index(WIDTH)], "by_token", axis=0)
    whole.node("Gather", ["masking", chosen], "masking", axis=0)
    whole.node("Gather", ["real", chosen], "real", axis=0)
    return whole, whole.node("Reshape", [taken, "by_row"], "hidden")


def _pair_outputs(graph: Graph, network: JudgeNetwork, lead: str) -> None:
    for name in ("entailment", "answers", "replies", "abstention"):
        graph.head(lead, getattr(network, name), name)
    graph.head(graph.node("Concat", [lead, "features"], "lead+features", axis=1), network.correct, "correct")


def _token_outputs(graph: Graph, network: JudgeNetwork, hidden: str) -> None:
    by_token = graph.node("Reshape", [hidden, graph.full_name("by_token")], "hidden.by_token", allowzero=1)
    out = graph.within("")
    out.node("Transpose", [by_token], "tokens", perm=[1, 0, 2])
    for name in ("span", "relevance"):
        out.linear("tokens", getattr(network, name), name)
    kept = graph.node(
        "Mul", ["tokens", graph.node("Unsqueeze", [graph.full_name("real"), graph.index(2)], "real.column")], "kept"
    )
    total = graph.node("ReduceSum", [kept, graph.index(1)], "summed", keepdims=0)
    out.node("Div", [total, graph.node("ReduceL2", [total, graph.index(1)], "norm", keepdims=1)], "embedding")
