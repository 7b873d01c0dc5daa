"""What every gRPC call passes first: who calls, how often, and the audit log. Around a servicer, method by method."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message
from quelea_kit.errors import QueleaError

from quelea_gateway.access import letting_in
from quelea_gateway.core.callers import audit
from quelea_gateway.core.callers.usage import is_refusal
from quelea_gateway.gateway import Gateway

_ID_FIELDS = ("id", "run_id", "name", "company", "url")
"""Fields of requests that name an object."""


class RpcMiddleware:
    """A servicer behind the middleware; has a method for each rpc of the service.

    Args:
        servicer: What answers.
        service: Its descriptor.
        gateway: Its rules.
    """

    def __init__(self, servicer: Any, service: ServiceDescriptor, gateway: Gateway) -> None:
        self._gateway = gateway
        for method in service.methods:
            name = f"{service.full_name}/{method.name}"
            wrap = self._stream if method.server_streaming else self._unary
            setattr(self, method.name, wrap(name, getattr(servicer, method.name)))

    def _unary(self, name: str, behaviour: Any) -> Any:
        async def call(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
            async with self._passing(name, request, context):
                return await behaviour(request, context)

        return call

    def _stream(self, name: str, behaviour: Any) -> Any:
        async def call(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> AsyncGenerator[Any, None]:
            async with (
                self._passing(name, request, context) as passing,
                contextlib.aclosing(behaviour(request, context)) as items,
            ):
                async for item in items:
                    await passing.begin()
                    yield item

        return call

    @contextlib.asynccontextmanager
    async def _passing(
        self, name: str, request: Any, context: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncIterator[_Passing]:
        """Around one call. Raises Unauthenticated, Overloaded, Unavailable (it must be recorded and cannot be)."""
        gateway = self._gateway
        record = audit.Record(secrets.token_hex(8), "grpc", name, audit.RPCS.get(name))
        record.address = gateway.audited_address(_host(context.peer()))
        if isinstance(request, Message):
            record.objects = {
                field: str(value)[:200] for field in _ID_FIELDS if (value := getattr(request, field, "")) != ""
            }
            if record.action and record.action.text and gateway.settings.audit_questions:
                record.text = audit.text_of(request, record.action.text)
        passing = _Passing(gateway, record)
        caller = None
        try:
            caller = await gateway.access.let_in(_authorization(context))
            record.subject, record.tenant, record.key = caller.subject, caller.principal.tenant, caller.proof
            gateway.audit_admits()
            async with gateway.counted(caller):
                with audit.recording(record), letting_in(caller):
                    yield passing
        except QueleaError as error:
            if caller:
                gateway.usage.count(caller.name, refusals=int(is_refusal(error)))
            await passing.end(audit.outcome_of(error.http_status), error.grpc_code)
            raise
        except (asyncio.CancelledError, GeneratorExit):
            await passing.end("cut", "CANCELLED")
            raise
        except Exception:
            await passing.end("failed", "INTERNAL")
            raise
        await passing.end("ok", "OK")


class _Passing:
    """One call and its entries: one when its outcome is known, of a stream one before its first message as well."""

    def __init__(self, gateway: Gateway, record: audit.Record) -> None:
        self._gateway = gateway
        self._record = record
        self._begun = False

    async def begin(self) -> None:
        """To be called before a message of a stream goes out. Raises Unavailable."""
        if not self._begun:
            self._begun = True
            await self._gateway.audit(self._record, "ok", "OK")

    async def end(self, outcome: audit.Outcome, status: str) -> None:
        """Record the outcome. Raises Unavailable."""
        if not self._begun:
            await self._gateway.audit(self._record, outcome, status)
        elif outcome == "ok":
            await self._gateway.audit(self._record, "ended", status)
        else:
            await self._gateway.audit(self._record, "cut", status)


def _authorization(context: grpc.aio.ServicerContext[Any, Any]) -> str | None:
    metadata: Any = context.invocation_metadata() or ()  # the stubs do not know that it is iterable
    given = next((value for key, value in metadata if key == "authorization"), None)
    return given if isinstance(given, str) else None


def _host(peer: str) -> str:
    """The address in what gRPC says of a peer: ipv4:10.0.0.1:5000, ipv6:%5B::1%5D:5000, unix:path."""
    kind, _, rest = peer.partition(":")
    if kind not in ("ipv4", "ipv6"):
        return ""
    return rest.rsplit(":", 1)[0].replace("%5B", "").replace("%5D", "").strip("[]")
