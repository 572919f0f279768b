"""A draft of calls as a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rag_cover.errors import InputError
from rag_cover.question_keys import normalise_question
from rag_cover.questions import Question, json_value, legible
from rag_cover.recording.calls import QuestionContext, TraceDraft
from rag_cover.recording.telemetry import NAME
from rag_cover.spans.field_aliases import CITED
from rag_cover.spans.kinds import read_spans
from rag_cover.spans.model import CallSpan, SpanTree, ancestors, trees
from rag_cover.spans.shown import find_shown
from rag_cover.spans.traces import trace_of_tree
from rag_cover.traces import Trace

__all__ = ["References", "TraceBuilder", "references_by_spelling"]

References = Mapping[str, str | Sequence[str]]
"""Gold answers by the text of their question, up to case, white space and the points at its end."""


def references_by_spelling(references: References) -> dict[str, tuple[str, ...]]:
    """Return gold answers by what the spellings of their question share (`normalise_question`).

    >>> references_by_spelling({"Who wrote Emma?": "Jane Austen"})
    {'who wrote emma': ('Jane Austen',)}
    """
    return {
        normalise_question(question): (given,) if isinstance(given, str) else tuple(given)
        for question, given in references.items()
    }


@dataclass(frozen=True, slots=True)
class TraceBuilder:
    """How drafts become traces.

    ``references`` are gold answers by question (`references_by_spelling`); ``pipeline`` names the traces' pipeline, the
    outermost call's own name unless given. With ``own_sub_questions``, those that the pipeline took its question apart into are
    the trace's. Who asked is left out without ``user_ids``.
    """

    references: Mapping[str, tuple[str, ...]]
    pipeline: str | None = None
    own_sub_questions: bool = True
    user_ids: bool = False

    def trace(self, draft: TraceDraft) -> Trace:
        """Put a draft's calls together.

        Raises:
            InputError: more calls than are kept, or no question in any of them.
        """
        if draft.broken:
            problem = f"one question ({draft.root.name}) made more than {len(draft.calls):,} calls: it is left out whole"
            raise InputError(problem)
        names = _name_calls(draft)
        spans = _spans(draft, names)
        spans[0] = self._describe_root(spans[0], draft, names)
        spans = _leave_unseen(spans)
        kept = spans if self.own_sub_questions else [replace(span, sub_questions=None) for span in spans]
        (tree,) = trees(kept)
        tree = read_spans(tree)
        trace = _mark_unknown(trace_of_tree(tree), tree)
        return self._with_what_was_said(trace, draft.asked or QuestionContext())

    def _describe_root(self, span: CallSpan, draft: TraceDraft, names: Mapping[str, str]) -> CallSpan:
        """Give the outermost span what is known of the question as a whole; what was said of it comes first."""
        root, asked = draft.root, draft.asked or QuestionContext()
        return replace(
            span,
            pipeline=self.pipeline or root.name,
            tags=tuple(dict.fromkeys((*asked.tags, *root.tags))),
            thread_id=asked.thread_id or root.thread_id,
            user_id=(asked.user_id or root.user_id) if self.user_ids else None,
            metadata={**json_value(dict(root.metadata)), **_notes(draft, names)},
        )

    def _with_what_was_said(self, trace: Trace, asked: QuestionContext) -> Trace:
        text = asked.text or trace.question.text
        names = (text, trace.question.text, str(trace.metadata.get("asked", text)))
        known = (self.references.get(normalise_question(name), ()) for name in names)
        references = asked.references or next(filter(None, known), ())
        if not references and asked == QuestionContext():  # nothing was said: the trace is checked already
            return trace
        changes: dict[str, Any] = {"question": Question(text, id=asked.id, references=references)}
        if asked.sub_questions is not None:
            changes["sub_questions"] = asked.sub_questions
        if asked.nuggets is not None:
            changes["nuggets"] = asked.nuggets
        if asked.metadata:
            changes["metadata"] = {**trace.metadata, **asked.metadata}
        return Trace.model_validate({**dict(trace), **changes})


def _leave_unseen(spans: Sequence[CallSpan]) -> list[CallSpan]:
    """Leave open what syntheses wrote from that had no model's call within: only what stands in their text is known."""
    parents = {span.id: span.parent_id for span in spans}
    asking = {above for span in spans if span.kind == "llm" for above in ancestors(span.id, parents)}
    left = []
    for span in spans:
        if span.kind != "synthesis" or span.id in asking or span.answer is None or not span.consumed:
            left.append(span)
        else:
            quoted = find_shown([span.answer], span.consumed)
            left.append(replace(span, kind="synthesis" if quoted else "other", consumed=quoted))
    return left


def _mark_unknown(trace: Trace, tree: SpanTree) -> Trace:
    """Note that no call of a model was seen where an answer came from something else: what it was written from is unknown."""
    if trace.answer is None or trace.prompt is not None or any(span.kind in ("llm", "synthesis") for span in tree.spans):
        return trace
    return trace.model_copy(update={"calls": ()})


def _spans(draft: TraceDraft, names: Mapping[str, str]) -> list[CallSpan]:
    """Return the calls as spans, each named as people read it: by its class, numbered where there are several."""
    spans = [call.span(draft.root.id, names) for call in draft.calls]
    if draft.root.answer is None:  # whoever recorded it knows that there is none, whatever models said on the way
        return [replace(span, answer=None) if span.kind == "llm" else span for span in spans]
    return spans


def _notes(draft: TraceDraft, names: Mapping[str, str]) -> dict[str, Any]:
    """Say what was asked, where it was sent, where it failed or was left, what it cited, its place in a distributed trace."""
    asked = {} if draft.root.asked is None else {"asked": legible(draft.root.asked)}
    routed = {"routes": list(draft.routes)} if draft.routes else {}
    failed = {} if draft.root.error is None else {"error": draft.root.error}
    failed |= {} if draft.unfinished is None else {"unfinished_answer": draft.unfinished}
    cited = {CITED[0]: list(draft.root.citations)} if draft.root.citations else {}
    steps = {names[call.id]: list(call.place) for call in draft.calls[1:] if call.place is not None}
    root = {} if draft.root.place is None else {"root": list(draft.root.place)}
    return asked | routed | failed | cited | ({NAME: {**root, "steps": steps}} if root or steps else {})


def _name_calls(draft: TraceDraft) -> dict[str, str]:
    """Name each call: what wraps others under the same name, as a retry does, takes no number from them."""
    typed = [call for call in draft.calls if call.kind != "other"]
    names = dict(zip((call.id for call in typed), _number([call.name for call in typed]), strict=True))
    taken = set(names.values())
    others = [call for call in draft.calls if call.kind == "other"]
    for call, name in zip(others, _number([call.name for call in others]), strict=True):
        while name in taken:
            name += "'"  # noqa: PLW2901  # until it is nobody else's
        taken.add(name)
        names[call.id] = name
    return names


def _number(names: Sequence[str]) -> list[str]:
    """Number what is named alike.

    >>> _number(["BM25", "Fusion", "BM25"])
    ['BM25-1', 'Fusion', 'BM25-2']
    """
    often, seen = Counter(names), Counter[str]()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(f"{name}-{seen[name]}" if often[name] > 1 else name)
    return numbered
