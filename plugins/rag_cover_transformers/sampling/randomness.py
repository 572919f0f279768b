"""Random numbers that belong to a sample, not to the batch it happens to be drawn in."""

from __future__ import annotations

import hashlib
import secrets

import numpy as np
from numpy.typing import NDArray

__all__ = ["uniforms_of"]


def uniforms_of(prompt: NDArray[np.int64], *, n: int, length: int, seed: int | None) -> NDArray[np.float64]:
    """Return (n, length) numbers in [0, 1): a function of the seed, the prompt's tokens and the sample's number.

    So a sample is the same alone and in any batch, the first five of ten samples are the five one would get, and the same
    prompt asked twice is answered alike. Without a seed they are new each time.

    >>> prompt = np.array([1, 2, 3])
    >>> bool((uniforms_of(prompt, n=3, length=4, seed=7)[:2] == uniforms_of(prompt, n=2, length=4, seed=7)).all())
    True
    """
    salt = secrets.token_bytes(16) if seed is None else seed.to_bytes(16, "little", signed=True)
    return np.stack([_stream(salt, prompt, number).random(length) for number in range(n)])


def _stream(salt: bytes, prompt: NDArray[np.int64], number: int) -> np.random.Generator:
    digest = hashlib.blake2b(prompt.tobytes(), digest_size=16, salt=salt, person=number.to_bytes(16, "little")).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))
