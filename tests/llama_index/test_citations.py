"""What LlamaIndex's CitationQueryEngine cites, from its recording to the verdict."""

from __future__ import annotations

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra llama-index")

from llama_index.core import VectorStoreIndex
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.schema import TextNode

from rag_cover import Models, evaluate
from rag_cover.testing import KeywordEntailer, KeywordScorer
from rag_cover_llama_index.attachment import attach
from tests.llama_index.parts import ScriptedLLM, WordEmbedding, needs_word_lists
from tests.llama_index.recordings import only

SKY = "Air scatters blue light of the sun."
GRASS = "Grass holds green chlorophyll in its leaves."


@pytest.mark.parametrize(("chunk_size", "cited"), [(512, (1, 2)), (8, (1, 4))])
def test_its_source_numbers_mean_the_passages_of_its_prompt(chunk_size: int, cited: tuple[int, int]) -> None:
    nodes = [TextNode(text=text, id_=f"n{place}") for place, text in enumerate((f"{SKY} It is a pity indeed.", GRASS))]
    index = VectorStoreIndex(nodes, embed_model=WordEmbedding())
    llm = ScriptedLLM(default=f"{SKY[:-1]} [{cited[0]}]. {GRASS[:-1]} [{cited[0]}].")
    with needs_word_lists(), attach(measures=()) as recording:
        engine = CitationQueryEngine.from_args(
            index, llm=llm, similarity_top_k=2, citation_chunk_size=chunk_size, citation_chunk_overlap=0
        )
        engine.query("What does air scatter?")
    trace = only(recording)
    models = Models(judge=KeywordScorer(), entailer=KeywordEntailer())
    (result,) = evaluate([trace], measures=["citations"], models=models).results

    found = result["citations"]
    prompt = trace.effective_prompt[0] or ()
    assert all(passage.text.startswith(f"Source {number}:") for number, passage in enumerate(prompt, 1))
    assert len(found.passage_keys) == len(prompt)  # what was cut up is no other passage
    first, second = (each.citations[0] for each in found.statements)
    assert (first.finding, second.finding) == ("supports", "misattributed")
    assert [prompt[place].text.partition(":")[0] for place in second.supporting] == [f"Source {cited[1]}"]
