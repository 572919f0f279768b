"""What a reader of coverage figures should know of how they came about."""

from __future__ import annotations

from rag_cover.coverage.result import CoverageResult
from rag_cover.english.clauses import asks_several
from rag_cover.questions import Role, RoleSource

__all__ = ["declines_in_words", "in_words", "notes_on_sub_questions"]


def notes_on_sub_questions(result: CoverageResult) -> list[str]:
    """Note what was not given but generated, typed or assumed."""
    made_by, what = result.decomposed_by, f"{result.noun_of(None)}s"
    typed_by = {each.role_source for each in result.sub_questions if each.role_source} - {made_by}
    found = [f"{what} made by {in_words(made_by)}"] if made_by != "given" else []
    typed = "weighed" if result.on_nuggets else "typed"
    found += [f"{what} {typed} by {in_words(source)}" for source in sorted(typed_by - {"given"})]
    if made_by == "rules" and any(each.role is Role.CORE and asks_several(each.text) for each in result.sub_questions):
        found.append("several things are asked that rules do not split: an answer to one of them counts as an answer to all")
    if result.prompt_assumed and any(each.chunks for each in result.sub_questions):
        found.append("prompt unknown, taken to be the last step's context")
    if any(each.role is None for each in result.sub_questions):
        found.append(
            "nuggets without an importance, counted as neither vital nor okay"
            if result.on_nuggets
            else "untyped sub-questions, counted in no role"
        )
    if result.from_own_passages:
        found.append("the nuggets come from these passages, so that retrieval is not judged by them")
    return found


def declines_in_words(result: CoverageResult) -> str:
    """Write that an answer declines to answer, wholly or in part; empty where it does not, or that is unknown."""
    match result.abstained:
        case "wholly":
            return "the answer declines to answer"
        case "partly":
            return "the answer declines to answer in part"
        case _:
            return ""


def in_words(source: RoleSource) -> str:
    """Describe what made or typed a sub-question.

    >>> in_words("rules"), in_words("model:openai:gpt-4.1-mini")
    ('rules, not by a person or a model', 'openai:gpt-4.1-mini, not by a person')
    """
    match source:
        case "rules":
            return "rules, not by a person or a model"
        case "embedded":
            return "a small model over sentence embeddings, not by a person"
        case _:
            return f"{source.removeprefix('model:') if source != 'model' else 'a model'}, not by a person"
