"""Cookies of people who sign in to the page: HttpOnly, SameSite=Lax, and over TLS for this host alone."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie

from starlette.responses import Response

_SECURE, _PLAIN = "__Host-quelea", "quelea"
_LOGIN = "-login"
_LOGIN_SECONDS = 600
"""How long a login may take."""


def _value(header: str, ending: str) -> str:
    try:
        found = SimpleCookie(header)
    except CookieError:
        return ""
    one = found.get(_SECURE + ending) or found.get(_PLAIN + ending)
    return one.value if one else ""


def session_cookie(header: str) -> str:
    """Id of the session in a Cookie header; empty: none."""
    return _value(header, "")


def login_cookie(header: str) -> str:
    """The secret of a login on its way, and where it is to lead."""
    return _value(header, _LOGIN)


def set_session(response: Response, session_id: str, *, secure: bool, seconds: float) -> None:
    """Give the browser its session."""
    _set(response, "", session_id, secure=secure, seconds=int(seconds))


def set_login(response: Response, value: str, *, secure: bool) -> None:
    """Give it the secret of its login."""
    _set(response, _LOGIN, value, secure=secure, seconds=_LOGIN_SECONDS)


def forget(response: Response, *, secure: bool, login: bool = False) -> None:
    """Take the one or the other away."""
    _set(response, _LOGIN if login else "", "", secure=secure, seconds=0)


def _set(response: Response, ending: str, value: str, *, secure: bool, seconds: int) -> None:
    name = (_SECURE if secure else _PLAIN) + ending
    response.set_cookie(name, value, max_age=seconds, path="/", secure=secure, httponly=True, samesite="lax")
