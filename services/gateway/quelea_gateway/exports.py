"""A run as a notebook or report, an answer as Markdown, workbook or research note, for every interface."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from quelea_kit.errors import Conflict, InvalidInput, NotFound

from quelea_gateway.adapters import exports as writers
from quelea_gateway.core.agent.files import BUNDLE, code_name
from quelea_gateway.core.agent.model import ENDED, Event, Run
from quelea_gateway.core.agent.runs.manager import Manager
from quelea_gateway.core.answers.export import Link, heading, markdown
from quelea_gateway.core.answers.note import note

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PICTURES = {"image/png", "image/jpeg"}
_MOST_PICTURES = 20
AnswerFormat = Literal["markdown", "xlsx", "docx", "pdf"]
MEDIA_TYPES: dict[AnswerFormat, str] = {
    "markdown": "text/markdown; charset=utf-8",
    "xlsx": XLSX,
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pdf": "application/pdf",
}


async def export_run(manager: Manager, run: Run, name: str) -> bytes:
    """notebook.ipynb or report.pdf of a run. Raises Conflict while the run goes on (the report), NotFound."""
    if name == "report.pdf" and run.state not in ENDED:
        raise Conflict("The run is still in progress; its report is available when it has ended.")
    events = await manager.history(run.tenant, run.id)
    pictures = {}
    for one in [one for one in run.artifacts if one.media_type in PICTURES][:_MOST_PICTURES]:
        with contextlib.suppress(NotFound):
            pictures[one.name] = await manager.artifact(run.tenant, run.id, one.name)
    return await asyncio.to_thread(_write_run, run, events, pictures, name)


def _write_run(run: Run, events: Sequence[Event], pictures: Mapping[str, bytes], name: str) -> bytes:
    if name == "report.pdf":
        return writers.report.report(run, events, pictures)
    return writers.notebook.notebook(run, events, pictures)


async def archive_run(manager: Manager, run: Run) -> bytes:
    """All that a run made, as a ZIP: code/, files/, its events, notebook and report, and what it fetched.

    Raises:
        Conflict: The run goes on.
    """
    if run.state not in ENDED:
        raise Conflict("The run is still in progress; its archive is available when it has ended.")
    events = await manager.history(run.tenant, run.id)
    parts = {
        "events.jsonl": "".join(
            json.dumps({"id": one.number, "event": one.name, "at": one.at, **one.data}, ensure_ascii=False) + "\n"
            for one in events
        ).encode("utf-8", "replace")
    }
    for one in events:
        if one.name == "code":
            name = code_name(one.data["step"], one.data.get("attempt", 0))
            parts[f"code/{name}"] = one.data["code"].encode("utf-8", "replace")
    for artifact in run.artifacts:
        with contextlib.suppress(NotFound):
            parts[f"files/{artifact.name}"] = await manager.artifact(run.tenant, run.id, artifact.name)
    for name in ("notebook.ipynb", "report.pdf"):
        parts[name] = await export_run(manager, run, name)
    if run.has_bundle:
        with contextlib.suppress(NotFound):
            parts["data.bundle"] = await manager.artifact(run.tenant, run.id, BUNDLE)
    return await asyncio.to_thread(_zip, parts)


def _zip(parts: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)  # the same run, the same bytes
    return file.getvalue()


async def export_conversation(
    title: str, turns: Sequence[tuple[str, Mapping[str, Any]]], link: Link, wanted: AnswerFormat
) -> bytes:
    """All questions of a conversation with their answers, one behind the other.

    Args:
        title: Of the conversation.
        turns: Questions and answers, as POST /v1/ask gives them; one at least.
        link: Where a citation, or an operand, opens.
    """
    if wanted == "markdown":
        parts = [markdown(question, answer, link) for question, answer in turns]
        return "\n---\n\n".join([heading(title), *parts]).encode()
    return await asyncio.to_thread(_made, turns, link, wanted)


async def export_answer(question: str, answer: Mapping[str, Any], link: Link, wanted: AnswerFormat) -> bytes:
    """An answer with its sources.

    Args:
        question: As it was asked.
        answer: As POST /v1/ask gives it.
        link: Where a citation, or an operand, opens.
    """
    if wanted == "markdown":
        return markdown(question, answer, link).encode()
    return await asyncio.to_thread(_made, [(question, answer)], link, wanted)


def _made(turns: Sequence[tuple[str, Mapping[str, Any]]], link: Link, wanted: AnswerFormat) -> bytes:
    notes = [note(question, answer, link) for question, answer in turns]
    if wanted == "xlsx":
        figures = [answer.get("figures") or [] for _, answer in turns]
        return writers.spreadsheet.answer_workbook(list(zip(notes, figures, strict=True)), link)
    if wanted == "docx":
        return writers.note_docx.note_docx(notes)

    from reportlab.platypus.doctemplate import LayoutError  # noqa: PLC0415  # see `writers`

    try:
        return writers.note_pdf.note_pdf(notes)
    except LayoutError as error:
        message = "A part of the answer is too long for a page; export it as Markdown or XLSX."
        raise InvalidInput(message, details={"field": "answer"}) from error
