"""Channels around a channel: what a stub wants of one, passed on, and metadata sent along with each call."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Self

import grpc

Metadatum = tuple[str, str]


class ForwardingChannel(grpc.aio.Channel):
    """What a stub wants of a channel, passed on to the one of now."""

    @abstractmethod
    def now(self) -> grpc.aio.Channel:
        """The channel that calls go to."""

    @abstractmethod
    def method(self, kind: str, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """A stub's method: `kind` is the name of the channel's function that makes it."""

    def unary_unary(self, *args: Any, **named: Any) -> Any:
        """As gRPC has it."""
        return self.method("unary_unary", args, named)

    def unary_stream(self, *args: Any, **named: Any) -> Any:
        """As gRPC has it."""
        return self.method("unary_stream", args, named)

    def stream_unary(self, *args: Any, **named: Any) -> Any:
        """As gRPC has it."""
        return self.method("stream_unary", args, named)

    def stream_stream(self, *args: Any, **named: Any) -> Any:
        """As gRPC has it."""
        return self.method("stream_stream", args, named)

    def get_state(self, try_to_connect: bool = False) -> grpc.ChannelConnectivity:
        """Of the channel of now."""
        return self.now().get_state(try_to_connect)

    async def wait_for_state_change(self, last_observed_state: grpc.ChannelConnectivity) -> None:
        """Of the channel of now."""
        await self.now().wait_for_state_change(last_observed_state)

    async def channel_ready(self) -> None:
        """Of the channel of now."""
        await self.now().channel_ready()

    async def close(self, grace: float | None = None) -> None:
        """Close the channel of now."""
        await self.now().close(grace)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class WrappedChannel(ForwardingChannel):
    """What a stub wants of a channel, passed on to one that stays the same.

    Args:
        channel: Where the calls go.
    """

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._channel = channel

    def now(self) -> grpc.aio.Channel:
        """The channel."""
        return self._channel


class MetadataChannel(WrappedChannel):
    """Sends metadata along with each call."""

    @abstractmethod
    def metadata(self) -> Iterable[Metadatum]:
        """What is sent with a call that is made now."""

    def method(self, kind: str, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The channel's method, with the metadata."""
        inner = getattr(self._channel, kind)(*args, **named)

        def call(*given: Any, metadata: Any = None, **options: Any) -> Any:
            return inner(*given, metadata=(*(metadata or ()), *self.metadata()), **options)

        return call
