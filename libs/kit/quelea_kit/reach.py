"""What a call may touch: a tenant, and collections of it.

The gateway knows who calls; every service behind it bounds what it finds, writes and removes by the reach of the call.
A reach goes along as metadata, as the ids of a trace do: a channel of `quelea_kit.client` sends the reach of the task
that calls, and `quelea_kit.server` makes it the reach of the task that answers. A call without one is of the default
tenant, with all of its collections, as every call was before there were tenants.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import grpc

from quelea_kit.errors import InvalidInput
from quelea_kit.rpc_tracing import ForwardingChannel

DEFAULT_TENANT = "default"
"""Of every document and key that names no tenant."""

DEFAULT_COLLECTION = "default"
"""Where a document goes that names no collection; every tenant has it."""

MOST_COLLECTIONS = 1000
"""Of one tenant."""

_KEY = "quelea-reach"
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


_current: ContextVar[Reach | None] = ContextVar("quelea_reach", default=None)


def current() -> Reach:
    """The reach of the task that asks; all of the default tenant where nobody set one."""
    return _current.get() or Reach()


@contextlib.contextmanager
def within(reach: Reach) -> Iterator[None]:
    """Calls made in the block, and by tasks begun in it, have this reach."""
    token = _current.set(reach)
    try:
        yield
    finally:
        _current.reset(token)


def received(context: grpc.aio.ServicerContext[Any, Any]) -> Reach:
    """The reach that a call came with. Raises InvalidInput when what it carries is none."""
    told = dict(context.invocation_metadata() or ()).get(_KEY)
    if told is None:
        return Reach()
    try:
        said = json.loads(told)
        return Reach.of(said["tenant"], said.get("collections"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"The metadata {_KEY} must be a JSON object with a tenant.") from error


class ReachChannel(ForwardingChannel):
    """Sends the reach of the task that calls along with each call.

    Args:
        channel: Where the calls go.
    """

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel = channel

    def now(self) -> grpc.aio.Channel:
        """The channel."""
        return self._channel

    def method(self, kind: str, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The channel's method, with the reach in its metadata."""
        inner = getattr(self._channel, kind)(*args, **named)

        def call(*given: Any, metadata: Any = None, **options: Any) -> Any:
            reach = _current.get()
            if reach is None:
                return inner(*given, metadata=metadata, **options)
            said: dict[str, Any] = {"tenant": reach.tenant}
            if reach.collections is not None:
                said["collections"] = reach.collections
            return inner(*given, metadata=(*(metadata or ()), (_KEY, json.dumps(said))), **options)

        return call
