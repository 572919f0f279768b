"""See what a LlamaIndex query engine leaves out, and change that. Needs rag-cover[llama-index], and no key."""

import re
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback

from rag_cover import read_traces
from rag_cover.demo import corpus_path, trace_paths
from rag_cover.recording import Recording
from rag_cover.stores import read_passages
from rag_cover_llama_index import CoverageRerank, RagCoverEmbedding, SubQuestionCoverageEvaluator, attach, node_of


class QuotingLLM(CustomLLM):
    """Stands in for your language model: it answers with the first sentence of each passage that it is shown."""

    @property
    def metadata(self) -> LLMMetadata:
        """Describe the model."""
        return LLMMetadata(model_name="quoting", context_window=100_000)

    @llm_completion_callback()
    def complete(self, prompt: str, *_: Any, **__: Any) -> CompletionResponse:
        """Quote from the context of a prompt."""
        passages = re.split(r"title: .*\n\n", prompt.partition("Given the context")[0])[1:]
        return CompletionResponse(text=" ".join(re.split(r"(?<=[.!?])\s", passage.strip())[0] for passage in passages))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, *_: Any, **__: Any) -> CompletionResponseGen:
        """Quote in one piece."""
        yield self.complete(prompt)


def main() -> None:
    """Ask an engine some questions, see what is lost and where; then rerank by coverage, and see what that brings."""
    traces = list(read_traces(trace_paths()[0]))[:4]
    sub_questions = {trace.question.text: trace.sub_questions for trace in traces}
    nodes = [node_of(passage).node for passage in read_passages(corpus_path())]
    index = VectorStoreIndex(nodes, embed_model=RagCoverEmbedding())
    plain = index.as_query_engine(llm=QuotingLLM(), similarity_top_k=3)
    reranked = index.as_query_engine(
        llm=QuotingLLM(), similarity_top_k=12, node_postprocessors=[CoverageRerank(top_n=3, judge="embedded")]
    )
    for name, engine in {"plain": plain, "reranked by coverage": reranked}.items():
        with attach(pipeline=name) as recording:
            for question, asked in sub_questions.items():
                with recording.question(sub_questions=asked):
                    engine.query(question)
        show(name, recording)

    question, asked = next(iter(sub_questions.items()))
    result = SubQuestionCoverageEvaluator().evaluate_response(question, plain.query(question), sub_questions=asked)
    print(f"As an evaluator: {result.score:.2f}\n{result.feedback}")


def show(name: str, recording: Recording) -> None:
    """Print what a recording found."""
    print(f"== {name}: {recording.counts.measured} questions measured")
    for result in recording.results:
        print(result.trace.question.text)
        if result.coverage is not None:
            print(f"  core sub-questions answered: {result.coverage.core_coverage:.0%}")
            for each in result.coverage.unanswered:
                where = each.loss if each.is_loss_clear else "unclear where it was lost"
                print(f"  not answered ({where}): {each.text}")
        for step in result.utility.steps if result.utility else ():
            print(f"  ΔSePer {step.marginal.value:+.2f}  {step.kind} by {step.step}")
    retrieved = recording.evaluation.summary().metrics["core_retrieved"].interval
    print(f"Core sub-questions retrieved: {retrieved.estimate:.0%}\n" if retrieved else "")


if __name__ == "__main__":
    main()
