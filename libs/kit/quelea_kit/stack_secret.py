"""One secret of the processes of a stack, where TLS does not tell them from the machine's other users.

QUELEA_STACK_SECRET, the same in every process of a stack on one machine: each call carries it as metadata, and a server
that has it answers nobody else. `quelea up` makes one for each start. Where QUELEA_TLS_DIR is set certificates do the
same, and better; the secret is then left out.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import Any

import grpc
from pydantic_settings import BaseSettings, SettingsConfigDict

from quelea_kit.errors import Unauthenticated
from quelea_kit.rpc.channels import MetadataChannel, Metadatum

_KEY = "quelea-stack-secret"


class StackSettings(BaseSettings):
    """QUELEA_STACK_<FIELD>: the same variable in every service, as it is one for the whole process."""

    model_config = SettingsConfigDict(
        env_prefix="QUELEA_STACK_", frozen=True, extra="ignore", use_attribute_docstrings=True
    )

    secret: str = ""
    """What callers must know; empty: whoever reaches the port may call."""


def from_environment() -> str:
    """The secret of this process' stack; empty when it has none."""
    return StackSettings().secret


def check(secret: str, context: grpc.aio.ServicerContext[Any, Any]) -> None:
    """Raises Unauthenticated unless the call carries the secret; an empty secret lets everybody in."""
    if not secret:
        return
    shown = dict(context.invocation_metadata() or ()).get(_KEY, "")
    if not hmac.compare_digest(str(shown).encode(), secret.encode()):
        raise Unauthenticated("This service answers the processes of its own stack only: set QUELEA_STACK_SECRET.")


class SecretChannel(MetadataChannel):
    """Sends the secret along with each call.

    Args:
        channel: Where the calls go.
        secret: What the server wants.
    """

    def __init__(self, channel: grpc.aio.Channel, secret: str) -> None:
        super().__init__(channel)
        self._secret = secret

    def metadata(self) -> Iterable[Metadatum]:
        """The secret."""
        return ((_KEY, self._secret),)
