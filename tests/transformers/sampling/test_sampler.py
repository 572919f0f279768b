"""Samples drawn from one prefill: their log-probabilities recomputed, and the same alone and in any batch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    FalconConfig,
    GPT2Config,
    Lfm2Config,
    Lfm2ForCausalLM,
    MistralConfig,
    MistralForCausalLM,
)

from rag_cover.backends import Sampling
from rag_cover_transformers.devices import Placement, choose_placement
from rag_cover_transformers.sampling.branches import attends_to_all
from rag_cover_transformers.sampling.distributions import shape_distribution
from rag_cover_transformers.sampling.randomness import uniforms_of
from rag_cover_transformers.sampling.sampler import CausalSampler

PROMPTS = ("Who wrote the novel Emma?", "The shop", "When was the Eiffel Tower completed for the world's fair in Paris?")
HOW = Sampling(n=4, temperature=0.8, top_p=0.9, top_k=40, max_tokens=12, seed=3)


class _Watched(CausalSampler):
    """Keeps the token ids of the rows it draws."""

    def _draw_batch(self, prompts: Sequence[Any], how: Sampling) -> Any:
        rows = super()._draw_batch(prompts, how)
        self.rows = rows
        return rows


@pytest.fixture(scope="module")
def llama(llama_folder: Path) -> Any:
    return AutoModelForCausalLM.from_pretrained(llama_folder)


@pytest.fixture(scope="module")
def sliding(llama: Any) -> Any:
    """Make a network whose layers see eight tokens back at most."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    own = {"num_key_value_heads": 2, "sliding_window": 8, "initializer_range": 0.3, "eos_token_id": llama.config.eos_token_id}
    return MistralForCausalLM(MistralConfig(vocab_size=llama.config.vocab_size, **sizes, **own)).eval()


@pytest.fixture(scope="module")
def hybrid(llama: Any) -> Any:
    """Make a network of which a layer keeps a state of fixed size instead of keys and values."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    own = {"num_key_value_heads": 2, "layer_types": ["conv", "full_attention"], "initializer_range": 0.3}
    config = Lfm2Config(vocab_size=llama.config.vocab_size, eos_token_id=llama.config.eos_token_id, **sizes, **own)
    return Lfm2ForCausalLM(config).eval()


@pytest.fixture(params=["shared", "copied", "sliding", "hybrid"])
def network(request: pytest.FixtureRequest, llama: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a network whose samples share their prompt, or copy it, because they are told to or because they must."""
    if request.param == "copied":
        monkeypatch.setattr("rag_cover_transformers.sampling.sampler.attends_to_all", lambda _: False)
    return llama if request.param in ("shared", "copied") else request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def tokenizer(llama_folder: Path) -> Any:
    return AutoTokenizer.from_pretrained(llama_folder)


def _sampler(network: Any, tokenizer: Any, placement: Placement | None = None) -> _Watched:
    return _Watched(network, tokenizer, placement or choose_placement("cpu", "auto", 100_000), longest=512, fingerprint="f")


def _ids(tokenizer: Any, text: str) -> Any:
    return np.array(tokenizer(text)["input_ids"], np.int64)


def test_log_probabilities_equal_a_teacher_forced_recomputation(network: Any, tokenizer: Any) -> None:
    sampler = _sampler(network, tokenizer)
    prompts = [_ids(tokenizer, text) for text in PROMPTS]

    sampler.draw(prompts, HOW)

    assert len(sampler.rows) == len(prompts) * HOW.n
    order = sorted(range(len(prompts)), key=lambda place: len(prompts[place]), reverse=True)
    for row in sampler.rows:
        prompt = prompts[order[row.prompt]]
        with torch.inference_mode():
            logits = network(torch.tensor([[*prompt, *row.ids]])).logits[0, len(prompt) - 1 : -1]
        logprobs = shape_distribution(logits, temperature=HOW.temperature, top_p=HOW.top_p, top_k=HOW.top_k)
        forced = logprobs.gather(1, torch.tensor(row.ids)[:, None])[:, 0]
        assert np.allclose(row.logprobs, forced.numpy(), atol=1e-4)


@pytest.mark.parametrize("tokens", [1, 60, 100_000])
def test_a_sample_does_not_depend_on_its_batch(network: Any, tokenizer: Any, tokens: int) -> None:
    prompts = [_ids(tokenizer, text) for text in PROMPTS]
    together = _sampler(network, tokenizer, choose_placement("cpu", "auto", tokens)).draw(prompts, HOW)

    alone = [_sampler(network, tokenizer).draw([prompt], HOW)[0] for prompt in prompts]

    for mine, other in zip(together, alone, strict=True):
        assert [one.text for one in mine] == [one.text for one in other]
        for one, same in zip(mine, other, strict=True):
            assert np.allclose(one.logprobs, same.logprobs, atol=1e-4)


def test_fewer_samples_are_the_first_of_more(network: Any, tokenizer: Any) -> None:
    prompt = [_ids(tokenizer, PROMPTS[0])]
    many = _sampler(network, tokenizer).draw(prompt, Sampling(n=5, temperature=1.0, max_tokens=8, seed=1))
    few = _sampler(network, tokenizer).draw(prompt, Sampling(n=2, temperature=1.0, max_tokens=8, seed=1))

    assert [one.text for one in many[0][:2]] == [one.text for one in few[0]]
    assert len({one.text for one in many[0]}) > 1


def test_another_seed_draws_other_samples(network: Any, tokenizer: Any) -> None:
    prompt = [_ids(tokenizer, PROMPTS[0])]
    texts = [
        [one.text for one in _sampler(network, tokenizer).draw(prompt, Sampling(n=3, temperature=1.0, max_tokens=8, seed=s))[0]]
        for s in (0, 1, None, None)
    ]

    assert all(texts[a] != texts[b] for a in range(4) for b in range(a))


def test_greedy_samples_are_what_transformers_generates(network: Any, tokenizer: Any) -> None:
    prompts = [_ids(tokenizer, text) for text in PROMPTS]
    whole = [torch.tensor(prompt)[None] for prompt in prompts]
    greedy = {"max_new_tokens": 10, "do_sample": False, "pad_token_id": 0}
    theirs = [network.generate(ids, attention_mask=torch.ones_like(ids), **greedy)[0, ids.shape[1] :] for ids in whole]

    ours = _sampler(network, tokenizer).draw(prompts, Sampling(max_tokens=10))

    assert [several[0].text for several in ours] == [tokenizer.decode(ids, skip_special_tokens=True) for ids in theirs]


def test_each_prompt_is_prefilled_once_whatever_n(network: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sampler = _sampler(network, tokenizer)
    seen: list[tuple[int, int]] = []
    forward = sampler._forward

    def watched(ids: torch.Tensor, *more: Any, **named: Any) -> Any:
        seen.append((ids.shape[0], ids.shape[1]))
        return forward(ids, *more, **named)

    monkeypatch.setattr(sampler, "_forward", watched)
    sampler.draw([_ids(tokenizer, PROMPTS[0])], Sampling(n=10, temperature=1.0, max_tokens=6, seed=0))

    assert seen[0] == (1, len(_ids(tokenizer, PROMPTS[0])))
    assert all(rows * columns <= 10 for rows, columns in seen[1:])


def test_a_stop_text_ends_its_row_alone(network: Any, tokenizer: Any) -> None:
    prompt = [_ids(tokenizer, PROMPTS[1])]
    how = Sampling(n=6, temperature=1.0, max_tokens=20, seed=0)
    free = _sampler(network, tokenizer).draw(prompt, how)[0]
    stop = next(char for one in free for char in one.text[1:] if char.isascii() and char.isalpha())

    stopped = _sampler(network, tokenizer).draw(prompt, Sampling(6, 1.0, max_tokens=20, stop=(stop,), seed=0))[0]

    for one, whole in zip(stopped, free, strict=True):
        assert one.text == whole.text.partition(stop)[0]
        assert one.finish == ("stop" if stop in whole.text else whole.finish)


def test_a_batch_too_large_for_a_gpu_is_drawn_in_halves(llama: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    prompts = [_ids(tokenizer, text) for text in PROMPTS]
    together = _sampler(llama, tokenizer).draw(prompts, HOW)
    sampler = _sampler(llama, tokenizer)
    forward = sampler._forward

    def narrow(ids: torch.Tensor, *more: Any, **named: Any) -> Any:
        if ids.shape[0] > 1:
            message = "CUDA out of memory"
            raise torch.cuda.OutOfMemoryError(message)
        return forward(ids, *more, **named)

    monkeypatch.setattr(sampler, "_forward", narrow)

    assert [[one.text for one in several] for several in sampler.draw(prompts, HOW)] == [
        [one.text for one in several] for several in together
    ]


def test_only_networks_that_see_all_share_a_prompt(llama: Any, sliding: Any, hybrid: Any) -> None:
    assert attends_to_all(llama.config)
    assert not attends_to_all(sliding.config)
    assert not attends_to_all(hybrid.config)
    assert not attends_to_all(GPT2Config())
    assert not attends_to_all(FalconConfig(alibi=True))
    assert attends_to_all(FalconConfig(alibi=False))


def test_random_numbers_belong_to_seed_prompt_and_number() -> None:
    prompt, other = np.array([1, 2]), np.array([2, 1])
    base = uniforms_of(prompt, n=2, length=3, seed=0)

    assert base.shape == (2, 3)
    assert ((base >= 0) & (base < 1)).all()
    assert (uniforms_of(prompt, n=2, length=5, seed=0)[:, :3] == base).all()
    assert (uniforms_of(prompt, n=2, length=3, seed=-1) != base).all()
    assert (uniforms_of(other, n=2, length=3, seed=0) != base).all()
    assert (base[0] != base[1]).all()
    assert math.isclose(uniforms_of(prompt, n=1, length=20_000, seed=0).mean(), 0.5, abs_tol=0.01)
