"""What is known of a question's calls only once its outermost run is over: how many questions it was, and which part counts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from rag_cover.recording import Call, CallKind, TraceDraft
from rag_cover_langchain.calls import Run
from rag_cover_langchain.payloads import answer_text

__all__ = ["find_questions", "find_standalone_question", "remove_failed_parts"]

_FEW = 2
_RETRIEVING: frozenset[CallKind] = frozenset({"retriever", "reranker", "postprocessor", "tool"})


def find_questions(draft: TraceDraft, output: object) -> list[Run]:
    """Return the runs that each answer a question of their own, where the outermost run only asks several; else none.

    Such are the chain of ``chain.map()``, and one that a function asks several questions: either the outermost run has no
    question itself, or what it returns collects their answers. None of them reads what another one wrote.
    """
    root = draft.root
    if not isinstance(root, Run) or root.is_graph:
        return []
    collected = _collect(output) if root.query is not None else []
    if sum(call.kind == "llm" for call in draft.calls) < _FEW or (root.query is not None and len(collected) < _FEW):
        return []
    answering = [run for run in _find_answering(draft) if root.query is None or run.said in collected]
    return answering if len(answering) > 1 and not _depend(answering, draft) else []


def remove_failed_parts(draft: TraceDraft) -> None:
    """Leave out what parts retrieved that failed, and that something else stepped in for: no answer was written from it."""
    if draft.root.error is not None:
        return
    failed = {call.id for call in draft.calls if call.error is not None and call.kind != "llm"}
    inside = _inside(draft, failed) - failed if failed else set()
    if not inside:
        return
    outside = [call for call in draft.calls if call.id not in inside]
    prompts = [call.prompt for call in outside if call.prompt]
    known = {passage["text"] for call in outside for passage in (*call.passages, *call.consumed)}

    def is_lost(call: Call) -> bool:
        own = [passage["text"] for passage in call.passages if passage["text"] not in known]
        is_shown = any(text in prompt for text in own for prompt in prompts if text.strip())
        return call.id in inside and (call.kind in _RETRIEVING or bool(call.passages)) and not is_shown

    lost = {call.id for call in draft.calls if is_lost(call)}
    draft.calls[:] = [call for call in draft.calls if call.id not in lost]


def find_standalone_question(draft: TraceDraft) -> str | None:
    """Return the question that a model made of a later turn of a conversation, where it searched by just one; else None."""
    root = draft.root
    if not isinstance(root, Run) or not root.has_history or not root.query:
        return None
    written = {call.answer.strip() for call in draft.calls if call.kind == "llm" and call.answer}
    searches = [call for call in draft.calls[1:] if call.kind in _RETRIEVING or (call.passages and not call.consumed)]
    queries = [call.query.strip() for call in searches if call.query]
    tools = {call.query.strip() for call in draft.calls if call.kind == "tool" and call.query}
    asked = {query for query in queries if query in written or query in tools}
    standalone = asked.pop() if len(asked) == 1 else ""
    return standalone if standalone.endswith("?") and standalone != root.query.strip() else None


def _find_answering(draft: TraceDraft) -> list[Run]:
    """Return the outermost runs inside that were asked, searched, asked a model and answered."""
    calls = {call.id: call for call in draft.calls}
    within: dict[str, set[CallKind]] = {}
    for call in draft.calls:
        kind: CallKind = "retriever" if call.kind in _RETRIEVING or call.passages else call.kind
        for above in _above(call, calls):
            within.setdefault(above.id, set()).add(kind)
    found: dict[str, Run] = {}
    for run in draft.calls[1:]:  # those around come before those inside
        if not isinstance(run, Run) or not run.query or not run.said or not within.get(run.id, set()) >= {"retriever", "llm"}:
            continue
        if not any(above.id in found for above in _above(run, calls)):
            found[run.id] = run
    return list(found.values())


def _depend(runs: Sequence[Run], draft: TraceDraft) -> bool:
    """Return whether one of the runs reads what another one wrote."""
    for run in runs:
        inside = _inside(draft, {run.id})
        prompts = [call.prompt for call in draft.calls if call.id in inside and call.prompt]
        others = [other.said for other in runs if other is not run and other.said]
        if any(said in prompt for said in others for prompt in prompts):
            return True
    return False


def _collect(output: object) -> list[str | None]:
    """List what the answers in a list or a mapping say."""
    values = output if isinstance(output, list | tuple) else output.values() if isinstance(output, Mapping) else ()
    return [answer_text(value) for value in values]


def _inside(draft: TraceDraft, ids: Collection[str]) -> set[str]:
    """Name the calls that some are, or that are inside them."""
    calls = {call.id: call for call in draft.calls}
    return {call.id for call in draft.calls if call.id in ids or any(each.id in ids for each in _above(call, calls))}


def _above(call: Call, calls: Mapping[str, Call]) -> Iterator[Call]:
    above = calls.get(call.parent or "")
    while above is not None:
        yield above
        above = calls.get(above.parent or "")
