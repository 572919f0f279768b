"""How hard a question is for what retrieval brings back for it: retrieval complexity (RRCP).

Gabburo et al., "Measuring retrieval complexity in question answering systems" (ACL Findings 2024).
"""

from rag_cover.complexity.calibration import Calibration
from rag_cover.complexity.choices import AnswerSource, CompletenessMethod, Constraints
from rag_cover.complexity.fitting import CalibrationResult, Labelled, calibrate
from rag_cover.complexity.measure import ComplexityMeasure
from rag_cover.complexity.probing import complexities_of, complexity_of, probe
from rag_cover.complexity.question_types import Kind, kinds_of
from rag_cover.complexity.result import Complexity, DocumentEvidence
from rag_cover.complexity.rrcp import Evidence
from rag_cover.complexity.shipped_calibrations import calibration_for
from rag_cover.complexity.standing import Standing, description_of, hardness, standing_of
from rag_cover.complexity.summary import NO_KIND, ComplexitySummary, ComplexitySums, KindGroup
from rag_cover.complexity.verdicts import retrieval_complexity

__all__ = [
    "NO_KIND",
    "AnswerSource",
    "Calibration",
    "CalibrationResult",
    "CompletenessMethod",
    "Complexity",
    "ComplexityMeasure",
    "ComplexitySummary",
    "ComplexitySums",
    "Constraints",
    "DocumentEvidence",
    "Evidence",
    "Kind",
    "KindGroup",
    "Labelled",
    "Standing",
    "calibrate",
    "calibration_for",
    "complexities_of",
    "complexity_of",
    "description_of",
    "hardness",
    "kinds_of",
    "probe",
    "retrieval_complexity",
    "standing_of",
]
