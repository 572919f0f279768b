"""The authors' own example: their log-probabilities in, the weights of their formula and the differences they printed out."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from rag_cover.belief import seper
from rag_cover.belief.kernels import in_context
from rag_cover.testing import ScriptedEntailer
from rag_cover.traces import Sample

NUMBER = r"-?\d+\.\d+"


@pytest.mark.shared
def test_the_example_is_weighed_as_the_release_weighs_it(shared_folder: Path) -> None:
    outputs = json.loads((shared_folder / "data/belief/seper_notebook_outputs.json").read_text(encoding="utf-8"))["outputs"]
    example = outputs[0]["result"]
    samples = [Sample(text, token_logprobs=tuple(logprobs)) for text, logprobs in example["responses"]]
    question, (right,) = example["question"], example["answers"]
    judge = ScriptedEntailer({(in_context(question, "Yes."), in_context(question, right)): 1.0})

    belief = seper(samples, [right], question=question, entailer=judge)

    means = np.array([np.mean(logprobs) for _, logprobs in example["responses"]])
    released = np.exp(means - np.log(np.sum(np.exp(means))))
    assert belief.preset == "official"
    assert belief.weights == pytest.approx(tuple(released), abs=1e-9)
    assert float(belief) == pytest.approx(
        sum(w for w, (text, _) in zip(released, example["responses"], strict=True) if text == "Yes.")
    )


@pytest.mark.shared
def test_a_printed_utility_is_the_plain_difference_of_the_printed_beliefs(shared_folder: Path) -> None:
    outputs = json.loads((shared_folder / "data/belief/seper_notebook_outputs.json").read_text(encoding="utf-8"))["outputs"]
    printed = outputs[1]["printed"]

    (prior,) = re.findall(rf"without retrieved information: ({NUMBER})", printed)
    moved = re.findall(rf"information: ({NUMBER}), ΔSePer: ({NUMBER})", printed)

    assert len(moved) == 3
    assert [float(posterior) - float(prior) for posterior, _ in moved] == pytest.approx([float(delta) for _, delta in moved])
