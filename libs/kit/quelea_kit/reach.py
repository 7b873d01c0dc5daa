"""What a call may touch: a tenant, and collections of it.

The gateway knows who calls; every service behind it bounds what it finds, writes and removes by the reach of the call.
A reach goes along as metadata (reach_channel.py), as the ids of a trace do: a channel of `quelea_kit.client` sends the
reach of the task that calls, and `quelea_kit.server` makes it the reach of the task that answers. A call without one is
of the default tenant, with all of its collections, as every call was before there were tenants.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from quelea_kit.errors import InvalidInput

DEFAULT_TENANT = "default"
"""Of every document and key that names no tenant."""

DEFAULT_COLLECTION = "default"
"""Where a document goes that names no collection; every tenant has it."""

MOST_COLLECTIONS = 100
"""Of one tenant."""

_RANDOM = 32

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")


def check_name(name: str, field: str) -> str:
    """The name of a tenant or a collection. Raises InvalidInput when it is none."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{field} must be 1 to 40 lower-case letters, digits and hyphens, a hyphen neither first nor last; "
            f"got {name[:60]!r}.",
            details={"field": field},
        )
    return name


def place_of(tenant: str, collection: str) -> str:
    """Tenant and collection, to stand in front of names and ids: "bonds.us:".

    Empty for the default ones, whose names and ids are those of before there were tenants.
    """
    if (tenant, collection) == (DEFAULT_TENANT, DEFAULT_COLLECTION):
        return ""
    return f"{tenant}.{collection}:"


def split_place(text: str) -> tuple[str, str, str]:
    """Tenant, collection and the rest of a text that begins with a place, or with none."""
    place, _, rest = text.rpartition(":")
    tenant, _, collection = place.partition(".")
    return tenant or DEFAULT_TENANT, collection or DEFAULT_COLLECTION, rest


def name_in(place: str, name: str) -> str:
    """A name in a place. No uri and no uploader has the character that it begins with, so places never meet."""
    return f"\x1f{place}{name}" if place else name


def id_in(place: str, document_id: str) -> str:
    """The id of a document in a place: the same bytes may lie in several, each a document of its own.

    Args:
        place: Of `place_of`.
        document_id: Of the bytes, 32 hexadecimal digits.
    """
    return hashlib.sha256(f"{place}{document_id}".encode()).hexdigest()[:32] if place else document_id


def bound_id(tenant: str, random: str) -> str:
    """An id that only its tenant can use, without a record of whose it is.

    Args:
        tenant: Whose it is to be.
        random: Hexadecimal digits. Of the default tenant they are the id, as before there were tenants.
    """
    return random if tenant == DEFAULT_TENANT else random + _mark(tenant, random)


def is_bound(tenant: str, made: str) -> bool:
    """Whether `bound_id` made the id for this tenant, of 32 random digits."""
    random, mark = made[:_RANDOM], made[_RANDOM:]
    return hmac.compare_digest(mark, "" if tenant == DEFAULT_TENANT else _mark(tenant, random))


def _mark(tenant: str, random: str) -> str:
    return hashlib.sha256(f"{tenant}:{random}".encode()).hexdigest()[:_RANDOM]


@dataclass(frozen=True)
class Reach:
    """A tenant and collections of it."""

    tenant: str = DEFAULT_TENANT
    collections: tuple[str, ...] | None = None
    """Sorted, each once; None: all that the tenant has. Empty: none."""

    @staticmethod
    def of(tenant: str, collections: Iterable[str] | None = None) -> Reach:
        """A reach of checked names. Raises InvalidInput."""
        named = None if collections is None else tuple(sorted({check_name(c, "collection") for c in collections}))
        if named is not None and len(named) > MOST_COLLECTIONS:
            raise InvalidInput(
                f"At most {MOST_COLLECTIONS} collections can be named.", details={"field": "collections"}
            )
        return Reach(check_name(tenant, "tenant"), named)

    def holds(self, tenant: str, collection: str) -> bool:
        """Whether it reaches what lies in a collection of a tenant."""
        return tenant == self.tenant and (self.collections is None or collection in self.collections)

    def covers(self, other: Reach) -> bool:
        """Whether it reaches all that another does."""
        if self.collections is None or self.tenant != other.tenant:
            return self.tenant == other.tenant
        return other.collections is not None and set(other.collections) <= set(self.collections)


_current: ContextVar[Reach | None] = ContextVar("quelea_reach", default=None)


def current_or_none() -> Reach | None:
    """The reach of the task that asks, None where nobody set one."""
    return _current.get()


def current() -> Reach:
    """The reach of the task that asks; all of the default tenant where nobody set one."""
    return _current.get() or Reach()


def enter(reach: Reach) -> None:
    """Calls that the task makes from now on, and tasks that it begins, have this reach."""
    _current.set(reach)


@contextlib.contextmanager
def within(reach: Reach) -> Iterator[None]:
    """Calls made in the block, and by tasks begun in it, have this reach."""
    token = _current.set(reach)
    try:
        yield
    finally:
        _current.reset(token)
