"""An OpenID provider: its keys, its tokens, and its login.

Its keys are asked for when they are first needed, when they are old, and when a token names one that is not among them;
never more often than every ten seconds, each time within a deadline, and one caller for all who wait.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from joserfc import jwt
from joserfc.errors import ExpiredTokenError, JoseError
from joserfc.jwk import KeySet
from quelea_kit.errors import Unauthenticated, Unavailable
from quelea_kit.logging import get_logger

from quelea_gateway.core.callers.sign_in import Attempt, Login, SignIn, is_safe, is_token
from quelea_gateway.metrics import OPENID_FAILURES

log = get_logger(__name__)

_RETRY_SECONDS = 10.0
_MOST_TOKEN = 16_384
_MOST_REPLY = 1_000_000
_TYPES = ("", "jwt", "at+jwt", "application/at+jwt")
"""`typ` of tokens that are taken; not of those that are for something else (logout+jwt, dpop+jwt)."""


class OpenIdProvider:
    """One provider, as the settings have it.

    Args:
        settings: Issuer, audiences, deadlines.
        now: Seconds, monotonic.
    """

    def __init__(self, settings: SignIn, now: Callable[[], float] = time.monotonic) -> None:
        self.settings = settings
        self._now = now
        self._metadata: Mapping[str, Any] = {}
        self._keys: KeySet | None = None
        self._kids: frozenset[str] = frozenset()
        self._read = self._tried = -1e9
        self._why = ""
        self._asking = asyncio.Lock()

    async def prepare(self, token: str) -> None:
        """Have the keys at hand by which a token can be verified.

        Raises:
            Unavailable: The provider did not give them, and those at hand are too old.
        """
        kid = _header(token).get("kid")
        if self._is_fresh() and (kid is None or kid in self._kids):
            return
        await self._refresh(kid if isinstance(kid, str) else None)

    def claims_of(self, token: str) -> dict[str, Any]:
        """The claims of a bearer token. Raises Unauthenticated."""
        if not self.settings.audiences:
            raise Unauthenticated("This deployment takes no tokens; send an API key.")
        return self._verify(token, self.settings.audiences)

    async def login_address(self, attempt: Attempt, redirect_uri: str) -> str:
        """Where a browser goes to sign in. Raises Unavailable."""
        metadata = await self._provider()
        async with self._client(redirect_uri) as client:
            address, _ = client.create_authorization_url(
                metadata["authorization_endpoint"],
                state=attempt.made("state"),
                nonce=attempt.made("nonce"),
                code_verifier=attempt.made("verifier"),
            )
        return str(address)

    async def redeem(self, attempt: Attempt, code: str, redirect_uri: str) -> dict[str, Any]:
        """The claims of whoever signed in, for the code that his browser brought; `id_token` is the token itself.

        Raises:
            Unauthenticated: The provider does not take the code, or what it gives does not belong to this attempt.
            Unavailable: It does not answer.
        """
        metadata = await self._provider()
        try:
            async with asyncio.timeout(self.settings.timeout_seconds), self._client(redirect_uri) as client:
                given = await client.fetch_token(
                    metadata["token_endpoint"], code=code, code_verifier=attempt.made("verifier")
                )
        except (AuthlibBaseError, httpx2.HTTPStatusError, ValueError) as error:
            log.warning("login_refused", why=str(error)[:300])
            raise Unauthenticated("The provider did not accept this login; sign in again.") from error
        except (httpx2.HTTPError, TimeoutError, OSError) as error:
            raise self._unavailable(error) from error
        token = given.get("id_token")
        if not isinstance(token, str):
            raise Unauthenticated("The provider gave no id_token; the scopes must have openid.")
        await self.prepare(token)
        login = self._login()
        claims = self._verify(token, (login.client_id,))
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), attempt.made("nonce").encode()):
            raise Unauthenticated("This login does not belong to this browser; sign in again.")
        if claims.get("azp", login.client_id) != login.client_id:
            raise Unauthenticated("This login is for another application.")
        return {**claims, "id_token": token}

    async def logout_address(self, id_token: str, back: str) -> str:
        """Where a browser goes to sign out at the provider too; empty where it has no such place."""
        try:
            end = (await self._provider()).get("end_session_endpoint", "")
        except Unavailable:
            return ""
        if not end or not is_safe(str(end)):
            return ""
        given = {"id_token_hint": id_token, "post_logout_redirect_uri": back, "client_id": self._login().client_id}
        return str(httpx2.URL(str(end)).copy_merge_params(given))

    def _verify(self, token: str, audiences: tuple[str, ...]) -> dict[str, Any]:
        settings = self.settings
        header = _header(token)
        if str(header.get("typ", "")).lower() not in _TYPES:
            raise Unauthenticated("This kind of token is not accepted; send an access token or an id_token.")
        if self._keys is None or self._age() > settings.keys_seconds + settings.keys_stale_seconds:
            raise Unauthenticated("The provider's signing keys could not be fetched; try again.")
        claims = jwt.JWTClaimsRegistry(
            leeway=int(settings.clock_skew_seconds),
            iss={"essential": True, "value": settings.issuer},
            aud={"essential": True, "values": list(audiences)},
            exp={"essential": True},
            sub={"essential": True},
        )
        try:
            decoded = jwt.decode(token, self._keys, algorithms=list(settings.algorithms))
            claims.validate(decoded.claims)
        except ExpiredTokenError:
            raise Unauthenticated("The token has expired; sign in again.") from None
        except (JoseError, ValueError, TypeError) as error:
            log.info("token_refused", why=f"{type(error).__name__}: {error}"[:200])
            raise Unauthenticated(
                "The token is not valid here: wrong signature, issuer, audience, or not valid yet."
            ) from None
        return decoded.claims

    async def _provider(self) -> Mapping[str, Any]:
        if not self._is_fresh():
            await self._refresh(None)
        return self._metadata

    async def _refresh(self, kid: str | None) -> None:
        async with self._asking:
            if self._is_fresh() and (kid is None or kid in self._kids):
                return  # another caller was first
            if self._now() - self._tried >= _RETRY_SECONDS:
                self._tried = self._now()
                try:
                    async with asyncio.timeout(self.settings.timeout_seconds):
                        await self._read_all()
                    self._why = ""
                except (httpx2.HTTPError, JoseError, ValueError, KeyError, TypeError, TimeoutError, OSError) as error:
                    self._why = f"{type(error).__name__}: {error}"[:200]
                    OPENID_FAILURES.inc()
                    log.warning("openid_provider_failed", issuer=self.settings.issuer, why=self._why)
        if self._age() > self.settings.keys_seconds + self.settings.keys_stale_seconds:
            raise Unavailable(
                f"The OpenID provider {self.settings.issuer} does not give its keys.", retry_after=_RETRY_SECONDS
            )

    async def _read_all(self) -> None:
        async with httpx2.AsyncClient(timeout=self.settings.timeout_seconds, follow_redirects=False) as client:
            metadata = await _get(client, self.settings.issuer.rstrip("/") + "/.well-known/openid-configuration")
            if metadata.get("issuer") != self.settings.issuer:
                raise ValueError(f"it says that its issuer is {str(metadata.get('issuer'))[:100]!r}")
            for name in ("jwks_uri", "authorization_endpoint", "token_endpoint"):
                if not is_safe(str(metadata[name])):
                    raise ValueError(f"its {name} is not an https address")
            given = (await _get(client, str(metadata["jwks_uri"])))["keys"]
        # A shared secret among the keys, or a key for encryption, never verifies a signature.
        signing = [one for one in given if one.get("kty") in ("RSA", "EC", "OKP") and one.get("use", "sig") == "sig"]
        self._keys = KeySet.import_key_set({"keys": signing})
        self._kids = frozenset(key.kid for key in self._keys.keys if key.kid)
        self._metadata = metadata
        self._read = self._now()

    def _client(self, redirect_uri: str) -> AsyncOAuth2Client:
        login = self._login()
        secret = Path(login.client_secret_file).read_text("utf-8").strip() if login.client_secret_file else None
        return AsyncOAuth2Client(
            client_id=login.client_id,
            client_secret=secret,
            token_endpoint_auth_method="client_secret_basic" if secret else "none",
            scope=" ".join(login.scopes),
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            timeout=self.settings.timeout_seconds,
        )

    def _login(self) -> Login:
        if self.settings.login is None:
            raise Unauthenticated("Sign-in is not set up here; send an API key or a token.")
        return self.settings.login

    def _unavailable(self, error: Exception) -> Unavailable:
        OPENID_FAILURES.inc()
        log.warning("openid_provider_failed", issuer=self.settings.issuer, why=f"{type(error).__name__}: {error}"[:200])
        return Unavailable(f"The OpenID provider {self.settings.issuer} does not answer.", retry_after=_RETRY_SECONDS)

    def _age(self) -> float:
        return self._now() - self._read

    def _is_fresh(self) -> bool:
        return self._keys is not None and self._age() <= self.settings.keys_seconds


async def _get(client: httpx2.AsyncClient, url: str) -> dict[str, Any]:
    """A JSON object. Raises httpx2.HTTPError or ValueError."""
    async with client.stream("GET", url, headers={"Accept": "application/json"}) as reply:
        reply.raise_for_status()
        if reply.is_redirect:
            raise ValueError(f"{url} redirects")
        body = b""
        async for piece in reply.aiter_bytes():
            body += piece
            if len(body) > _MOST_REPLY:
                raise ValueError(f"{url} answers with more than {_MOST_REPLY:,} bytes")
    found = json.loads(body)
    if not isinstance(found, dict):
        raise ValueError(f"{url} answers with no object")  # what comes from outside
    return found


def _header(token: str) -> dict[str, Any]:
    """What the token says of itself, not verified. Raises Unauthenticated."""
    try:
        if len(token) > _MOST_TOKEN or not is_token(token):
            raise ValueError(len(token))
        part = token.partition(".")[0]
        found = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError, binascii.Error):
        raise Unauthenticated("The token cannot be read.") from None
    if not isinstance(found, dict):
        raise Unauthenticated("The token cannot be read.")
    return found
