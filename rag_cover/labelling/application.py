"""The page's application: what the browser asks for, and what it is sent.

Nothing is looked up in the file system by a name from outside: every file of the page is known here.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from rag_cover.errors import InvalidValueError, RagCoverError, needs_extra
from rag_cover.evaluation import Evaluation
from rag_cover.labelling.access import Access, ASGIApp, GuardedApp
from rag_cover.labelling.agreement import compare_annotators, find_disagreements
from rag_cover.labelling.findings import find_out
from rag_cover.labelling.session import GRADES, LabelSession
from rag_cover.labelling.tables import corrected_lines, corrections_jsonl, labels_csv, labels_jsonl
from rag_cover.labelling.views import agreement_view, disagreement_view, findings_sentences, item_view, progress_view
from rag_cover.questions import Role
from rag_cover.stores.labels import Label, read_label_file

with needs_extra("label", "starlette"):
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

__all__ = ["LabelService", "make_application"]

_PAGES = {"/": "label.html", "/annotators": "annotators.html"}
_STATIC = {
    "label.css": "text/css",
    "label.js": "text/javascript",
    "annotators.js": "text/javascript",
    "dom.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
Body = Mapping[str, Any]
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class LabelService:
    """What the page can ask for; ``others`` are files of labels of further annotators."""

    evaluation: Evaluation
    session: LabelSession
    others: Sequence[Path] = ()

    def next(self, _: Body) -> Body:
        """Return the verdict to label, and how far the annotator is."""
        draw = self.session.next()
        item = None if draw is None else item_view(self.session.shown(draw.key))
        return {"item": item, "progress": progress_view(self.session)}

    def label(self, body: Body) -> Body:
        """Keep a label, and return the next verdict."""
        self.session.say(_text_of(body, "key"), _grade_of(body))
        return self.next({})

    def undo(self, _: Body) -> Body:
        """Take the last label back, and return its verdict."""
        self.session.undo()
        return self.next({})

    def correct(self, body: Body) -> Body:
        """Keep a corrected sub-question, and return its verdict."""
        role = _text_of(body, "role")
        if role and role not in set(Role):
            message = f"{role!r} is no role; roles are {', '.join(Role)}"
            raise InvalidValueError(message)
        item = self.session.correct(_text_of(body, "key"), _text_of(body, "text"), Role(role) if role else None)
        return {"item": item_view(item), "progress": progress_view(self.session)}

    def findings(self, _: Body) -> Body:
        """Say what the labels tell so far."""
        found = find_out(self.evaluation, self.session.items.values(), self.session.path)
        return {"sentences": findings_sentences(found)}

    def agreement(self, _: Body) -> Body:
        """Compare annotators, and list what they disagree about."""
        labels, items = self._labels(), self.session.items
        return {
            "agreements": [agreement_view(each) for each in compare_annotators(labels, items)],
            "disagreements": [disagreement_view(each) for each in find_disagreements(labels, items)],
            "progress": progress_view(self.session),
        }

    def adjudicate(self, body: Body) -> Body:
        """Settle a disagreement, and return what is left."""
        self.session.adjudicate(_text_of(body, "key"), _grade_of(body))
        return self.agreement({})

    def export(self, name: str) -> str | None:
        """Return a file to take along; None where there is none of this name."""
        match name:
            case "labels.jsonl":
                return labels_jsonl(self._own_labels())
            case "labels.csv":
                return labels_csv(self._own_labels())
            case "corrections.jsonl":
                return corrections_jsonl(self.session.corrections)
            case "corrected.jsonl":
                return corrected_lines(self.evaluation.results, self.session.corrections)
            case _:
                return None

    def _own_labels(self) -> tuple[Label, ...]:
        return read_label_file(self.session.path) if self.session.path.exists() else ()

    def _labels(self) -> tuple[Label, ...]:
        return (*self._own_labels(), *(label for path in self.others for label in read_label_file(path)))


def make_application(service: LabelService, access: Access) -> ASGIApp:
    """Make the application of a page, behind its guard."""
    reading = {"next": service.next, "findings": service.findings, "agreement": service.agreement}
    writing = {
        "label": service.label,
        "undo": service.undo,
        "correct": service.correct,
        "adjudicate": service.adjudicate,
    }
    routes = [
        *(Route(path, partial(_send_file, name, "text/html"), methods=["GET"]) for path, name in _PAGES.items()),
        *(Route(f"/static/{name}", partial(_send_file, name, kind), methods=["GET"]) for name, kind in _STATIC.items()),
        *(Route(f"/api/{name}", _reader(answer), methods=["GET"]) for name, answer in reading.items()),
        *(Route(f"/api/{name}", _writer(answer), methods=["POST"]) for name, answer in writing.items()),
        Route("/export/{name}", _exporter(service), methods=["GET"]),
    ]
    return GuardedApp(Starlette(routes=routes), access)


async def _send_file(name: str, kind: str, _: Request) -> Response:
    content = (files("rag_cover.labelling") / "page" / name).read_bytes()
    return Response(content, media_type=kind)


def _reader(answer: Callable[[Body], Body]) -> Endpoint:
    async def respond(_: Request) -> Response:
        return await _reply(answer, {})

    return respond


def _writer(answer: Callable[[Body], Body]) -> Endpoint:
    async def respond(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return _failure("A request that changes something is JSON.", 415)
        try:
            body = json.loads(await request.body())
        except (ValueError, RecursionError):
            return _failure("The request is not JSON.", 400)
        if not isinstance(body, dict):
            return _failure("The request is no JSON object.", 400)
        return await _reply(answer, body)

    return respond


def _exporter(service: LabelService) -> Endpoint:
    async def respond(request: Request) -> Response:
        name = request.path_params["name"]
        content = await run_in_threadpool(service.export, name)
        if content is None:
            return _failure("There is no such file.", 404)
        kind = "text/csv" if name.endswith(".csv") else "application/jsonl"
        return Response(content, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})

    return respond


async def _reply(answer: Callable[[Body], Body], body: Body) -> Response:
    try:
        return JSONResponse(await run_in_threadpool(answer, body))
    except InvalidValueError as wrong:
        return _failure(str(wrong), 400)
    except RagCoverError as failed:
        return _failure(str(failed), 500)


def _failure(why: str, status: int) -> Response:
    return JSONResponse({"error": why}, status_code=status)


def _text_of(body: Body, name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        problem = f"{name!r} must be a text"
        raise InvalidValueError(problem)
    return value


def _grade_of(body: Body) -> Any:
    grade = _text_of(body, "grade")
    if grade not in GRADES:
        message = f"{grade!r} is no grade; there are {', '.join(GRADES)}"
        raise InvalidValueError(message)
    return grade
