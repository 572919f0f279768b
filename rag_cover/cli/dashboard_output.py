"""A dashboard as JSON data: the figures that the page shows, whole."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rag_cover.cli.json_output import summary_document
from rag_cover.dashboards import CauseFigures, Dashboard, PipelineFigures, StoreFigures, WorstTrace, describe_remedies

__all__ = ["dashboard_document"]


def dashboard_document(dashboard: Dashboard) -> dict[str, Any]:
    """Write a dashboard as JSON data; what is undefined is null."""
    return {
        "stores": [_store(store) for store in dashboard.stores],
        "refused": [asdict(each) for each in dashboard.refused],
        "selection": dashboard.selection,
        "traces": dashboard.traces,
        "held": dashboard.held,
        "causes": [_cause(each) for each in dashboard.causes],
    }


def _store(store: StoreFigures) -> dict[str, Any]:
    return {
        "store": store.name,
        "time": store.time.isoformat(),
        "time_source": store.time_source,
        "judge": store.judge,
        "measures": list(store.measures),
        "units": store.units,
        "traces": store.traces,
        "held": store.held,
        **_pipeline(store.all),
        "pipelines": {part.name: _pipeline(part) for part in store.pipelines},
        "pipelines_left_out": store.pipelines_left_out,
        "agreement": asdict(store.agreement) if store.agreement else None,
        "labels": store.labels,
        "causes": {str(cause): count for cause, count in store.causes.items()},
    }


def _pipeline(part: PipelineFigures) -> dict[str, Any]:
    spreads = {"latency_s": part.latency_s, "tokens": part.tokens, "cost": part.cost}
    return {
        "summary": summary_document(part.summary),
        **{name: asdict(spread) if spread else None for name, spread in spreads.items()},
    }


def _cause(each: CauseFigures) -> dict[str, Any]:
    return {
        "cause": str(each.cause),
        "lost": each.lost,
        "traces": each.traces,
        "in_latest": each.in_latest,
        "remedies": list(describe_remedies(each.cause, each.evidence)),
        "worst": [_worst(question) for question in each.worst],
    }


def _worst(question: WorstTrace) -> dict[str, Any]:
    return {
        "store": question.store,
        "trace": question.trace_id,
        "question": question.question,
        "pipeline": question.pipeline,
        "covered": question.covered,
        "core": question.core,
        "lost": list(question.lost),
        "lost_count": question.lost_count,
    }
