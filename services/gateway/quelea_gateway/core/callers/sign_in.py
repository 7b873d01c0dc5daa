"""Who a person is to Quelea, by what an OpenID provider says of him: the file that maps groups to tenant and rights."""

from __future__ import annotations

import base64
import hashlib
import hmac
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from quelea_kit.errors import InvalidInput, PermissionDenied, Unauthenticated
from quelea_kit.reach import DEFAULT_TENANT, check_name

from quelea_gateway.core.callers.access import EVERY, Principal, Right

EVERYBODY = "*"
"""In place of a group: everybody whom the provider vouches for."""
PERSON = "person:"
"""Before the subject of a person, so that no key is named as he is."""
_MOST_SUBJECT = 200
_PARTS = 3
"""Of a JSON web token."""

Algorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]
"""Signatures by private keys. None with a shared secret, and no "none"."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Members(_Part):
    """What the members of a group may do."""

    group: str = Field(min_length=1)
    """As the provider says it, or * for everybody."""
    tenant: str = DEFAULT_TENANT
    rights: dict[str, Literal["read", "write", "manage"]] = {EVERY: "read"}
    """Collection, or *, to the highest right on it."""
    administrator: bool = False

    @field_validator("tenant")
    @classmethod
    def _tenant(cls, name: str) -> str:
        return _named(name, "tenant")

    @field_validator("rights")
    @classmethod
    def _collections(cls, rights: dict[str, str]) -> dict[str, str]:
        for name in rights:
            if name != EVERY:
                _named(name, "collection")
        return rights


class Login(_Part):
    """Signing in to the page."""

    client_id: str = Field(min_length=1)
    client_secret_file: str = ""
    """File with the client's secret; empty: a public client, by PKCE alone."""
    scopes: tuple[str, ...] = ("openid", "profile")
    session_seconds: float = Field(8 * 3600, gt=0, le=7 * 86_400)
    """How long a session lasts, used or not."""
    idle_seconds: float = Field(3600, gt=0)
    """How long one lasts that is not used."""


class SignIn(_Part):
    """The file that QUELEA_GATEWAY_OPENID_FILE names."""

    issuer: str
    audiences: tuple[str, ...] = ()
    """`aud` of bearer tokens, one of which a token must have; empty: no bearer tokens, only the login."""
    scopes: tuple[str, ...] = ()
    """What an MCP client that signs somebody in by itself asks the provider for, so that its token is for one of the
    audiences; it is told them. Entra: api://quelea/access."""
    algorithms: tuple[Algorithm, ...] = ("RS256", "PS256", "ES256", "EdDSA")
    clock_skew_seconds: float = Field(60, ge=0, le=600)
    keys_seconds: float = Field(3600, gt=0)
    """Age at which the provider's keys are asked for again."""
    keys_stale_seconds: float = Field(86_400, ge=0)
    """How much longer they are used while the provider does not answer; then nobody is let in by it."""
    timeout_seconds: float = Field(5, gt=0, le=30)
    """Deadline of each call to the provider."""
    subject_claim: str = "sub"
    """Which claim tells persons apart, for good. Entra: oid."""
    name_claim: str = "preferred_username"
    """What the page shows."""
    groups_claim: str = "groups"
    """Dots go into objects: realm_access.roles."""
    members: tuple[Members, ...] = Field(min_length=1)
    """In order: the first that fits decides on the tenant, all of that tenant that fit add their rights."""
    login: Login | None = None

    @field_validator("issuer")
    @classmethod
    def _issuer(cls, url: str) -> str:
        if not is_safe(url):
            raise ValueError("must be an https address (http on this machine alone)")
        return url

    def principal(self, claims: Mapping[str, Any]) -> Principal:
        """Who a person with these claims, which have been verified, is.

        Raises:
            Unauthenticated: Nothing tells him apart.
            PermissionDenied: No group of his is in the file.
        """
        subject = claims.get(self.subject_claim)
        if not isinstance(subject, str) or not subject.isprintable() or not 0 < len(subject) <= _MOST_SUBJECT:
            raise Unauthenticated(f"The token's {self.subject_claim!r} is missing or empty, so it is nobody's.")
        groups = _groups(_at(claims, self.groups_claim))
        fitting = [one for one in self.members if one.group == EVERYBODY or one.group in groups]
        if not fitting:
            raise PermissionDenied("You are signed in, but none of your groups may use Quelea; ask its operator.")
        tenant = fitting[0].tenant
        rights: dict[str, Right] = {}
        for one in (one for one in fitting if one.tenant == tenant):
            for name, word in one.rights.items():
                rights[name] = max(Right.parse(word), rights.get(name, Right.READ))
        administrator = any(one.administrator for one in fitting if one.tenant == tenant)
        return Principal(f"{PERSON}{subject}", tenant, rights, administrator)

    def name(self, claims: Mapping[str, Any]) -> str:
        """What to call him on the page."""
        given = claims.get(self.name_claim) or claims.get("name") or claims.get("email") or claims.get("sub")
        return str(given)[:_MOST_SUBJECT]


@dataclass(frozen=True)
class Attempt:
    """One login on its way. Its browser keeps the secret, all else is made of it, and the gateway remembers nothing."""

    secret: str

    def made(self, what: str) -> str:
        """state, nonce or verifier."""
        made = hmac.new(self.secret.encode(), what.encode(), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(made).rstrip(b"=").decode()

    def fits(self, state: str) -> bool:
        """Whether the provider sends back the state of this attempt."""
        return hmac.compare_digest(self.made("state").encode(), state.encode("utf-8", "replace"))


def read(path: Path) -> SignIn:
    """The file, read. Raises InvalidInput with its first fault."""
    try:
        return SignIn.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in fault["loc"]) or "the file"
        raise InvalidInput(f"{path}: {where}: {fault['msg']}", details={"field": where}) from error
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from error


def is_safe(url: str) -> bool:
    """Whether what is asked there, is asked of whom it names: https, or this machine."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.hostname) and (
        parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1"))
    )


def is_token(bearer: str) -> bool:
    """Whether a bearer is a JSON web token rather than a key."""
    return bearer.count(".") == _PARTS - 1


def _named(name: str, field: str) -> str:
    try:
        return check_name(name, field)
    except InvalidInput as error:
        raise ValueError(error.message) from error


def _at(claims: Mapping[str, Any], path: str) -> Any:
    if path in claims:  # also a name with dots in it, as https://example.com/groups
        return claims[path]
    found: Any = claims
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _groups(given: Any) -> set[str]:
    if isinstance(given, str):
        return {given}
    return {one for one in given if isinstance(one, str)} if isinstance(given, list) else set()
