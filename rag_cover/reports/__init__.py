"""Results for people: a self-contained HTML page and tables for the terminal."""

from rag_cover.reports.augmentation import augmentation_panel, before_and_after
from rag_cover.reports.complexity_terminal import complexity_panel, hardest_table
from rag_cover.reports.dashboard import dashboard_table
from rag_cover.reports.html import write_comparison, write_dashboard, write_pairwise, write_report, write_skills, write_study
from rag_cover.reports.judge_check import check_panels
from rag_cover.reports.pairwise import winning_table
from rag_cover.reports.skills import skills_table
from rag_cover.reports.study import study_table
from rag_cover.reports.terminal import comparison_table, spending_table, summary_panel, worst_questions
from rag_cover.reports.utility_terminal import hurting_table, trace_utilities, utility_panel

__all__ = [
    "augmentation_panel",
    "before_and_after",
    "check_panels",
    "comparison_table",
    "complexity_panel",
    "dashboard_table",
    "hardest_table",
    "hurting_table",
    "skills_table",
    "spending_table",
    "study_table",
    "summary_panel",
    "trace_utilities",
    "utility_panel",
    "winning_table",
    "worst_questions",
    "write_comparison",
    "write_dashboard",
    "write_pairwise",
    "write_report",
    "write_skills",
    "write_study",
]
