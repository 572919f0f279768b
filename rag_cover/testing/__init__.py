"""An assertion on answers, and models for tests: deterministic, offline, in milliseconds, and counting what they are asked.

`assert_covers` holds an answer against its sub-questions, by the embedded judge unless another is named. The models judge by
words or by a script and say nothing about real texts. All of them are thread-safe.
"""

from rag_cover.testing.counters import Counter
from rag_cover.testing.coverage_assertion import assert_covers
from rag_cover.testing.judges import (
    KeywordEntailer,
    KeywordLocator,
    KeywordScorer,
    ScriptedEntailer,
    ScriptedLocator,
    ScriptedScorer,
)
from rag_cover.testing.retrievers import ScriptedRetriever
from rag_cover.testing.writers import ScriptedGenerator, ScriptedReceiver

__all__ = [
    "Counter",
    "KeywordEntailer",
    "KeywordLocator",
    "KeywordScorer",
    "ScriptedEntailer",
    "ScriptedGenerator",
    "ScriptedLocator",
    "ScriptedReceiver",
    "ScriptedRetriever",
    "ScriptedScorer",
    "assert_covers",
]
