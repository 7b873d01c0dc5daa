"""Files that code made, kept under names that are safe everywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quelea_gateway.core.agent.decision.parsing import clean
from quelea_gateway.core.agent.model import TEXTS, Artifact, Run
from quelea_gateway.core.agent.ports import CodeFile
from quelea_gateway.core.agent.work import Work

BUNDLE = "bundle.quelea"
"""What a run fetched, in the store."""
_READ_BYTES = 200_000
_UNSAFE = re.compile(r"[^\w.\-]+|\.{2,}")
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png", "png"),
    (b"\xff\xd8\xff", "image/jpeg", "jpg"),
    (b"%PDF-", "application/pdf", "pdf"),
)
_TEXTS = {"csv": "text/csv", "json": "application/json", "txt": "text/plain", "md": "text/plain", "tsv": "text/plain"}


def media_type(name: str, data: bytes) -> str:
    """By the bytes; a name only tells kinds of text apart. SVG and HTML, which can carry code, are plain bytes."""
    for magic, kind, _ in _MAGIC:
        if data.startswith(magic):
            return kind
    if b"\x00" not in data[:65536]:
        try:
            data[:65536].decode("utf-8")
        except UnicodeDecodeError as error:
            if error.start < min(len(data), 65536) - 4:
                return "application/octet-stream"
        return _TEXTS.get(name.rsplit(".", 1)[-1].lower(), "application/octet-stream")
    return "application/octet-stream"


def safe_name(path: str, step: int, taken: set[str]) -> str:
    """A file name of its own: "step3-trend.png"."""
    stem = _UNSAFE.sub("_", clean(path, 400).replace("\\", "/").rsplit("/", 1)[-1]).strip("._")[-80:] or "file"
    name, count = f"step{step}-{stem}", 1
    while name in taken:
        count += 1
        name = f"step{step}-{count}-{stem}"
    return name


def code_name(step: int, attempt: int) -> str:
    """A file name for code: "step3.py", "step3-2.py" for what was tried after it."""
    return f"step{step}-{attempt + 1}.py" if attempt else f"step{step}.py"


def stored_name_of(run: Run, name: str) -> str:
    """Under which name the store has a file of a run; empty when the run has no such file."""
    if name == "bundle":
        return BUNDLE if run.has_bundle else ""
    return name if any(one.name == name for one in run.artifacts) else ""


def add_text(work: Work, artifact: Artifact, data: bytes, *, run: str = "") -> int:
    """A table or a text that code wrote, as a source; its number, 0 where there is no room.

    Args:
        run: The run before this one that wrote it.
    """
    text = work.scrubbed(clean(data[:_READ_BYTES].decode("utf-8", "replace")))
    kind = {"text/csv": "csv", "application/json": "json"}.get(artifact.media_type, "")
    return work.evidence.execution(
        artifact.step, f"{artifact.name}, of step {artifact.step}", text, day=work.request.as_of, kind=kind,
        traced=None if artifact.traced else "", run=run,
    )  # fmt: skip


async def keep(work: Work, files: Sequence[CodeFile]) -> list[tuple[Artifact, bytes]]:
    """Store files as artifacts of the run, as far as its bounds go."""
    kept = []
    room = work.rules.most_artifact_bytes - sum(one.bytes for one in work.artifacts)
    taken = {one.name for one in work.artifacts}
    for file in files:
        if len(work.artifacts) >= work.rules.most_artifacts or len(file.data) > room:
            work.notice(f"{clean(file.path, 100)}: not kept, the run has too many files already.")
            continue
        name = safe_name(file.path, work.step, taken)
        kind = media_type(file.path, file.data)
        is_traced = kind in TEXTS and not work.variables.untraced_file(file.path)
        artifact = Artifact(name, kind, len(file.data), work.step, clean(file.path, 200), is_traced)
        await work.journal.artifact(artifact, file.data)
        work.artifacts.append(artifact)
        taken.add(name)
        room -= len(file.data)
        kept.append((artifact, file.data))
    return kept
