"""A gRPC channel that outlives the certificate it was made with: gRPC's own shows for ever the one of its beginning."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import grpc

from quelea_kit.rpc.channels import ForwardingChannel
from quelea_kit.tls import Folder, Identity

OLD_CALLS_SECONDS = 600.0
"""Calls of the channel before may go on for so long, which is a server's own longest deadline."""


class RenewingChannel(ForwardingChannel):
    """What a stub wants of a channel, on a new one whenever the certificate is a new one.

    Args:
        tls: Whose certificate it shows.
        make: A channel with these credentials.
    """

    def __init__(self, tls: Folder, make: Callable[[grpc.ChannelCredentials], grpc.aio.Channel]) -> None:
        self._tls = tls
        self._make = make
        self._made_with: Identity = tls.current()
        self._channel = make(tls.channel_credentials())
        self._old: dict[asyncio.Task[None], grpc.aio.Channel] = {}

    def now(self) -> grpc.aio.Channel:
        """The channel with the newest certificate."""
        newest = self._tls.current()
        if newest is not self._made_with:
            old, self._channel = self._channel, self._make(self._tls.channel_credentials())
            self._made_with = newest
            task = asyncio.ensure_future(self._retire(old))
            self._old[task] = old
            task.add_done_callback(lambda done: self._old.pop(done, None))
        return self._channel

    def method(self, kind: str, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """A method that is made anew for each channel."""
        return _Callable(self, kind, args, named)

    async def close(self, grace: float | None = None) -> None:
        """Close it and those before it."""
        old = dict(self._old)
        for task in old:
            task.cancel()
        for channel in (self._channel, *old.values()):
            await channel.close(grace)

    async def _retire(self, channel: grpc.aio.Channel) -> None:
        await asyncio.sleep(OLD_CALLS_SECONDS)
        await channel.close()


class _Callable:
    """A method, made anew for each channel."""

    def __init__(self, owner: RenewingChannel, kind: str, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        self._owner, self._kind, self._args, self._named = owner, kind, args, named
        self._channel: grpc.aio.Channel | None = None
        self._method: Any = None

    def __call__(self, *args: Any, **named: Any) -> Any:
        channel = self._owner.now()
        if channel is not self._channel:
            self._channel, self._method = channel, getattr(channel, self._kind)(*self._args, **self._named)
        return self._method(*args, **named)
