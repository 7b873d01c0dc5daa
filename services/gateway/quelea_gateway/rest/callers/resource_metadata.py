"""How an MCP client learns where to sign somebody in: protected resource metadata (RFC 9728).

A client that calls /mcp without a token is pointed here by WWW-Authenticate, reads which provider gives tokens for it,
and takes one there (authorization code with PKCE), as the MCP authorization specification has it.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from quelea_kit.errors import NotFound

from quelea_gateway.core.callers.sign_in import SignIn
from quelea_gateway.gateway import Gateway
from quelea_gateway.mcp.asgi import PATH as MCP_PATH
from quelea_gateway.rest.state import base_url_of, gateway_of

router = APIRouter(include_in_schema=False)

_WELL_KNOWN = f"/.well-known/oauth-protected-resource{MCP_PATH}"


def _sign_in(gateway: Gateway) -> SignIn | None:
    """The provider whose tokens are taken, where there is one."""
    openid = gateway.access.openid
    return openid.settings if openid is not None and openid.settings.audiences else None


@router.get(_WELL_KNOWN)
async def metadata(request: Request) -> JSONResponse:
    """Whose tokens /mcp takes, and with which scopes they are asked for."""
    gateway = gateway_of(request)
    sign_in = _sign_in(gateway)
    if sign_in is None:
        raise NotFound("This deployment takes no tokens; send an API key as Authorization: Bearer KEY.")
    told: dict[str, Any] = {
        "resource": base_url_of(gateway, request.scope) + MCP_PATH,
        "resource_name": "Quelea",
        "authorization_servers": [sign_in.issuer],
        "bearer_methods_supported": ["header"],
    }
    if sign_in.scopes:
        told["scopes_supported"] = list(sign_in.scopes)
    return JSONResponse(told, headers={"Cache-Control": "max-age=300"})


def challenge_of(gateway: Gateway, scope: MutableMapping[str, Any], *, with_credentials: bool) -> str:
    """What WWW-Authenticate adds for a caller of /mcp who was not let in; empty elsewhere, or without a provider.

    Args:
        gateway: Its rules.
        scope: The request.
        with_credentials: Whether he sent a key or a token, which was not taken (RFC 6750).
    """
    sign_in = _sign_in(gateway)
    if sign_in is None or scope["path"].rstrip("/") != MCP_PATH:
        return ""
    said = [f'resource_metadata="{base_url_of(gateway, scope)}{_WELL_KNOWN}"']
    if sign_in.scopes:
        said.append(f'scope="{" ".join(sign_in.scopes)}"')
    if with_credentials:
        said.append('error="invalid_token"')
    return ", ".join(said)
