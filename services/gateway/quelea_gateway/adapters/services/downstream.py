"""What all three downstream services have in common: names, health, errors that say who failed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from quelea_kit.client import unary
from quelea_kit.errors import Cancelled, DeadlineExceeded, NotFound, QueleaError, Unavailable
from quelea_kit.files.disk import disk_full
from quelea_kit.server import WRITING

_NEEDS = {"retriever": ", or the embedder or the store that it needs"}
"""On a cluster a service that is not ready has no address, so that it cannot say itself what it waits for."""


@contextlib.contextmanager
def naming(service: str) -> Iterator[None]:
    """Say which service did not answer, and keep its address out of the message."""
    try:
        yield
    except (Unavailable, Cancelled) as error:
        raise Unavailable(
            _words_of(error, f"The {service} service does not answer{_NEEDS.get(service, '')}; try again in a moment."),
            details={**error.details, "dependency": service},
            retry_after=error.retry_after or 1.0,
        ) from error
    except DeadlineExceeded as error:
        raise DeadlineExceeded(
            _words_of(error, f"The {service} service did not answer in time."),
            details={**error.details, "dependency": service},
        ) from error
    except QueleaError as error:
        if type(error) is QueleaError:
            raise QueleaError(
                f"The {service} service failed; its log says why.", details={**error.details, "dependency": service}
            ) from error
        raise


def _words_of(error: QueleaError, otherwise: str) -> str:
    """The service's own words where it says that something behind it failed: they are meant for callers."""
    return error.message if "behind" in error.details else otherwise


class Health:
    """Asks a service whether it can do its work."""

    def __init__(self, channel: grpc.aio.Channel, service: str, name: str) -> None:
        self._stub = health_pb2_grpc.HealthStub(channel)
        self._service = service
        self._name = name

    async def check(self, seconds: float = 2.0) -> None:
        """Raises Unavailable with the reason."""
        reply = await self._ask(self._service, seconds)
        if reply.status != health_pb2.HealthCheckResponse.SERVING:
            raise Unavailable(
                f"The {self._name} service is not ready yet.",
                details={"dependency": self._name},
                retry_after=1.0,
            )

    async def takes_writes(self, seconds: float = 2.0) -> None:
        """Raises DiskFull while the service's disk takes nothing new, Unavailable where it does not answer."""
        try:
            reply = await self._ask(WRITING, seconds)
        except NotFound:  # it keeps nothing on a disk, or is older than this question
            return
        if reply.status == health_pb2.HealthCheckResponse.NOT_SERVING:
            raise disk_full(f"The disk of the {self._name} service takes nothing new; free some space.")

    async def _ask(self, service: str, seconds: float) -> health_pb2.HealthCheckResponse:
        with naming(self._name):
            return await unary(self._stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=seconds))
