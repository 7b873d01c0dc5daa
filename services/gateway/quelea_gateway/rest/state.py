"""Where a request finds the gateway."""

from __future__ import annotations

from typing import cast

from fastapi import Request
from quelea_kit.errors import PermissionDenied

from quelea_gateway.gateway import Gateway

NOT_AN_ADMINISTRATOR = (
    "Only administrators may do this; the operator names their keys in QUELEA_GATEWAY_ADMINISTRATORS."
)


def gateway_of(request: Request) -> Gateway:
    """The gateway that the app was built on."""
    return cast("Gateway", request.app.state.gateway)


def key_of(request: Request) -> str:
    """The name of the caller's key, as the middleware admitted it."""
    return str(getattr(request.state, "key", ""))


def check_administrator(request: Request) -> None:
    """Raises PermissionDenied unless the caller may administer."""
    if not gateway_of(request).is_administrator(key_of(request)):
        raise PermissionDenied(NOT_AN_ADMINISTRATOR)


def base_url(request: Request) -> str:
    """The address under which callers reach the gateway, without a slash at the end."""
    return (gateway_of(request).settings.public_url or str(request.base_url)).rstrip("/")
