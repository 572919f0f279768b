"""Results for people: a self-contained HTML page and tables for the terminal."""

from rag_cover.reports.checking import check_panels
from rag_cover.reports.html import write_comparison, write_report
from rag_cover.reports.terminal import comparison_table, spending_table, summary_panel, worst_questions

__all__ = [
    "check_panels",
    "comparison_table",
    "spending_table",
    "summary_panel",
    "worst_questions",
    "write_comparison",
    "write_report",
]
