"""API keys: made here, stored as hashes only, read again whenever their file changes.

A key is 256 random bits, so one SHA-256 is enough: there is nothing to guess that a slow hash would protect.

    python -m quelea_gateway.keys create NAME [--file keys.json]      prints the key, once
    python -m quelea_gateway.keys list | revoke NAME
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import hmac
import json
import os
import secrets
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from quelea_kit.errors import Conflict, InvalidInput, NotFound, QueleaError

PREFIX = "quelea_"
_LONGEST = 256


@dataclass(frozen=True)
class Key:
    """A key as it is stored: its hash, never itself."""

    name: str
    sha256: str
    created: str


def digest(key: str) -> str:
    """SHA-256 of a key, hexadecimal."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def read(path: Path) -> list[Key]:
    """The stored keys; none when there is no file. Raises InvalidInput when the file is not one of ours."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return [Key(name=k["name"], sha256=k["sha256"], created=k["created"]) for k in stored["keys"]]
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{path} is not a Quelea key file: {error}") from error


def _change(path: Path, name: str, key: str | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(path.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        keys = read(path)
        known = any(k.name == name for k in keys)
        if key is None:
            if not known:
                raise NotFound(f"No key is named {name!r}.")
            keys = [k for k in keys if k.name != name]
        else:
            if known:
                raise Conflict(f"A key named {name!r} already exists; revoke it first or choose another name.")
            keys.append(Key(name, digest(key), datetime.now(UTC).isoformat(timespec="seconds")))
        fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps({"keys": [asdict(k) for k in keys]}, indent=2) + "\n", encoding="utf-8")
        fresh.replace(path)


def create(path: Path, name: str) -> str:
    """Add a key; returns it, and nobody can read it again. Raises Conflict when the name is taken."""
    if not name or len(name) > 64 or not name.isprintable():
        raise InvalidInput("The name of a key must have 1 to 64 printable characters.")
    key = PREFIX + secrets.token_urlsafe(32)
    _change(path, name, key)
    return key


def revoke(path: Path, name: str) -> None:
    """Remove a key. Raises NotFound."""
    _change(path, name, None)


class KeyRing:
    """The keys of a file, as they are now."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int, int] | None = None
        self._keys: list[Key] = []

    def name_of(self, key: str) -> str | None:
        """Whose key it is, or None. Takes the same time for every key that is not known."""
        self._reload()
        found, given = None, digest(key[:_LONGEST])
        for stored in self._keys:
            if hmac.compare_digest(stored.sha256, given):
                found = stored.name
        return found

    def __len__(self) -> int:
        self._reload()
        return len(self._keys)

    def _reload(self) -> None:
        try:
            status = self._path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        except FileNotFoundError:
            self._stamp, self._keys = None, []
            return
        if stamp != self._stamp:
            self._keys = read(self._path)
            self._stamp = stamp


def main(arguments: list[str] | None = None) -> int:
    """The command line; exit code 1 with a sentence on failure."""
    parser = argparse.ArgumentParser(prog="python -m quelea_gateway.keys", description="API keys of the gateway.")
    parser.add_argument("do", choices=["create", "list", "revoke"])
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("--file", type=Path, default=Path(os.environ.get("QUELEA_GATEWAY_KEYS_FILE", "keys.json")))
    given = parser.parse_args(arguments)
    try:
        if given.do == "create":
            sys.stdout.write(create(given.file, given.name) + "\n")
            sys.stderr.write("Save the key now: it is not shown again, and the file keeps only a hash of it.\n")
        elif given.do == "revoke":
            revoke(given.file, given.name)
        else:
            sys.stdout.writelines(f"{key.name}\t{key.created}\n" for key in read(given.file))
    except QueleaError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
