"""Component studies: settings of a pipeline on one question set, by what their retrieval is worth and how long it is."""

from rag_cover.studies.components import study_components
from rag_cover.studies.findings import Effect, HurtQuestion, SettingFigures, Study, UtilityDifference
from rag_cover.studies.settings import Setting, format_level

__all__ = [
    "Effect",
    "HurtQuestion",
    "Setting",
    "SettingFigures",
    "Study",
    "UtilityDifference",
    "format_level",
    "study_components",
]
