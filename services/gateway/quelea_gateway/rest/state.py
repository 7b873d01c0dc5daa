"""Where a request finds the gateway."""

from __future__ import annotations

from typing import cast

from fastapi import Request
from quelea_kit.errors import InvalidInput

from quelea_gateway.gateway import Gateway


def gateway_of(request: Request) -> Gateway:
    """The gateway that the app was built on."""
    return cast("Gateway", request.app.state.gateway)


def key_of(request: Request) -> str:
    """The name of the caller's key, as the door admitted it."""
    return str(getattr(request.state, "key", ""))


def base_url(request: Request) -> str:
    """The address under which callers reach the gateway, without a slash at the end."""
    return (gateway_of(request).settings.public_url or str(request.base_url)).rstrip("/")


def known_query(request: Request) -> None:
    """For lists: a filter whose name is misspelt is refused; passed over, it would list everything."""
    names = [parameter.alias for parameter in request.scope["route"].dependant.query_params]
    for given in request.query_params:
        if given not in names:
            raise InvalidInput(
                f"query.{given[:100]}: there is no such parameter; there are {', '.join(names)}.",
                details={"field": given[:100]},
            )
