"""Component studies: settings of a pipeline on one question set, by what their retrieval is worth and how long it is."""

from rag_cover.studies.components import study_components
from rag_cover.studies.findings import Difference, Effect, HurtQuestion, SettingFigures, Study
from rag_cover.studies.settings import Setting, format_level

__all__ = ["Difference", "Effect", "HurtQuestion", "Setting", "SettingFigures", "Study", "format_level", "study_components"]
