"""Tests for plugins of your own: subclass a suite, give it what you wrote, and pytest runs it.

    from rag_cover.testing.conformance import ScorerTests

    class TestMyScorer(ScorerTests):
        @pytest.fixture
        def model(self) -> Scorer:
            return MyScorer()

Each suite says in its docstring which fixture it takes and what else you may tell it. They check what breaks in practice:
blank and endless texts, batches, threads, memory, data that nobody meant. What cannot hold for yours is overridden and marked
``pytest.mark.xfail(reason=…)``, so that it stays in sight. What takes long to open belongs in a fixture of the session, which
this one takes. No framework is imported, and pytest neither.
"""

from rag_cover.testing.conformance.adapters import AdapterTests
from rag_cover.testing.conformance.callback_handlers import CallbackHandlerTests
from rag_cover.testing.conformance.compressors import CompressorTests
from rag_cover.testing.conformance.detectors import AbstentionDetectorTests
from rag_cover.testing.conformance.embedders import EmbedderTests
from rag_cover.testing.conformance.entailers import EntailerTests
from rag_cover.testing.conformance.evaluators import Evaluator, EvaluatorExample, EvaluatorTests
from rag_cover.testing.conformance.locators import LocatorTests
from rag_cover.testing.conformance.pipelines import PipelineEvaluationTests
from rag_cover.testing.conformance.receivers import ReceiverTests
from rag_cover.testing.conformance.routers import RouterTests
from rag_cover.testing.conformance.runs import FrameworkRun
from rag_cover.testing.conformance.scorers import ScorerTests

__all__ = [
    "AbstentionDetectorTests",
    "AdapterTests",
    "CallbackHandlerTests",
    "CompressorTests",
    "EmbedderTests",
    "EntailerTests",
    "Evaluator",
    "EvaluatorExample",
    "EvaluatorTests",
    "FrameworkRun",
    "LocatorTests",
    "PipelineEvaluationTests",
    "ReceiverTests",
    "RouterTests",
    "ScorerTests",
]
