"""API keys: made here, stored as hashes only, read again whenever their file changes.

A key is 256 random bits, so one SHA-256 is enough: there is nothing to guess that a slow hash would protect.

    python -m quelea_gateway.keys create NAME [--file keys.json]      prints the key, once
        --tenant TENANT --right COLLECTION:read|write|manage [--right …] [--administrator]
    python -m quelea_gateway.keys list | revoke NAME

A key without a tenant is of the default one; a key without rights has all of them on every collection of its tenant.
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
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from quelea_kit.errors import Conflict, InvalidInput, NotFound, QueleaError
from quelea_kit.reach import DEFAULT_TENANT, check_name

from quelea_gateway.core.access import EVERY, Principal, Right

PREFIX = "quelea_"
_LONGEST = 256


@dataclass(frozen=True)
class Key:
    """A key as it is stored: its hash, never itself."""

    name: str
    sha256: str
    created: str
    tenant: str = DEFAULT_TENANT
    rights: Mapping[str, str] = field(default_factory=lambda: {EVERY: Right.MANAGE.word})
    """Collection, or "*", to "read", "write" or "manage"."""
    administrator: bool = True

    @property
    def principal(self) -> Principal:
        """Who calls with it. Raises InvalidInput when its rights are none."""
        for name in self.rights:
            if name != EVERY:
                check_name(name, "collection")
        return Principal(
            subject=self.name,
            tenant=check_name(self.tenant, "tenant"),
            rights={name: Right.parse(word) for name, word in self.rights.items()},
            administrator=self.administrator,
        )

    @staticmethod
    def of(stored: Mapping[str, Any]) -> Key:
        """A key as the file has it; one of before there were tenants may do everything in the default tenant."""
        known = {name: stored[name] for name in ("tenant", "rights", "administrator") if name in stored}
        made = Key(name=stored["name"], sha256=stored["sha256"], created=stored["created"], **known)
        made.principal  # noqa: B018  # a file with rights that are none is refused as a whole
        return made


def digest(key: str) -> str:
    """SHA-256 of a key, hexadecimal."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def read(path: Path) -> list[Key]:
    """The stored keys; none when there is no file. Raises InvalidInput when the file is not one of ours."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return [Key.of(key) for key in stored["keys"]]
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError, AttributeError, InvalidInput) as error:
        raise InvalidInput(f"{path} is not a Quelea key file: {error}") from error


def _change(path: Path, name: str, new: Key | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(path.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        keys = read(path)
        known = any(k.name == name for k in keys)
        if new is None:
            if not known:
                raise NotFound(f"No key is named {name!r}.")
            keys = [k for k in keys if k.name != name]
        else:
            if known:
                raise Conflict(f"A key named {name!r} already exists; revoke it first or choose another name.")
            keys.append(new)
        fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
        fresh.touch(mode=0o600)
        fresh.write_text(json.dumps({"keys": [asdict(k) for k in keys]}, indent=2) + "\n", encoding="utf-8")
        fresh.replace(path)


def create(
    path: Path,
    name: str,
    *,
    tenant: str = DEFAULT_TENANT,
    rights: Mapping[str, str] | None = None,
    administrator: bool | None = None,
) -> str:
    """Add a key; returns it, and nobody can read it again.

    Args:
        path: The key file.
        name: Of the key.
        tenant: Whose it is.
        rights: As of a Key; None: every right on every collection of the tenant.
        administrator: None: of the default tenant with every right, as keys were before there were tenants.

    Raises:
        Conflict: The name is taken.
        InvalidInput: A name or a right is none.
    """
    if not name or len(name) > 64 or not name.isprintable():
        raise InvalidInput("The name of a key must have 1 to 64 printable characters.")
    key = PREFIX + secrets.token_urlsafe(32)
    if administrator is None:
        administrator = tenant == DEFAULT_TENANT and rights is None
    created = datetime.now(UTC).isoformat(timespec="seconds")
    stored: dict[str, Any] = {"name": name, "sha256": digest(key), "created": created, "tenant": tenant}
    stored |= {"rights": dict(rights or {EVERY: Right.MANAGE.word}), "administrator": administrator}
    _change(path, name, Key.of(stored))
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

    def principal_of(self, key: str) -> Principal | None:
        """Who calls with a key, or None. Takes the same time for every key that is not known."""
        self._reload()
        found, given = None, digest(key[:_LONGEST])
        for stored in self._keys:
            if hmac.compare_digest(stored.sha256, given):
                found = stored
        return found.principal if found else None

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


def _right(said: str) -> tuple[str, str]:
    collection, found, right = said.rpartition(":")
    if not found:
        raise InvalidInput(f"A right is written COLLECTION:read, :write or :manage, not {said!r}.")
    return collection, right


def _line(key: Key) -> str:
    rights = " ".join(f"{collection}:{right}" for collection, right in sorted(key.rights.items()))
    return f"{key.name}\t{key.created}\t{key.tenant}\t{rights}{chr(9) + 'administrator' if key.administrator else ''}\n"


def main(arguments: list[str] | None = None) -> int:
    """The command line; exit code 1 with a sentence on failure."""
    parser = argparse.ArgumentParser(prog="python -m quelea_gateway.keys", description="API keys of the gateway.")
    parser.add_argument("do", choices=["create", "list", "revoke"])
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("--file", type=Path, default=Path(os.environ.get("QUELEA_GATEWAY_KEYS_FILE", "keys.json")))
    parser.add_argument("--tenant", default=DEFAULT_TENANT, help="whose key it is")
    parser.add_argument("--right", action="append", default=[], metavar="COLLECTION:RIGHT", help='"*:read", "us:write"')
    parser.add_argument("--administrator", action=argparse.BooleanOptionalAction, default=None)
    given = parser.parse_args(arguments)
    try:
        if given.do == "create":
            rights = dict(_right(said) for said in given.right) or None
            options = {"tenant": given.tenant, "rights": rights, "administrator": given.administrator}
            sys.stdout.write(create(given.file, given.name, **options) + "\n")
            sys.stderr.write("Save the key now: it is not shown again, and the file keeps only a hash of it.\n")
        elif given.do == "revoke":
            revoke(given.file, given.name)
        else:
            sys.stdout.writelines(_line(key) for key in read(given.file))
    except QueleaError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
