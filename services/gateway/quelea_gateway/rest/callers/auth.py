"""Signing in to the page: authorization code with PKCE at the OpenID provider, then a session in a cookie."""

from __future__ import annotations

import base64
import hmac
import secrets
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from quelea_kit.errors import NotFound, PermissionDenied, QueleaError, Unauthenticated

from quelea_gateway.access import SESSION
from quelea_gateway.adapters.callers.sessions import Session, Sessions
from quelea_gateway.core.callers import audit
from quelea_gateway.core.callers.sign_in import Attempt
from quelea_gateway.rest.callers.cookies import forget, login_cookie, session_cookie, set_login, set_session
from quelea_gateway.rest.knowledge_base.page_view import wants_html
from quelea_gateway.rest.state import base_url, gateway_of

if TYPE_CHECKING:
    from quelea_gateway.adapters.callers.openid import OpenIdProvider

router = APIRouter(include_in_schema=False)

_LONGEST = 2000
_NOT_KEPT = {"Cache-Control": "no-store"}


def _parts(request: Request) -> tuple[OpenIdProvider, Sessions]:
    access = gateway_of(request).access
    if access.openid is None or access.sessions is None:
        raise NotFound(
            "Sign-in is not set up here; send an API key. Operators set it up with QUELEA_GATEWAY_OPENID_FILE."
        )
    return access.openid, access.sessions


def _is_secure(request: Request) -> bool:
    return base_url(request).startswith("https://")


def _callback(request: Request) -> str:
    return base_url(request) + "/auth/callback"


def _local(to: str) -> str:
    """A place within the page, and no other."""
    return to if to.startswith(("/#", "#")) and to.isprintable() and len(to) <= _LONGEST else "/"


async def _session(request: Request) -> Session | None:
    sessions = gateway_of(request).access.sessions
    given = session_cookie(request.headers.get("cookie", ""))
    return await sessions.find(given) if sessions is not None and given else None


@router.get("/auth/session")
async def session(request: Request) -> Response:
    """Who is signed in, and whether anybody can. The token is for the header X-CSRF-Token."""
    found = await _session(request)
    told = {"login": gateway_of(request).access.sessions is not None, "signed_in": found is not None}
    if found is not None:
        told |= {"name": found.name, "tenant": found.tenant, "csrf": found.csrf}  # type: ignore[dict-item]
    return JSONResponse(told, headers=_NOT_KEPT)


@router.get("/auth/login")
async def login(request: Request, to: Annotated[str, Query(max_length=_LONGEST)] = "/") -> Response:
    """To the provider, and back to where the caller was."""
    openid, _ = _parts(request)
    attempt = Attempt(secrets.token_urlsafe(32))
    address = await openid.login_address(attempt, _callback(request))
    response = RedirectResponse(address, 303, _NOT_KEPT)
    place = base64.urlsafe_b64encode(_local(to).encode()).rstrip(b"=").decode()
    set_login(response, f"{attempt.secret}.{place}", secure=_is_secure(request))
    return response


@router.get("/auth/callback")
async def callback(
    request: Request,
    code: Annotated[str, Query(max_length=4096)] = "",
    state: Annotated[str, Query(max_length=512)] = "",
    error: Annotated[str, Query(max_length=200)] = "",
    iss: Annotated[str, Query(max_length=1000)] = "",
) -> Response:
    """Back from the provider: a session, or why there is none."""
    openid, sessions = _parts(request)
    try:
        attempt, to = _attempt(request, state)
        if iss and iss != openid.settings.issuer:
            raise Unauthenticated("This answer is another provider's; sign in again.")
        if error or not code:
            raise PermissionDenied(f"The provider did not let you sign in ({error or 'no code'}).")
        claims = await openid.redeem(attempt, code, _callback(request))
        principal = openid.settings.principal(claims)
        audit.note_caller(principal.subject, principal.tenant, SESSION)
        made = await sessions.begin(principal, openid.settings.name(claims), claims["id_token"])
    except QueleaError as failed:
        return _failed(request, failed)
    old = session_cookie(request.headers.get("cookie", ""))
    if old:
        await sessions.end(old)
    response = RedirectResponse(to, 303, _NOT_KEPT)
    set_session(response, made, secure=_is_secure(request), seconds=sessions.seconds)
    forget(response, secure=_is_secure(request), login=True)
    return response


@router.post("/auth/logout")
async def logout(request: Request) -> Response:
    """End the session; the body says where the provider's own is ended."""
    openid, sessions = _parts(request)
    found = await _session(request)
    address = ""
    if found is not None:
        given = request.headers.get("x-csrf-token", "")
        if not hmac.compare_digest(given.encode(), found.csrf.encode()):
            raise PermissionDenied("The header X-CSRF-Token is missing or wrong; load the page again.")
        audit.note_caller(found.subject, found.tenant, SESSION)
        await sessions.end(session_cookie(request.headers.get("cookie", "")))
        address = await openid.logout_address(found.id_token, base_url(request) + "/")
    response = JSONResponse({"provider": address}, headers=_NOT_KEPT)
    forget(response, secure=_is_secure(request))
    return response


def _attempt(request: Request, state: str) -> tuple[Attempt, str]:
    """The login that this browser began. Raises Unauthenticated when it is another's, or none."""
    secret, _, place = login_cookie(request.headers.get("cookie", "")).partition(".")
    attempt = Attempt(secret)
    if not secret or not attempt.fits(state):
        raise Unauthenticated("This login was not begun in this browser, or took too long; sign in again.")
    try:
        to = base64.urlsafe_b64decode(place + "=" * (-len(place) % 4)).decode()
    except ValueError:
        to = "/"
    return attempt, _local(to)


def _failed(request: Request, error: QueleaError) -> Response:
    """Told on the page to a browser, else as any error."""
    if not wants_html(request.headers.get("accept", "")):
        raise error
    response = RedirectResponse("/?" + urlencode({"sign-in": error.reason.lower()}), 303, _NOT_KEPT)
    forget(response, secure=_is_secure(request), login=True)
    return response
