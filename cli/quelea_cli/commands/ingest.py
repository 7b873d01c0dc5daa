"""`quelea ingest`: files, folders and pages of the web into the knowledge base, with progress for every job."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, TypeVar
from urllib.parse import urlsplit

import typer
from quelea_client import Client, QueleaError
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from quelea_cli import folder_watch
from quelea_cli.errors import EXIT_FAILED, EXIT_NOT_FOUND, EXIT_UNREACHABLE, EXIT_USAGE, CliError, told
from quelea_cli.options import DEFAULT_URL, ApiKey, AsJson, Into, Url, connect
from quelea_cli.output import Json, consoles, print_json, say

if TYPE_CHECKING:
    from quelea_cli.object_store import Prefix

KINDS = frozenset(
    ".pdf .html .htm .xhtml .docx .xlsx .xls .pptx .csv .tsv .json .jsonl .md .markdown .txt .text".split()
)
T = TypeVar("T")

_POLL_SECONDS = 0.3
_ASKED_AT_ONCE = 8
_ENDED = ("succeeded", "failed")
_PAUSES: Sequence[float] = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds between tries while the gateway, or a service behind it, is away; then the file has failed."""


@dataclass
class Upload:
    """One file, or one page of the web, on its way."""

    path: Path
    uri: str
    job: Json = field(default_factory=dict)
    url: str = ""
    """Of a page of the web; path is then its last part."""
    collection: str = ""
    """Into which it goes; empty: the default one."""
    away: bool = False
    """It failed because the gateway, or a service behind it, stayed away."""
    prefix: Prefix | None = None
    """Where an object of an object store is; path is then its name below it."""

    @property
    def name(self) -> str:
        """As the user named it."""
        return self.url or (self.uri if self.prefix else str(self.path))

    @property
    def error(self) -> str:
        """Why it failed, empty when it did not."""
        return str(self.job.get("error") or "failed") if self.job.get("state") == "failed" else ""


def find_files(paths: list[Path]) -> tuple[list[Upload], int]:
    """Every named file, and those of known kinds below every named folder; and how many others were passed over.

    The uri of a file names its folder and its place below it, so that a later version of it replaces this one, and
    files of the same name elsewhere do not.
    """
    found: list[Upload] = []
    passed_over = 0
    for path in paths:
        if path.is_dir():
            for one in sorted(path.rglob("*")):
                parts = one.relative_to(path).parts
                if not one.is_file() or any(part.startswith(".") for part in parts):
                    continue
                if one.suffix.lower() in KINDS:
                    found.append(Upload(one, _uri_below(path, one)))
                else:
                    passed_over += 1
        elif path.is_file():
            found.append(Upload(path, _uri_below(path.parent, path)))
        else:
            raise CliError(f"No such file or folder: {path}.", EXIT_USAGE)
    return found, passed_over


def find(given: list[str]) -> tuple[list[Upload], int]:
    """Web pages, objects, and all that `find_files` finds, of the given addresses; how many others were passed over."""
    urls = [one for one in given if one.lower().startswith(("http://", "https://"))]
    stores = [one for one in given if one.startswith("s3://")]
    found, passed_over = find_files([Path(one) for one in given if one not in urls and one not in stores])
    pages = [Upload(Path(urlsplit(url).path.rstrip("/") or "/"), url, url=url) for url in dict.fromkeys(urls)]
    for url in dict.fromkeys(stores):
        objects, others = _find_objects(url)
        found += objects
        passed_over += others
    return [*pages, *found], passed_over


def _find_objects(url: str) -> tuple[list[Upload], int]:
    """One object, where the address has the suffix of a known kind, else those of known kinds below it."""
    from quelea_cli.object_store import Prefix  # noqa: PLC0415  # loads slowly, and few need it

    if PurePosixPath(url).suffix.lower() in KINDS:
        folder, _, name = url.rpartition("/")
        prefix, names = Prefix(folder), [name]
    else:
        prefix = Prefix(url)
        names = prefix.names()
    known = [name for name in names if PurePosixPath(name).suffix.lower() in KINDS]
    uploads = [Upload(Path(name), f"{prefix.url}/{name}", prefix=prefix) for name in known]
    return uploads, len(names) - len(known)


def read_metadata(given: str) -> Json:
    """--metadata: a JSON object, or the name of a file that holds one."""
    if not given:
        return {}
    text = given
    if not given.lstrip().startswith("{"):
        try:
            text = Path(given).read_text(encoding="utf-8")
        except OSError as error:
            raise CliError(
                f"--metadata {given}: {error.strerror}. Give a JSON object or a file.", EXIT_USAGE
            ) from error
    try:
        metadata = json.loads(text)
    except ValueError as error:
        raise CliError(f"--metadata is not valid JSON: {error}.", EXIT_USAGE) from error
    if not isinstance(metadata, dict):
        raise CliError('--metadata must be a JSON object, for example {"company": "Apple"}.', EXIT_USAGE)
    return metadata


def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH|URL...",
            help="Files, folders (with everything below them), addresses of web pages, or s3://bucket/prefix.",
        ),
    ],
    metadata: Annotated[
        str, typer.Option(help="JSON object, or a file with one; it overrides the metadata that the documents contain.")
    ] = "",
    keep_watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Keep running until Ctrl-C, and send every file that is new or changes below the folders."
        ),
    ] = False,
    collection: Into = "",
    url: Url = DEFAULT_URL,
    api_key: ApiKey = "",
    as_json: AsJson = False,
) -> None:
    """Put documents into the knowledge base and wait until they can be found."""
    if keep_watch:
        with connect(url, api_key) as gateway:
            stay(gateway, paths, read_metadata(metadata), collection, as_json=as_json)
        return
    uploads, passed_over = find(paths)
    if not uploads:
        raise CliError(
            "No documents found; supported are PDF, HTML, DOCX, XLSX, PPTX, CSV, JSON, Markdown and text files."
        )
    for upload in uploads:
        upload.collection = collection
    out, err = consoles()
    with connect(url, api_key) as gateway:
        run(gateway, uploads, read_metadata(metadata), err if as_json else out, quiet=as_json)
    failed = [upload for upload in uploads if upload.error]
    if as_json:
        print_json(
            {
                "jobs": [{"url" if upload.url else "path": upload.name, **upload.job} for upload in uploads],
                "passed_over": passed_over,
            }
        )
    else:
        say(out, summary(uploads, passed_over))
    if failed:
        raise typer.Exit(1)


def stay(gateway: Client, given: list[str], metadata: Json, collection: str, *, as_json: bool) -> None:
    """Keep watch over folders until SIGINT or SIGTERM: a line, or with as_json an object, for every document."""
    folders = [Path(one) for one in dict.fromkeys(given)]
    if wrong := [str(one) for one in folders if not one.is_dir()]:
        raise CliError(f"--watch takes folders; {wrong[0]} is not one.", EXIT_USAGE)
    out, err = consoles()

    def find_all() -> list[Upload]:
        found = find_files(folders)[0]
        for one in found:
            one.collection = collection
        return found

    def note(upload: Upload) -> None:
        if upload.job.get("state") not in _ENDED or upload.away:
            return
        if as_json:
            print(json.dumps({"path": upload.name, **upload.job}, ensure_ascii=False), flush=True)
        else:
            say(out, outcome_line(upload))

    notes = folder_watch.open_notes(folders, gateway.url, collection, json.dumps(metadata, sort_keys=True))
    say(err, f"Watching {', '.join(given)}; end with Ctrl-C.")
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        folder_watch.watch(
            folders, notes, find_all, lambda some: _follow(gateway, some, metadata, note), lambda line: say(err, line)
        )
    except KeyboardInterrupt:
        say(err, "Watching no more.")
    finally:
        signal.signal(signal.SIGTERM, before)


def summary(uploads: list[Upload], passed_over: int) -> str:
    """ "12 documents are in, 1 failed" in one line."""
    failed = sum(bool(upload.error) for upload in uploads)
    unchanged = sum(bool(upload.job.get("unchanged")) for upload in uploads)
    done = len(uploads) - failed
    line = f"{done} document{'' if done == 1 else 's'} ready"
    line += f" ({unchanged} were there already)" if unchanged else ""
    line += f", {failed} failed" if failed else ""
    return line + (f", {passed_over} files of other kinds passed over" if passed_over else "")


def run(
    gateway: Client,
    uploads: list[Upload],
    metadata: Json,
    console: Console,
    *,
    quiet: bool = False,
    short: bool = False,
) -> None:
    """Upload everything and follow every job to its end, showing how it goes.

    Args:
        gateway: Where to.
        uploads: Get their job.
        metadata: For every file.
        console: Gets bars on a terminal, a line for each document elsewhere.
        quiet: Show nothing.
        short: Elsewhere, a line for every tenth document and every failure only.
    """
    if console.is_terminal and not quiet:
        _with_bars(gateway, uploads, metadata, console)
        return

    ended = 0

    def note(upload: Upload) -> None:
        nonlocal ended
        if quiet or upload.job.get("state") not in _ENDED:
            return
        ended += 1
        if not short or upload.error:
            say(console, outcome_line(upload))
        elif ended % 10 == 0:
            say(console, f"{ended} of {len(uploads)} documents")

    _follow(gateway, uploads, metadata, note)


def outcome_line(upload: Upload) -> str:
    """What became of a file, in one line."""
    if upload.error:
        return f"failed  {upload.name}: {upload.error}"
    total = (upload.job.get("progress") or {}).get("total", 0)
    how = "already there" if upload.job.get("unchanged") else f"{total} pages"
    if replaced := upload.job.get("replaced"):
        how += f", replaces document {replaced}"
    return f"ready   {upload.name} ({how})"


def _uri_below(folder: Path, file: Path) -> str:
    """upload:reports~5d41402a/2023/10-K.pdf: two folders called reports are told apart by where they are."""
    whole = folder.resolve()
    place = hashlib.sha256(os.fsencode(whole)).hexdigest()[:8]
    return f"upload:{whole.name}~{place}/{file.relative_to(folder).as_posix()}"


def _with_bars(gateway: Client, uploads: list[Upload], metadata: Json, console: Console) -> None:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[count]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        whole = progress.add_task("all documents", total=len(uploads), count=f"0/{len(uploads)}")
        bars: dict[str, TaskID] = {}

        def note(upload: Upload) -> None:
            name, state = upload.uri, upload.job.get("state")
            if state in _ENDED:
                if name in bars:
                    progress.remove_task(bars.pop(name))
                progress.advance(whole)
                progress.update(whole, count=f"{progress.tasks[0].completed:.0f}/{len(uploads)}")
                if upload.error:
                    progress.console.print(outcome_line(upload), style="red", markup=False)
            elif state == "running":
                if name not in bars:
                    bars[name] = progress.add_task(upload.url or upload.path.name, total=None, count="")
                pages = upload.job.get("progress") or {}
                done, total = pages.get("done", 0), pages.get("total", 0)
                stage = upload.job.get("stage") or ""
                progress.update(bars[name], completed=done, total=total or None, count=f"{done}/{total} pages {stage}")

        _follow(gateway, uploads, metadata, note)


def _follow(gateway: Client, uploads: list[Upload], metadata: Json, note: Callable[[Upload], None]) -> None:
    """Upload one after the other, asking for the oldest jobs in between, until all have ended."""
    waiting: list[Upload] = []
    pauses: Sequence[float] = _PAUSES
    for upload in uploads:
        try:
            _patiently(functools.partial(_send, gateway, upload, metadata), pauses)
        except (CliError, QueleaError) as error:
            failure = told(error)
            if failure.code not in (EXIT_FAILED, EXIT_NOT_FOUND, EXIT_UNREACHABLE):  # the next would fail the same way
                raise
            upload.job = {"state": "failed", "error": failure.message}
            upload.away = failure.code == EXIT_UNREACHABLE
            note(upload)
            if upload.away:
                pauses = ()  # the others are tried once each, until one is taken
            continue
        pauses = _PAUSES
        waiting.append(upload)
        waiting = _ask_after(gateway, waiting, note, at_most=1)
    while waiting:
        waiting = _ask_after(gateway, waiting, note, at_most=_ASKED_AT_ONCE)
        if waiting:
            time.sleep(_POLL_SECONDS)


def _patiently(call: Callable[[], T], pauses: Sequence[float] = _PAUSES) -> T:
    """Call again while the gateway is away; CliError when it stays away."""
    for pause in pauses:
        try:
            return call()
        except QueleaError as error:
            if told(error).code != EXIT_UNREACHABLE:
                raise
        time.sleep(pause)
    return call()


def _send(gateway: Client, upload: Upload, metadata: Json) -> None:
    into = {"collection": upload.collection} if upload.collection else {}
    if upload.url:
        page: Json = {"url": upload.url, "metadata": metadata, **into}
        answer = gateway.request("POST", "/v1/documents", json=page)
        upload.job = {"state": "queued", **answer["jobs"][0]}
        return
    try:
        with upload.prefix.opened(upload.path.as_posix()) if upload.prefix else upload.path.open("rb") as file:
            answer = gateway.request(
                "POST",
                "/v1/documents",
                files=[("files", (upload.path.name, file))],
                data={"metadata": json.dumps([{"uri": upload.uri, **metadata}]), **into},
            )
    except OSError as error:
        raise CliError(f"cannot read it: {error.strerror}") from error
    upload.job = {"state": "queued", **answer["jobs"][0]}
    if upload.job.get("error"):
        upload.job["state"] = "failed"


def _ask_after(gateway: Client, waiting: list[Upload], note: Callable[[Upload], None], *, at_most: int) -> list[Upload]:
    for upload in waiting[:at_most]:
        upload.job = _patiently(functools.partial(gateway.request, "GET", f"/v1/jobs/{upload.job['id']}"))
        note(upload)
    return [upload for upload in waiting if upload.job.get("state") not in _ENDED]
