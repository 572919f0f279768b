"""The exported graph computes what the network computes: a small one with random weights, in floats and in bytes."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover_embedded.features import FEATURES

if TYPE_CHECKING:
    from rag_cover_embedded.training.network import JudgeNetwork

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

Feed = dict[str, NDArray[Any]]
Arrays = dict[str, NDArray[np.float32]]

LENGTHS = (40, 3, 17, 29, 40)
WORDS = 200


@pytest.fixture(scope="module")
def network() -> JudgeNetwork:
    """Make a network of two layers whose weights are large enough for every part to matter."""
    from rag_cover_embedded.training.network import JudgeNetwork

    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=WORDS, hidden_size=384, num_hidden_layers=2, num_attention_heads=12, intermediate_size=96
    )
    network: JudgeNetwork = JudgeNetwork(transformers.BertModel(config, add_pooling_layer=False)).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, mean=float(parameter.detach().mean()), std=0.1)
    return network


@pytest.fixture(scope="module")
def feed() -> Feed:
    """Make texts of several lengths, one of each task; the second half of each is segment 1."""
    rng = np.random.default_rng(0)
    real = np.arange(max(LENGTHS)) < np.array(LENGTHS)[:, None]
    ids = np.where(real, rng.integers(5, WORDS, real.shape), 0)
    ids[:, 0] = (101, 1, 2, 3, 4)
    segments = real & (np.arange(max(LENGTHS)) * 2 >= np.array(LENGTHS)[:, None])
    features = rng.random((len(LENGTHS), len(FEATURES)), dtype=np.float32)
    least = np.full(len(LENGTHS), -np.inf, dtype=np.float32)
    return {
        "ids": ids,
        "segments": segments.astype(np.int64),
        "mask": real.astype(np.int32),
        "features": features,
        "least": least,
    }


def _run(path: Path, feed: Feed) -> Arrays:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feed), strict=True))


@pytest.fixture(scope="module")
def in_bytes(network: JudgeNetwork, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from rag_cover_embedded.training.export import export

    path = tmp_path_factory.mktemp("bytes") / "judge.onnx"
    export(network, path)
    return path


@pytest.fixture(scope="module")
def in_floats(network: JudgeNetwork, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from rag_cover_embedded.training.arithmetic import Floats
    from rag_cover_embedded.training.export import export

    path = tmp_path_factory.mktemp("floats") / "judge.onnx"
    export(network, path, Floats())
    return path


@pytest.fixture(scope="module")
def wanted(network: JudgeNetwork, feed: Feed) -> Arrays:
    """Return what torch computes; padding counts as nothing."""
    from rag_cover_embedded.training.network import mean_pooled

    ids, segments, mask, features = (torch.from_numpy(feed[name]) for name in ("ids", "segments", "mask", "features"))
    with torch.inference_mode():
        tokens = network.token_vectors(ids, mask, segments)
        heads = {name: getattr(network, name)(tokens[:, 0]) for name in ("entailment", "answers", "replies", "abstention")}
        heads["correct"] = network.correct(torch.cat([tokens[:, 0], features], dim=-1))
        places = {name: getattr(network, name)(tokens) for name in ("span", "relevance")}
        found = {"tokens": tokens, "embedding": mean_pooled(tokens, mask), **heads, **places}
    return {name: array.numpy() for name, array in found.items()} | {"whole": np.arange(len(LENGTHS))}


def _apart(found: Arrays, wanted: Arrays, feed: Feed) -> dict[str, float]:
    """Return each output's root mean square difference, in standard deviations of what is wanted; padding left out."""
    real = feed["mask"].astype(bool)
    apart = {}
    for name, values in wanted.items():
        if name == "whole":
            continue
        one, other = (array[real] if array.ndim == 3 else array for array in (found[name], values))
        apart[name] = float(np.sqrt(np.mean((one - other) ** 2)) / other.std())
    return apart


def test_the_graph_has_every_output(in_bytes: Path, feed: Feed, wanted: Arrays) -> None:
    found = _run(in_bytes, feed)

    assert {name: array.shape for name, array in found.items()} == {name: array.shape for name, array in wanted.items()}


def test_in_floats_it_is_the_network(in_floats: Path, feed: Feed, wanted: Arrays) -> None:
    apart = _apart(_run(in_floats, feed), wanted, feed)

    assert max(apart.values()) < 1e-3, apart


def test_in_bytes_it_stays_close(in_bytes: Path, feed: Feed, wanted: Arrays) -> None:
    apart = _apart(_run(in_bytes, feed), wanted, feed)

    assert max(apart["tokens"], apart["embedding"]) < 0.1, apart
    assert max(apart.values()) < 0.3, apart  # five random texts: heads without training magnify


def test_bytes_take_a_quarter_of_the_place(in_bytes: Path, in_floats: Path) -> None:
    places = 512 * 384 * 4 + 5 * 384 * 384 * 4  # position vectors and heads stay as they are

    assert in_bytes.stat().st_size - places < 0.3 * (in_floats.stat().st_size - places)


def test_in_bytes_a_text_does_not_depend_on_its_batch_or_padding(in_bytes: Path, feed: Feed) -> None:
    together = _run(in_bytes, feed)

    for row, length in enumerate(LENGTHS):
        alone = _run(in_bytes, {name: _text(name, array, row, length) for name, array in feed.items()})
        for name, array in alone.items():
            if name == "whole":
                continue
            mine = together[name][row, :length] if array.ndim == 3 else together[name][row]
            assert np.abs(array[0] - mine).max() <= 1e-5, name


def _text(name: str, array: NDArray[Any], row: int, length: int) -> NDArray[Any]:
    return array[row : row + 1] if name in ("features", "least") else array[row : row + 1, :length]


@pytest.mark.parametrize("most", [0, 2, 5])
def test_only_texts_with_a_logit_high_enough_are_computed_whole(in_bytes: Path, feed: Feed, most: int) -> None:
    whole = _run(in_bytes, feed)
    logits = np.maximum(whole["answers"], whole["replies"])[:, 0]
    least = np.where(np.argsort(np.argsort(-logits)) < most, logits - 1e-3, logits + 1e-3).astype(np.float32)

    found = _run(in_bytes, feed | {"least": least})

    assert len(found["whole"]) == most
    for name in ("tokens", "embedding", "span", "relevance"):
        assert found[name].shape[0] == most
        assert np.allclose(found[name], whole[name][found["whole"]], atol=1e-5), name
    assert all(
        np.array_equal(found[name], whole[name]) for name in ("answers", "replies", "entailment", "correct", "abstention")
    )


def test_an_outlier_in_one_text_leaves_the_others_as_they_are(in_bytes: Path, feed: Feed) -> None:
    other = {name: array.copy() for name, array in feed.items()}
    other["ids"][0, 1:] = 7

    before, after = _run(in_bytes, feed), _run(in_bytes, other)

    assert np.abs(before["answers"][0] - after["answers"][0]).max() > 1e-3
    assert np.abs(before["answers"][1:] - after["answers"][1:]).max() <= 1e-5


def test_two_products_fit_in_16_bits() -> None:
    from rag_cover_embedded.training.arithmetic import WEIGHT_LEVELS

    assert 2 * 255 * WEIGHT_LEVELS < 2**15


def test_the_largest_weight_of_each_row_uses_the_last_level() -> None:
    from rag_cover_embedded.training.arithmetic import quantise_rows

    matrix = np.random.default_rng(0).normal(size=(5, 32)).astype(np.float32)

    levels, scales = quantise_rows(matrix, 64)

    assert np.abs(levels).max(axis=1).tolist() == [64] * 5
    assert np.abs(levels * scales[:, None] - matrix).max() <= scales.max() / 2 * 1.0001


def test_a_row_of_zeros_stays_zero() -> None:
    from rag_cover_embedded.training.arithmetic import quantise_rows

    levels, scales = quantise_rows(np.zeros((2, 8), dtype=np.float32), 64)

    assert not (levels * scales[:, None]).any()


def test_a_packed_network_comes_back_as_its_bytes_hold_it(network: JudgeNetwork, feed: Feed, tmp_path: Path) -> None:
    from rag_cover_embedded.training.export import export
    from rag_cover_embedded.training.network import JudgeNetwork
    from rag_cover_embedded.training.restoring import restore_weights

    export(network, tmp_path / "first.onnx")
    fresh = JudgeNetwork(transformers.BertModel(network.encoder.config, add_pooling_layer=False)).eval()
    with torch.no_grad():
        fresh.encoder.embeddings.word_embeddings.weight.copy_(network.encoder.embeddings.word_embeddings.weight)

    restore_weights(fresh, tmp_path / "first.onnx")
    export(fresh, tmp_path / "second.onnx")

    first, second = _run(tmp_path / "first.onnx", feed), _run(tmp_path / "second.onnx", feed)
    assert first.keys() == second.keys()
    assert all(np.allclose(first[name], second[name], atol=1e-5) for name in first)


@pytest.mark.parametrize("share", [0.0, 0.7, 1.0])
def test_the_mean_of_two_networks_lies_between_them(network: JudgeNetwork, tmp_path: Path, share: float) -> None:
    from rag_cover_embedded.training.export import export
    from rag_cover_embedded.training.network import JudgeNetwork
    from rag_cover_embedded.training.restoring import average_with_packed, restore_weights

    export(network, tmp_path / "packed.onnx")
    former = JudgeNetwork(transformers.BertModel(network.encoder.config, add_pooling_layer=False)).eval()
    restore_weights(former, tmp_path / "packed.onnx")
    later = {name: values + 1 if values.is_floating_point() else values for name, values in former.state_dict().items()}
    torch.save({"network": later}, tmp_path / "later.pt")

    average_with_packed(former, tmp_path / "packed.onnx", tmp_path / "later.pt", tmp_path / "mean.pt", share=share)

    mean = torch.load(tmp_path / "mean.pt", weights_only=True)["network"]
    weight = "encoder.encoder.layer.0.attention.self.query.weight"
    assert torch.allclose(mean[weight], former.state_dict()[weight] + share, atol=1e-5)


def test_a_head_for_places_fitted_anew_finds_them_and_changes_nothing_else(network: JudgeNetwork) -> None:
    from rag_cover_embedded.inputs import Task, join
    from rag_cover_embedded.training.span_head import fit_span_head
    from rag_cover_embedded.training.targets import Target

    pairs = [join(Task.ANSWERS, question, [*range(20, 32)]) for question in ((11, 12), (13, 14, 15))]
    targets = [Target(pair, Task.ANSWERS, 1.0, pair.start + 2, pair.start + 4 + 3 * row) for row, pair in enumerate(pairs)]
    own = copy.deepcopy(network)

    fit_span_head(own, targets, epochs=300)

    before, after = network.state_dict(), own.state_dict()
    assert {name for name in before if not torch.equal(before[name], after[name])} == {"span.weight", "span.bias"}
    for target in targets:
        ids = torch.tensor([target.encoded.ids])
        segments = (torch.arange(ids.shape[1]) >= target.encoded.start).long()[None]
        logits = own.span_logits(own.token_vectors(ids, torch.ones_like(ids), segments), torch.ones_like(ids), segments)
        assert logits[0, :, 0].argmax() == target.start
        assert logits[0, :, 1].argmax() == target.end
