"""A run as a Jupyter notebook: its plan, every piece of code with what it printed and drew, its answer."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import nbformat
import nbformat.v4

from quelea_gateway.core.agent.model import Event, Run

_V4: Any = nbformat.v4  # its functions have no annotations


def notebook(run: Run, events: Sequence[Event], images: Mapping[str, bytes]) -> bytes:
    """A valid notebook (format 4.5).

    Args:
        images: Plots by the name of their artifact; one that is missing is only named.
    """
    cells: list[Any] = [_text(f"# {_line(run.question)}\n\nRun `{run.id}` · as of {run.as_of} · {run.state}", run.id)]
    outputs: dict[tuple[int, int], Any] = {}
    for event in events:
        data, key = event.data, f"{run.id}-{event.number}"
        if event.name == "plan":
            cells.append(_text(f"## Plan\n\n{data.get('profile', '')}\n\n{_plan(data.get('plan', []))}", key))
        elif event.name == "step":
            shown = {name: value for name, value in data.items() if name not in ("step", "by")}
            cells.append(_text(f"## Step {data['step']}\n\n`{json.dumps(shown, ensure_ascii=False)}`", key))
        elif event.name == "code":
            cell = _V4.new_code_cell(data["code"], id=_id(key), execution_count=data["step"])
            outputs[data["step"], data.get("attempt", 0)] = cell
            cells.append(cell)
        elif event.name == "output":
            cell = outputs.get((data["step"], data.get("attempt", 0)))
            if cell is not None:
                cell.outputs.extend(_outputs(data, images))
            else:
                cells.append(_text(f"```text\n{_escape_fences(data.get('text', ''))}\n```", key))
        elif event.name == "reflection":
            lines = "\n".join(f"- {_line(one)}" for one in data.get("insights", []))
            plan = f"\n\nPlan from here on:\n\n{_plan(data['plan'])}" if data.get("plan") else ""
            cells.append(_text(f"{lines}{plan}" or "-", key))
    if run.answer:
        cells.append(_text(_answer(run.answer), f"{run.id}-answer"))
    elif run.error:
        cells.append(_text(f"## {run.state}\n\n{run.error}", f"{run.id}-error"))
    made = _V4.new_notebook(
        cells=cells,
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
            "quelea": {"run": run.id, "as_of": run.as_of},
        },
    )
    nbformat.validate(made)
    return str(_V4.writes(made)).encode("utf-8", "replace")


def _outputs(data: Mapping[str, Any], images: Mapping[str, bytes]) -> list[Any]:
    found = [_V4.new_output("stream", name=name, text=data[name]) for name in ("stdout", "stderr") if data.get(name)]
    if data.get("error"):
        lines = str(data["error"]).splitlines()
        name, _, value = (lines[-1] if lines else data["reason"]).partition(": ")
        found.append(_V4.new_output("error", ename=name, evalue=value, traceback=lines))
    for file in data.get("files", []):
        image = images.get(file["name"])
        if file["media_type"] in ("image/png", "image/jpeg") and image is not None:
            bundle = {file["media_type"]: base64.b64encode(image).decode(), "text/plain": file["name"]}
            found.append(_V4.new_output("display_data", data=bundle))
    return found


def _answer(answer: Mapping[str, Any]) -> str:
    lines = ["## Answer", "", answer["text"]]
    for name, title in (("missing", "Missing"), ("withheld", "Withheld: no source has these figures")):
        if answer[name]:
            lines += ["", f"### {title}", "", *(f"- {_line(one)}" for one in answer[name])]
    used = [one for one in answer["sources"] if one["used"]]
    if used:
        lines += ["", "### Sources", ""]
        lines += [
            f"- [{one['number']}] {one['kind']}, step {one['step']}: {_line(one['title'])}"
            + (f" (fetched {one['fetched']}, sha256 {one['sha256']})" if one["sha256"] else "")
            for one in used
        ]
    return "\n".join(lines)


def _plan(plan: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(f"{number}. **{one['action']}** {_line(one['task'])}" for number, one in enumerate(plan, start=1))


def _text(source: str, key: str) -> Any:
    return _V4.new_markdown_cell(source, id=_id(key))


def _id(key: str) -> str:
    """The same cell has the same id in every export."""
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def _line(text: str) -> str:
    return " ".join(str(text).split())


def _escape_fences(text: str) -> str:
    return text.replace("```", "'''")
