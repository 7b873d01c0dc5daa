"""The reach of a call (reach.py) in its metadata, sent by channels and received by servers."""

from __future__ import annotations

import json
from typing import Any

import grpc

from quelea_kit import reach
from quelea_kit.errors import InvalidInput
from quelea_kit.reach import Reach
from quelea_kit.rpc.rpc_tracing import ForwardingChannel

_KEY = "quelea-reach"


def read_reach(context: grpc.aio.ServicerContext[Any, Any]) -> Reach:
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
            told = reach.current_or_none()
            if told is None:
                return inner(*given, metadata=metadata, **options)
            said: dict[str, Any] = {"tenant": told.tenant}
            if told.collections is not None:
                said["collections"] = told.collections
            return inner(*given, metadata=(*(metadata or ()), (_KEY, json.dumps(said))), **options)

        return call
