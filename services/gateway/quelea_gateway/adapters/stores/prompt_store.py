"""Versions of prompts in a folder or an object store (quelea_kit.files.storage), beside the agent's runs.

    versions/NAME.LANGUAGE/NUMBER-DIGEST.json   what was saved; never changed
    active/NAME.LANGUAGE.json                   the versions that were put in force, and the text of the last

Several gateways may share it: what one puts in force the others read within seconds.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from quelea_kit.errors import Conflict, NotFound, QueleaError, Unavailable
from quelea_kit.files.disk import Disk
from quelea_kit.logging import get_logger

from quelea_gateway.adapters.stores.file_store import FileStore, to_json
from quelea_gateway.core.prompts import (
    NO_EDITS,
    Activation,
    PromptSet,
    PromptTemplate,
    PromptVersion,
    body_of,
    label_prompt,
)

RENEW_SECONDS = 2.0
"""How long another gateway may answer with what was in force before."""
_WAIT_SECONDS = 1.0
"""How long an answer waits to hear what is in force, where that is not known; then with what was last."""
_THREADS = 2
_MOST_ACTIVATIONS = 50
_FILE = re.compile(r"(\d{6})-[0-9a-f]{8}\.json")
_ACTIVE = re.compile(r"([a-z_-]+)\.(en|zh)\.json")

log = get_logger(__name__)


class PromptStore(FileStore):
    """The versions under a URL.

    Args:
        url: A folder, or an fsspec URL (memory:// is for tests).
        most: Versions of one template that are kept.
        disk: The volume of a folder; None for an object store.
    """

    def __init__(self, url: str, *, most: int, disk: Disk | None = None) -> None:
        super().__init__(url, "prompts", threads=_THREADS, disk=disk)
        self._most = most
        self._changing = asyncio.Lock()
        self._set = NO_EDITS
        self._known_at = -1e9
        self._refresh: asyncio.Task[None] | None = None

    async def current(self) -> PromptSet:
        """The wordings in force, at most two seconds old; the last known ones while the store does not answer."""
        if time.monotonic() - self._known_at < RENEW_SECONDS:
            return self._set
        if self._refresh is None or self._refresh.done():
            self._refresh = asyncio.create_task(self._renew())
        await asyncio.wait({self._refresh}, timeout=_WAIT_SECONDS)
        return self._set

    async def _renew(self) -> None:
        asked = time.monotonic()
        try:
            self._set = await self._do(self._read_active)
        except (QueleaError, ValueError, KeyError, TypeError) as error:
            log.warning("prompts_not_read", why=str(error))
        self._known_at = asked

    async def versions(self, name: str, language: str) -> list[PromptVersion]:
        """What was saved, newest first."""
        return await self._do(self._versions, name, language)

    async def activations(self, name: str, language: str) -> list[Activation]:
        """What was put in force, the last one is."""
        return (await self._do(self._active, name, language))[0]

    async def add(self, built_in: PromptTemplate, text: str, *, author: str, note: str, based_on: str) -> PromptVersion:
        """Save a version; it is not in force yet.

        Raises:
            Conflict: The text is that of another version, or as many are kept as may be.
            DiskFull: The disk takes nothing new.
        """
        async with self._changing:
            return await self._do(self._add, built_in, text, author, note, based_on)

    async def activate(self, name: str, language: str, version: str, *, author: str) -> None:
        """Put a version in force; an empty one is the built-in. Raises NotFound."""
        async with self._changing:
            await self._do(self._activate, name, language, version, author)
            await self._renew()

    async def roll_back(self, name: str, language: str) -> None:
        """Put in force what was before; below the first stands the built-in one. Raises Conflict: nothing was."""
        async with self._changing:
            await self._do(self._roll_back, name, language)
            await self._renew()

    async def delete(self, name: str, language: str, version: str) -> None:
        """Forget a version. Raises NotFound; Conflict: it is in force, or a roll-back would put it there."""
        async with self._changing:
            await self._do(self._delete, name, language, version)

    async def close(self) -> None:
        """End the threads."""
        if self._refresh:
            self._refresh.cancel()
        await super().close()

    def _read_active(self) -> PromptSet:
        found = {}
        for file in self._storage.names("active"):
            if match := _ACTIVE.fullmatch(file):
                text = self._active(match[1], match[2])[1]
                if text:
                    found[match[1], match[2]] = text
        return PromptSet(found)

    def _versions(self, name: str, language: str) -> list[PromptVersion]:
        folder = f"versions/{name}.{language}"
        found = []
        for file in reversed(self._storage.names(folder)):
            if _FILE.fullmatch(file):
                try:
                    found.append(_read(self._storage.read(f"{folder}/{file}"), file))
                except FileNotFoundError:  # deleted meanwhile
                    continue
        return found

    def _active(self, name: str, language: str) -> tuple[list[Activation], str]:
        """(what was put in force, the text of the last; empty: the built-in one)."""
        try:
            stored = json.loads(self._storage.read(f"active/{name}.{language}.json"))
            return [Activation(**one) for one in stored["activations"]], str(stored["text"])
        except FileNotFoundError:
            return [], ""
        except (ValueError, KeyError, TypeError) as error:
            raise Unavailable(
                f"active/{name}.{language}.json in the store of prompts cannot be read: {error}."
            ) from error

    def _write_active(self, name: str, language: str, activations: list[Activation]) -> None:
        version = activations[-1].version if activations else ""
        text = self._find(name, language, version).text if version else ""
        kept = activations[-_MOST_ACTIVATIONS:]
        data = {"activations": [asdict(one) for one in kept], "text": text}
        self._write(f"active/{name}.{language}.json", data)

    def _add(self, built_in: PromptTemplate, text: str, author: str, note: str, based_on: str) -> PromptVersion:
        name, language = built_in.name, built_in.language
        known = self._versions(name, language)
        for version, other in [(built_in.version, built_in.text), *((one.version, one.text) for one in known)]:
            if body_of(other) == body_of(text):
                raise Conflict(f"That is the text of {version} already.", details={"version": version})
        if len(known) >= self._most:
            raise Conflict(f"{name} ({language}) has {self._most} versions, and no more are kept: delete some.")
        number = 1 + max((one.number for one in known), default=0)
        made = label_prompt(text, built_in, f"edit-{number}")
        stored = PromptVersion(number, made.version, made.text, _now(), author, note, based_on)
        digest = made.version.rpartition(".")[2]
        self._write(f"versions/{name}.{language}/{number:06d}-{digest}.json", asdict(stored))
        return stored

    def _activate(self, name: str, language: str, version: str, author: str) -> None:
        activations = self._active(name, language)[0]
        if (activations[-1].version if activations else "") == version:
            return
        self._write_active(name, language, [*activations, Activation(version, author, _now())])

    def _roll_back(self, name: str, language: str) -> None:
        activations = self._active(name, language)[0]
        if not activations:
            raise Conflict(f"The built-in prompt {name} ({language}) is in force, and nothing was before.")
        self._write_active(name, language, activations[:-1])

    def _delete(self, name: str, language: str, version: str) -> None:
        stored = self._find(name, language, version)
        if version in (one.version for one in self._active(name, language)[0]):
            raise Conflict(f"{version} is in force, or was and can be rolled back to; it is kept.")
        self._storage.delete(f"versions/{name}.{language}/{stored.number:06d}-{version.rpartition('.')[2]}.json")

    def _find(self, name: str, language: str, version: str) -> PromptVersion:
        for one in self._versions(name, language):
            if one.version == version:
                return one
        raise NotFound(f"There is no version {version[:100]!r} of {name} ({language}).")

    def _write(self, name: str, data: dict[str, Any]) -> None:
        self._check_disk()
        self._storage.write(name, to_json(data))


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}Z"


def _read(stored: bytes, file: str) -> PromptVersion:
    try:
        return PromptVersion(**json.loads(stored))
    except (ValueError, TypeError) as error:
        raise Unavailable(
            f"The version {file} in the store of prompts cannot be read: {type(error).__name__}."
        ) from error
