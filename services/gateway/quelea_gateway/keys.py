"""API keys: made here, stored as hashes only, read again whenever their file changes.

A key is 256 random bits, so one SHA-256 is enough: there is nothing to guess that a slow hash would protect.

    python -m quelea_gateway.keys create NAME [--file keys.json]      prints the key, once
        --tenant TENANT --right COLLECTION:read|write|manage [--right …] [--administrator] [--days N]
    python -m quelea_gateway.keys rotate NAME [--overlap HOURS]       prints the new key; the old one opens so long
    python -m quelea_gateway.keys list [--json] | revoke NAME

A key without a tenant is of the default one; a key without rights has all of them on every collection of its tenant.
"""

from __future__ import annotations

import argparse
import fcntl
import getpass
import hashlib
import hmac
import json
import os
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from quelea_kit.errors import Conflict, InvalidInput, NotFound, QueleaError, Unauthenticated
from quelea_kit.logging import get_logger
from quelea_kit.reach import DEFAULT_TENANT, check_name

from quelea_gateway.adapters.stores.audit_log import append
from quelea_gateway.core.callers import audit
from quelea_gateway.core.callers.access import EVERY, Principal, Right
from quelea_gateway.core.callers.sign_in import PERSON

PREFIX = "quelea_"
_LONGEST = 256
_MOST_DAYS = 3650
_MOST_OVERLAP_HOURS = 24 * 90
_USED_SECONDS = 60.0
"""Between two times that the use of keys is written down."""

log = get_logger(__name__)


@dataclass(frozen=True)
class Earlier:
    """What a key was before it was rotated, and until when that still opens."""

    sha256: str
    until: str


@dataclass(frozen=True)
class Key:
    """A key as it is stored: its hash, never itself. Times are ISO 8601, UTC."""

    name: str
    sha256: str
    created: str
    tenant: str = DEFAULT_TENANT
    rights: Mapping[str, str] = field(default_factory=lambda: {EVERY: Right.MANAGE.word})
    """Collection, or "*", to "read", "write" or "manage"."""
    administrator: bool = True
    id: str = ""
    """By which it is known in logs, rotated or not; tells nothing of it."""
    expires: str = ""
    """From when it opens nothing; empty: never."""
    earlier: tuple[Earlier, ...] = ()

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

    def is_over(self, now: datetime) -> bool:
        """Whether it has expired."""
        return bool(self.expires) and datetime.fromisoformat(self.expires) <= now

    def hashes(self, now: datetime) -> list[str]:
        """Of all that opens as this key: itself, and what it was within the overlap of its rotation."""
        return [self.sha256, *(one.sha256 for one in self.earlier if datetime.fromisoformat(one.until) > now)]

    @staticmethod
    def of(stored: Mapping[str, Any]) -> Key:
        """A key as the file has it; one of before there were tenants may do everything in the default tenant."""
        names = ("tenant", "rights", "administrator", "id", "expires")
        known = {name: stored[name] for name in names if name in stored}
        known["earlier"] = tuple(Earlier(one["sha256"], one["until"]) for one in stored.get("earlier", ()))
        known["id"] = known.get("id") or stored["sha256"][:12]
        made = Key(name=stored["name"], sha256=stored["sha256"], created=stored["created"], **known)
        made.principal  # noqa: B018  # a file with rights or times that are none is refused as a whole
        made.is_over(_now()), made.hashes(_now())
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


def _change(path: Path, change: Callable[[list[Key]], list[Key]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_name(path.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        keys = change(read(path))
        _replace(path, {"keys": [asdict(key) for key in keys]})


def _replace(path: Path, content: Mapping[str, Any]) -> None:
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    fresh.touch(mode=0o600)
    fresh.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    fresh.replace(path)


def _now() -> datetime:
    return datetime.now(UTC)


def _iso(time: datetime) -> str:
    return time.isoformat(timespec="seconds")


def create(
    path: Path,
    name: str,
    *,
    tenant: str = DEFAULT_TENANT,
    rights: Mapping[str, str] | None = None,
    administrator: bool | None = None,
    days: float = 0,
) -> str:
    """Add a key; returns it, and nobody can read it again.

    Args:
        path: The key file.
        name: Of the key.
        tenant: Whose it is.
        rights: As of a Key; None: every right on every collection of the tenant.
        administrator: None: of the default tenant with every right, as keys were before there were tenants.
        days: After which it opens nothing; 0: never.

    Raises:
        Conflict: The name is taken.
        InvalidInput: A name or a right is none.
    """
    if not name or len(name) > 64 or not name.isprintable():
        raise InvalidInput("The name of a key must have 1 to 64 printable characters.")
    if name.startswith(PERSON):
        raise InvalidInput(f"The name of a key must not begin with {PERSON!r}: people who sign in are named so.")
    if not 0 <= days <= _MOST_DAYS:
        raise InvalidInput(f"days must be 1 to {_MOST_DAYS}, or 0 for a key that does not expire.")
    key = PREFIX + secrets.token_urlsafe(32)
    if administrator is None:
        administrator = tenant == DEFAULT_TENANT and rights is None
    stored: dict[str, Any] = {"name": name, "sha256": digest(key), "created": _iso(_now()), "tenant": tenant}
    stored |= {"rights": dict(rights or {EVERY: Right.MANAGE.word}), "administrator": administrator}
    stored |= {"id": secrets.token_hex(6), "expires": _iso(_now() + timedelta(days=days)) if days else ""}
    made = Key.of(stored)

    def add(keys: list[Key]) -> list[Key]:
        if any(one.name == name for one in keys):
            raise Conflict(f"A key named {name!r} already exists; rotate it, revoke it first, or choose another name.")
        return [*keys, made]

    _change(path, add)
    return key


def rotate(path: Path, name: str, *, overlap_hours: float = 24.0) -> str:
    """Give a key a new secret, which is returned; name, id, tenant and rights stay.

    Args:
        path: The key file.
        name: Of the key.
        overlap_hours: How long the old secret opens as well; 0: no longer. Of an earlier rotation, whose overlap is
            not over, the old one goes on until that is.

    Raises:
        NotFound: No key has the name.
        InvalidInput: The overlap is out of bounds, or the key has expired.
    """
    if not 0 <= overlap_hours <= _MOST_OVERLAP_HOURS:
        raise InvalidInput(f"The overlap must be 0 to {_MOST_OVERLAP_HOURS} hours.")
    key, now = PREFIX + secrets.token_urlsafe(32), _now()

    def turn(keys: list[Key]) -> list[Key]:
        return [_rotate(one, digest(key), now, overlap_hours) if one.name == name else one for one in _with(keys, name)]

    _change(path, turn)
    return key


def _rotate(key: Key, sha256: str, now: datetime, overlap_hours: float) -> Key:
    if key.is_over(now):
        raise InvalidInput(f"The key {key.name!r} has expired; revoke it and create another.")
    valid = [one for one in key.earlier if datetime.fromisoformat(one.until) > now]
    if overlap_hours:
        valid.append(Earlier(key.sha256, _iso(now + timedelta(hours=overlap_hours))))
    return replace(key, sha256=sha256, created=_iso(now), earlier=tuple(valid))


def revoke(path: Path, name: str) -> None:
    """Remove a key, and what it was before a rotation. Raises NotFound."""
    _change(path, lambda keys: [one for one in _with(keys, name) if one.name != name])


def _with(keys: list[Key], name: str) -> list[Key]:
    if not any(one.name == name for one in keys):
        raise NotFound(f"No key is named {name!r}.")
    return keys


def last_used(path: Path) -> dict[str, str]:
    """Id of a key to when it last opened, to the minute; none where no gateway could write that down."""
    try:
        stored = json.loads(_used_file(path).read_text(encoding="utf-8"))
        return {str(name): str(time) for name, time in stored.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _used_file(path: Path) -> Path:
    return path.with_name(path.name + ".used")


class KeyRing:
    """The keys of a file, as they are now."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int, int] | None = None
        self._keys: list[Key] = []
        self._used: dict[str, str] = {}
        self._written = 0.0

    def key_of(self, key: str) -> Key | None:
        """A key as it is stored, or None. Takes the same time for every key that is not known.

        Raises:
            Unauthenticated: It has expired.
        """
        self._reload()
        now, found, given = _now(), None, digest(key[:_LONGEST])
        for stored in self._keys:
            for one in stored.hashes(now):
                if hmac.compare_digest(one, given):
                    found = stored
        if found is None:
            return None
        if found.is_over(now):
            raise Unauthenticated(f"This key expired on {found.expires[:10]}; ask for another.")
        self._note_use(found, now)
        return found

    def principal_of(self, key: str) -> Principal | None:
        """Who calls with a key, or None."""
        found = self.key_of(key)
        return found.principal if found else None

    def __len__(self) -> int:
        self._reload()
        return len(self._keys)

    def _reload(self) -> None:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            self._stamp, self._keys = None, []
            return
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        if stamp == self._stamp:
            return
        try:
            self._keys = read(self._path)
        except InvalidInput as error:
            if self._stamp is None:
                raise
            log.error("keys_not_read", why=error.message)  # those that were read last go on opening
        self._stamp = stamp

    def _note_use(self, key: Key, now: datetime) -> None:
        self._used[key.id] = _iso(now)
        if time.monotonic() - self._written < _USED_SECONDS and self._written:
            return
        self._written = time.monotonic()
        try:
            with _used_file(self._path).with_suffix(".used.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                known = last_used(self._path)
                newest = {one: max(known.get(one, ""), self._used.get(one, "")) for one in known | self._used}
                _replace(_used_file(self._path), {one.id: newest[one.id] for one in self._keys if one.id in newest})
        except OSError:
            return  # a read-only folder, or another gateway writes just now: the next use is written


def _right(said: str) -> tuple[str, str]:
    collection, found, right = said.rpartition(":")
    if not found:
        raise InvalidInput(f"A right is written COLLECTION:read, :write or :manage, not {said!r}.")
    return collection, right


def shown(key: Key, used: Mapping[str, str]) -> dict[str, Any]:
    """A key as it may be shown: without hashes."""
    now = _now()
    overlaps = [one.until for one in key.earlier if datetime.fromisoformat(one.until) > now]
    return {
        "name": key.name,
        "id": key.id,
        "tenant": key.tenant,
        "rights": dict(key.rights),
        "administrator": key.administrator,
        "created": key.created,
        "expires": key.expires,
        "expired": key.is_over(now),
        "rotating_until": max(overlaps, default=""),
        "last_used": used.get(key.id, ""),
    }


def _line(told: Mapping[str, Any]) -> str:
    rights = " ".join(f"{collection}:{right}" for collection, right in sorted(told["rights"].items()))
    more = [
        "administrator" if told["administrator"] else "",
        f"expires {told['expires']}" if told["expires"] and not told["expired"] else "",
        "EXPIRED" if told["expired"] else "",
        f"old secret until {told['rotating_until']}" if told["rotating_until"] else "",
        f"last used {told['last_used']}" if told["last_used"] else "never used",
    ]
    said = (told["name"], told["id"], told["created"], told["tenant"], rights, *(one for one in more if one))
    return "\t".join(said) + "\n"


def _record(folder: Path | None, act: audit.Act, name: str, key_id: str) -> None:
    """Say in the audit log that a key was changed, and by which user of this machine."""
    if folder is None:
        return
    record = audit.Record(secrets.token_hex(8), "shell", "quelea_gateway.keys", audit.Action(act, "key"))
    record.subject = getpass.getuser()
    record.objects = {"name": name, "id": key_id}
    try:
        append(folder, record.entry("ok", ""))
    except OSError as error:
        sys.stderr.write(f"The key was changed, but the audit log in {folder} could not be written: {error}\n")


def main(arguments: list[str] | None = None) -> int:
    """The command line; exit code 1 with a sentence on failure."""
    parser = argparse.ArgumentParser(prog="python -m quelea_gateway.keys", description="API keys of the gateway.")
    parser.add_argument("do", choices=["create", "list", "rotate", "revoke"])
    parser.add_argument("name", nargs="?", default="")
    parser.add_argument("--file", type=Path, default=Path(os.environ.get("QUELEA_GATEWAY_KEYS_FILE", "keys.json")))
    parser.add_argument("--tenant", default=DEFAULT_TENANT, help="tenant that the key belongs to")
    parser.add_argument("--right", action="append", default=[], metavar="COLLECTION:RIGHT", help='"*:read", "us:write"')
    parser.add_argument("--administrator", action=argparse.BooleanOptionalAction, default=None)
    parser.add_argument("--days", type=float, default=0, help="days until it expires; 0: never")
    parser.add_argument(
        "--overlap", type=float, default=24, metavar="HOURS", help="how long the old secret still works"
    )
    parser.add_argument("--json", action="store_true", help="the list as JSON")
    folder = os.environ.get("QUELEA_GATEWAY_AUDIT_DIR")
    parser.add_argument("--audit", type=Path, default=Path(folder) if folder else None, help="folder of the audit log")
    given = parser.parse_args(arguments)
    try:
        _do(given)
    except QueleaError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    return 0


def _id_of(path: Path, name: str) -> str:
    return next((key.id for key in read(path) if key.name == name), "")


def _do(given: argparse.Namespace) -> None:
    if given.do == "list":
        used = last_used(given.file)
        told = [shown(key, used) for key in read(given.file)]
        sys.stdout.write(json.dumps({"keys": told}) + "\n" if given.json else "".join(_line(one) for one in told))
        return
    if given.do == "revoke":
        key_id = _id_of(given.file, given.name)
        revoke(given.file, given.name)
        _record(given.audit, audit.Act.DELETED, given.name, key_id)
        return
    if given.do == "rotate":
        key = rotate(given.file, given.name, overlap_hours=given.overlap)
    else:
        rights = dict(_right(said) for said in given.right) or None
        options = {"tenant": given.tenant, "rights": rights, "administrator": given.administrator}
        key = create(given.file, given.name, days=given.days, **options)
    sys.stdout.write(key + "\n")
    sys.stderr.write("Save the key now: it is not shown again, and the file keeps only a hash of it.\n")
    _record(given.audit, audit.Act.CHANGED, given.name, _id_of(given.file, given.name))


if __name__ == "__main__":
    sys.exit(main())
