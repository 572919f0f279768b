"""What a LlamaIndex language model wrote, read as a sample: its text, how it ended, its log-probabilities, its tokens.

Each integration keeps its server's answer in ``raw`` in that server's own shape.
"""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.base.llms.types import ChatResponse, CompletionResponse

from rag_cover.integration import Written, first_choice_of, get_field, sample_from_completion

__all__ = ["read_response"]

Response = ChatResponse | CompletionResponse


def read_response(response: Response, *, stop: Sequence[str] = ()) -> Written:
    """Read an answer, up to the first of the texts where it should have stopped."""
    text = (response.message.content if isinstance(response, ChatResponse) else response.text) or ""
    return sample_from_completion(text, reports=(response.additional_kwargs, response.raw), tokens=_tokens(response), stop=stop)


def _tokens(response: Response) -> Sequence[object]:
    """Return the sampled tokens.

    LlamaIndex lists the likeliest tokens of each place, of which the one that was sampled need not be the first.
    """
    content = get_field(get_field(first_choice_of(response.raw), "logprobs"), "content")
    return content if isinstance(content, list) else [place[0] for place in response.logprobs or () if place]
