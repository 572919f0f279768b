"""What can be chosen where complexity is measured: each choice by its names."""

from __future__ import annotations

from typing import Literal

__all__ = ["AnswerSource", "CompletenessMethod", "Constraints"]

AnswerSource = Literal["gold", "draft", "none"]
"""What right answers were judged by: gold references, a draft answer in their place, or nothing (reference-free)."""

Constraints = Literal["both", "answerability", "completeness"]
"""Which constraints decide: complex iff not answerable and complete, iff not answerable, iff complete."""

CompletenessMethod = Literal["token-entropy", "document-entropy", "token-over-documents", "weighted", "joint", "covered"]
"""How completeness is read from relevance; the first is the adopted reading of the paper's eq. 2."""
