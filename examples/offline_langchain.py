"""See what a LangChain chain leaves out, and change that. Needs rag-cover[langchain], and no key."""

import re
from operator import itemgetter
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import BaseMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

from rag_cover import read_traces
from rag_cover.demo import corpus_path, trace_paths
from rag_cover.stores import read_passages
from rag_cover_langchain import (
    CoverageCompressor,
    RagCoverCallbackHandler,
    RagCoverEmbeddings,
    SubQuestionCoverageEvaluator,
    document_of,
)


class QuotingModel(SimpleChatModel):
    """Stands in for your chat model: it answers with the first sentence of each passage that it is shown."""

    @property
    def _llm_type(self) -> str:
        return "quoting"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        passages = messages[-1].text.partition("Context:\n\n")[2].split("\n\n")
        return " ".join(re.split(r"(?<=[.!?])\s", passage.strip())[0] for passage in passages)


def joined(documents: list[Document]) -> str:
    """Write documents into a prompt."""
    return "\n\n".join(document.page_content for document in documents)


def main() -> None:
    """Ask a chain some questions, see what is lost and where; then compress by coverage, and see what that brings."""
    traces = list(read_traces(trace_paths()[0]))[:4]
    sub_questions = {trace.question.text: trace.sub_questions for trace in traces}
    store = InMemoryVectorStore(RagCoverEmbeddings())
    store.add_documents([document_of(passage) for passage in read_passages(corpus_path())])
    prompt = ChatPromptTemplate.from_template("Question: {question}\n\nContext:\n\n{context}")

    def chain_of(k: int, *steps: Runnable[Any, Any]) -> Runnable[Any, Any]:
        found = RunnablePassthrough.assign(context=itemgetter("question") | store.as_retriever(search_kwargs={"k": k}))
        for step in steps:
            found = found | RunnablePassthrough.assign(context=step)
        written = {"context": itemgetter("context") | RunnableLambda(joined), "question": itemgetter("question")}
        return found.assign(answer=written | prompt | QuotingModel() | StrOutputParser())

    plain = chain_of(3)
    compressed = chain_of(12, CoverageCompressor(top_n=3).as_runnable())
    for name, chain in {"plain": plain, "compressed by coverage": compressed}.items():
        with RagCoverCallbackHandler(pipeline=name) as handler:
            for question, asked in sub_questions.items():
                with handler.question(sub_questions=asked):
                    chain.invoke({"question": question}, config={"callbacks": [handler]})
        show(name, handler)

    question, asked = next(iter(sub_questions.items()))
    evaluator = SubQuestionCoverageEvaluator()
    result = evaluator(inputs={"question": question}, outputs=plain.invoke({"question": question}), sub_questions=asked)
    print(f"As an evaluator: {result['score']:.2f}\n{result['comment']}")


def show(name: str, handler: RagCoverCallbackHandler) -> None:
    """Print what was recorded."""
    print(f"== {name}: {handler.counts.measured} questions measured")
    for result in handler.results:
        print(result.trace.question.text)
        if result.coverage is not None:
            print(f"  core sub-questions answered: {result.coverage.core_coverage:.0%}")
            for each in result.coverage.unanswered:
                where = each.loss if each.is_loss_clear else "unclear where it was lost"
                print(f"  not answered ({where}): {each.text}")
        for step in result.utility.steps if result.utility else ():
            print(f"  ΔSePer {step.marginal.value:+.2f}  {step.kind} by {step.step}")
    retrieved = handler.evaluation.summary().metrics["core_retrieved"].interval
    print(f"Core sub-questions retrieved: {retrieved.estimate:.0%}\n" if retrieved else "")


if __name__ == "__main__":
    main()
