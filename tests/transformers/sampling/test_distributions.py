"""Temperature, top-k and top-p by hand, and as transformers itself warps."""

from __future__ import annotations

import pytest
import torch
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from rag_cover_transformers.sampling.distributions import draw_tokens, shape_distribution


@pytest.mark.parametrize(("temperature", "top_k", "top_p"), [(1.0, None, 1.0), (0.7, 5, 1.0), (1.3, None, 0.6), (0.5, 8, 0.8)])
def test_it_is_the_distribution_that_transformers_would_sample(temperature: float, top_k: int | None, top_p: float) -> None:
    logits = torch.randn(6, 40, generator=torch.Generator().manual_seed(0)) * 2
    theirs = TemperatureLogitsWarper(temperature)(None, logits) if temperature != 1 else logits
    theirs = TopKLogitsWarper(top_k)(None, theirs) if top_k else theirs
    theirs = TopPLogitsWarper(top_p)(None, theirs) if top_p < 1 else theirs

    ours = shape_distribution(logits, temperature=temperature, top_p=top_p, top_k=top_k)

    assert torch.allclose(ours, theirs.log_softmax(dim=-1), atol=1e-6)


def test_the_nucleus_holds_the_token_that_reaches_its_mass() -> None:
    logits = torch.tensor([[0.5, 0.3, 0.2]]).log()

    found = shape_distribution(logits, temperature=1.0, top_p=0.6, top_k=None).exp()

    assert found.tolist()[0] == pytest.approx([0.625, 0.375, 0.0])


def test_without_temperature_the_likeliest_is_taken_at_its_own_probability() -> None:
    logits = torch.tensor([[0.25, 0.75]]).log()

    found = shape_distribution(logits, temperature=0.0, top_p=0.1, top_k=1)

    assert found.exp().tolist()[0] == pytest.approx([0.25, 0.75])
    assert draw_tokens(found, torch.zeros(1, dtype=torch.float64), temperature=0.0).tolist() == [1]


def test_draws_follow_the_distribution_and_never_leave_it() -> None:
    logits = torch.tensor([[0.0, 1.0, 2.0, 3.0, 9.0]])
    logprobs = shape_distribution(logits, temperature=2.0, top_p=1.0, top_k=4)
    uniforms = torch.linspace(0, 1, 20_001, dtype=torch.float64)[:-1]

    ids = draw_tokens(logprobs.expand(len(uniforms), -1), uniforms, temperature=1.0)

    shares = torch.bincount(ids, minlength=5) / len(ids)
    assert shares[0] == 0
    assert torch.allclose(shares.double(), logprobs[0].double().exp(), atol=1e-3)
