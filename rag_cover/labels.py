"""What people say of a text: whether it answers a question; or nothing yet."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

from rag_cover.backends import ScoringItem
from rag_cover.errors import InvalidValueError

__all__ = ["LabelledText"]


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text that a person labelled: does some part of it answer the question (as the references do, where there are any)?

    ``label`` is None for a row that nobody labelled. Rows of one ``key`` are resampled as one: ids of questions or traces;
    None: the question's own text. ``user_question`` is what the text replies to, empty for a passage. ``chosen`` tells that the
    text was picked because a label of it teaches much: such labels are no random sample, and no share may rest on them.
    ``annotator`` is who labelled it, where that is known; it does not tell rows apart.
    """

    question: str
    text: str
    label: bool | None
    references: tuple[str, ...] = ()
    group: str | None = None
    key: str | None = None
    user_question: str = ""
    chosen: bool = False
    annotator: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuse what no judge can be asked."""
        if blank := next((name for name in ("question", "text") if not getattr(self, name).strip()), None):
            message = f"the {blank} is blank: there is nothing to judge; leave the row out"
            raise InvalidValueError(message)

    @property
    def item(self) -> ScoringItem:
        """Return what a judge is asked."""
        return ScoringItem(self.question, self.text, self.references, self.user_question)

    @property
    def cluster(self) -> str:
        """Return what the row is resampled with.

        >>> LabelledText("Why  blue?", "Air.", True).cluster == LabelledText("why BLUE?", "Dust.", False).cluster
        True
        """
        if self.key is not None:
            return f"key:{self.key}"
        return "text:" + " ".join(unicodedata.normalize("NFKC", self.question).casefold().split())
