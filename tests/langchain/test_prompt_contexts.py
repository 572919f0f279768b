"""What a prompt marks as context, in the forms that pipelines use; and prompts that mark none."""

from __future__ import annotations

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")

from rag_cover_langchain.prompt_contexts import find_passages

ONE, TWO = "A deposit is 50 euros.", "The grinder is a power tool."
ASKED = "What is the deposit?"
BOTH = f"{ONE}\n\n{TWO}"


@pytest.mark.parametrize(
    "prompt",
    [
        f"Context:\n{BOTH}\n\nQuestion: {ASKED}",
        f"Context: {BOTH}",
        f"**Context:**\n{BOTH}\n\n**Question:** {ASKED}",
        f"## Context\n\n{BOTH}\n\n## Question\n{ASKED}\n\n## Answer",
        f"## Instructions\n- Be brief.\n\n## Retrieved documents\n{BOTH}\n\n## Question\n{ASKED}",
        f"=== CONTEXT ===\n{BOTH}\n\n=== QUESTION ===\n{ASKED}",
        f"[CONTEXT]\n{BOTH}\n[/CONTEXT]\n[QUESTION]\n{ASKED}",
        f"Answer by the context.\nQuestion: {ASKED}\nContext: {BOTH}\nAnswer:",
        f"Context (retrieved on 2024-05-01 at noon):\n{BOTH}",
        f"Use the provided context to answer.\nIf you do not know, say so.\n\nContext:\n{BOTH}\n\nQ: {ASKED}\nA:",
        f"Use the following context in your response:\n\n{BOTH}",
        f"Here are some documents:\n{BOTH}\n\nUser: {ASKED}\nAssistant:",
        f"Sources: {BOTH}\n\nChat history:\nHi.",
        f"<context>\n{BOTH}\n</context>\n{ASKED}",
        f"Answer only from the text in the <context> tags.\n\n<context>\n{BOTH}\n</context>",
        f"<document>{ONE}</document>\n<document>{TWO}</document>",
        (
            f'<documents>\n<document index="1">\n<source>a.pdf</source>\n{ONE}\n</document>\n'
            f'<document index="2">\n{TWO}\n</document>\n</documents>'
        ),
        f"Passage: {ONE}\n\nPassage: {TWO}",
        f"Document 1: {ONE}\n\nDocument 2: {TWO}\n\nQuestion: {ASKED}",
        f"Context information is below.\n---------------------\n{BOTH}\n---------------------\nGiven the context, answer.",
        f"Use the pieces of context to answer.\nIf you don't know, say so.\n----------------\n{BOTH}",
        f"The context is fenced.\n```\n{BOTH}\n```\n{ASKED}",
        f"Context: Rome is in Italy.\nQuestion: Where is Rome?\nAnswer: Italy.\n\nContext: {BOTH}\nQuestion: {ASKED}\nAnswer:",
        f"<context>\nRome is in Italy.\n</context>\nItaly.\n\n<context>\n{BOTH}\n</context>\n{ASKED}",
    ],
)
def test_marked_context_is_found(prompt: str) -> None:
    assert find_passages(prompt, ASKED) == [ONE, TWO]


@pytest.mark.parametrize(
    "prompt",
    [
        "You translate legal documents.\nKeep the layout.",
        "Do not cite sources.\nBe brief.\nNever lie.",
        "Cite your sources: always.",
        "You are the assistant of a library. You can search documents.\n\nTools:\n- search",
        "You have access to the documents: use the search tool.",
        "Classify what customers want in the context of banking.\nLabels: card, loan\nUser: I lost my card",
        "Given a chat history and a question that may reference context in it, write a standalone one.\nDo NOT answer it.",
        f"Summarise this document:\n\n{ASKED}\n\nSummary:",
        f"Documents: passport and visa. {ASKED}",
        f"Is the answer supported by the documents?\nAnswer yes or no.\n{ONE}",
        "Be brief.",
        "",
    ],
)
def test_what_marks_no_context_has_none(prompt: str) -> None:
    assert find_passages(prompt, prompt if prompt.startswith("Documents") else ASKED) == []


def test_passages_may_hold_labels_of_their_own() -> None:
    faq = "Question: How much?\nAnswer: 50 euros."
    needed = "Required documents: a passport and a photo."

    assert find_passages(f"Context:\n{faq}\n\n{needed}\n\nQuestion: {ASKED}\nAnswer:", ASKED) == [faq, needed]
