"""`quelea ingest --watch`: what is sent and when, and the command as a process that is told to end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from quelea_cli import folder_watch
from quelea_cli.commands.ingest import Upload, find_files
from quelea_cli.errors import EXIT_UNREACHABLE, EXIT_USAGE, CliError
from quelea_cli.folder_watch import REST_SECONDS, Looks, Notes

if TYPE_CHECKING:
    from .conftest import FakeGateway

Run = Callable[..., tuple[int, str, str]]
DEADLINE = 120.0


class Folder:
    """A folder, its looks, and a clock that the test moves."""

    def __init__(self, path: Path) -> None:
        self.path = path / "in"
        self.path.mkdir()
        self.file = path / "notes.json"
        self.now = 0.0
        self.restart()

    def restart(self) -> None:
        self.notes = Notes(self.file)
        self.looks = Looks(self.notes, lambda: find_files([self.path])[0], lambda: self.now)

    def write(self, name: str, text: str) -> None:
        (self.path / name).write_text(text)

    def look(self, after: float = 0.0) -> list[str]:
        """Names of what is to be sent; all of it is sent."""
        self.now += after
        found = self.looks.look()
        for one in found:
            self.looks.done(one)
        self.notes.save()
        return [one.path.name for one in found]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_file_is_sent_once_it_rests(folder: Folder) -> None:
    folder.write("a.txt", "half")
    assert folder.look() == []
    assert folder.looks.waiting
    folder.write("a.txt", "half and more")
    assert folder.look(REST_SECONDS) == []
    assert folder.look(REST_SECONDS / 2) == []
    assert folder.look(REST_SECONDS / 2) == ["a.txt"]
    assert folder.look(REST_SECONDS) == []


def test_an_empty_file_waits_for_its_content(folder: Folder) -> None:
    folder.write("a.txt", "")
    assert folder.look() == []
    assert folder.look(REST_SECONDS) == []
    folder.write("a.txt", "a")
    assert folder.look() == []
    assert folder.look(REST_SECONDS) == ["a.txt"]


def test_after_a_restart_only_what_changed_is_sent(folder: Folder) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        folder.write(name, "one")
    folder.look()
    assert folder.look(REST_SECONDS) == ["a.txt", "b.txt", "c.txt"]
    folder.restart()
    folder.write("b.txt", "two")
    os.utime(folder.path / "c.txt", ns=(0, 0))  # touched: same content
    assert folder.look() == []
    assert folder.look(REST_SECONDS) == ["b.txt"]
    folder.restart()
    assert folder.look() == []
    assert not folder.looks.waiting


def test_what_was_not_sent_is_found_again(folder: Folder) -> None:
    folder.write("a.txt", "one")
    folder.looks.look()
    folder.now += REST_SECONDS
    assert [one.path.name for one in folder.looks.look()] == ["a.txt"]
    assert folder.look() == []
    assert folder.look(REST_SECONDS) == ["a.txt"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 1}', '{"a": ["x", 1, ""]}'])
def test_broken_notes_count_as_none(folder: Folder, text: str) -> None:
    folder.file.write_text(text)
    folder.restart()
    folder.write("a.txt", "one")
    folder.look()
    assert folder.look(REST_SECONDS) == ["a.txt"]


def test_a_gateway_that_is_away_is_told_once_and_its_files_wait(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wake(*_: object, **__: object) -> Iterator[set[str]]:
        yield from ({"something"} for _ in range(5))
        raise KeyboardInterrupt

    monkeypatch.setattr("watchfiles.watch", wake)
    monkeypatch.setattr(folder_watch, "REST_SECONDS", 0.0)
    folder.write("a.txt", "one")
    folder.write("bad.txt", "two")
    rounds: list[list[str]] = []
    told: list[str] = []

    def send(files: list[Upload]) -> None:
        rounds.append([one.path.name for one in files])
        if len(rounds) == 2:  # while its jobs were followed
            raise CliError("There is no gateway.", EXIT_UNREACHABLE)
        for one in files:
            one.away = len(rounds) == 1 and one.path.name == "a.txt"
            failed = one.away or one.path.name == "bad.txt"
            one.job = {"state": "failed", "error": "There is no gateway."} if failed else {"state": "succeeded"}

    with pytest.raises(KeyboardInterrupt):
        folder_watch.watch([folder.path], folder.notes, lambda: find_files([folder.path])[0], send, told.append)
    assert rounds == [["a.txt", "bad.txt"], ["a.txt"], ["a.txt"]]
    assert told == ["There is no gateway; it is tried again."]
    folder.restart()
    assert folder.look() == []
    assert not folder.looks.waiting


@contextmanager
def watching(folder: Path, home: Path, url: str, *more: str) -> Iterator[subprocess.Popen[str]]:
    """The command as a process, ended with the block at the latest."""
    command = [sys.executable, "-m", "quelea_cli", "ingest", "--watch", str(folder), "--url", url, *more]
    process = subprocess.Popen(command, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=DEADLINE)


def uploads(gateway: FakeGateway) -> list[bytes]:
    return [body for method, path, _, body in gateway.seen if (method, path) == ("POST", "/v1/documents")]


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


def test_the_command_sends_tells_and_ends_when_told(gateway: FakeGateway, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "bad.txt").write_text("bad")
    gateway.jobs["j1"] = [{"id": "j1", "state": "failed", "error": "It is encrypted."}]
    with watching(folder, tmp_path, gateway.url) as process:
        assert process.stdout
        assert process.stdout.readline() == f"failed  {folder / 'bad.txt'}: It is encrypted.\n"
        (folder / "below").mkdir()
        (folder / "below/new.txt").write_text("new")
        assert process.stdout.readline() == f"ready   {folder / 'below/new.txt'} (3 pages)\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, out) == (0, "")
    assert err.splitlines()[-1] == "Watching no more."
    assert len(uploads(gateway)) == 2

    (folder / "bad.txt").write_text("good")
    with watching(folder, tmp_path, gateway.url, "--json") as process:
        assert process.stdout
        line = json.loads(process.stdout.readline())
        assert (line["path"], line["state"]) == (str(folder / "bad.txt"), "succeeded")
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 0
    assert err.splitlines()[-1] == "Watching no more."
    assert len(uploads(gateway)) == 3


def test_a_refused_key_ends_the_watch(gateway: FakeGateway, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.txt").write_text("a")
    gateway.answer("/v1/documents", (401, {"error": {"code": "UNAUTHENTICATED", "message": "No key.", "details": {}}}))
    with watching(tmp_path / "in", tmp_path, gateway.url) as process:
        _, err = process.communicate(timeout=DEADLINE)
    assert process.returncode != 0
    assert "No key." in err
    assert "Traceback" not in err


def test_only_folders_are_watched(gateway: FakeGateway, run: Run, tmp_path: Path) -> None:
    for wrong in ("https://example.com/a", tmp_path / "absent"):
        code, _, err = run("ingest", "--watch", wrong)
        assert code == EXIT_USAGE
        assert "--watch takes folders" in err
