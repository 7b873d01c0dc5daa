"""An OpenID provider on loopback, made of Authlib's own server side: discovery, keys, code with PKCE, logout.

It asks who signs in by a form, as providers do, and insists on PKCE. Access tokens are JWTs (RFC 9068).
"""

from __future__ import annotations

import html
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import OpenIDCode, UserInfo
from flask import Flask, jsonify, redirect, request
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from werkzeug.serving import make_server

AUDIENCE, CLIENT = "quelea", "quelea-page"


@dataclass
class _User:
    sub: str

    def get_user_id(self):
        return self.sub


@dataclass
class _Client:
    """The only client: the page of Quelea, public."""

    redirect_uris: list[str] = field(default_factory=list)
    client_id: str = CLIENT

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return self.redirect_uris[0]

    def get_allowed_scope(self, scope):
        return scope

    def check_redirect_uri(self, uri):
        return uri in self.redirect_uris

    def check_client_secret(self, _secret):
        return False

    def check_endpoint_auth_method(self, method, _endpoint):
        return method == "none"

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type == "authorization_code"


@dataclass
class _Code:
    code: str
    client_id: str
    redirect_uri: str
    scope: str
    sub: str
    nonce: str
    code_challenge: str
    code_challenge_method: str
    auth_time: int = field(default_factory=lambda: int(time.time()))

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope

    def get_nonce(self):
        return self.nonce

    def get_auth_time(self):
        return self.auth_time

    def get_acr(self):
        return None

    def get_amr(self):
        return None


class Provider:
    """The provider, serving.

    Attributes:
        claims: Of each person, by his sub.
        calls: Paths that were asked for.
        down: Answers nothing but 503 while it is set.
    """

    def __init__(self) -> None:
        self.claims: dict[str, dict[str, Any]] = {}
        self.calls: list[str] = []
        self.down = False
        self.client = _Client()
        self.key = self.new_key("first")
        self.published = [self.key]
        self.codes: dict[str, _Code] = {}
        self.id_token_changes: dict[str, Any] = {}
        self._server = make_server("127.0.0.1", 0, self._app(), threaded=True)
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Serve no longer."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @staticmethod
    def new_key(kid: str) -> RSAKey:
        """A private key."""
        return RSAKey.generate_key(2048, {"kid": kid, "use": "sig", "alg": "RS256"}, auto_kid=False)

    def roll_over(self, kid: str, *, keep_old: bool) -> None:
        """Sign with a new key from now on."""
        self.key = self.new_key(kid)
        self.published = [*(self.published if keep_old else []), self.key]

    def token(self, sub: str, /, *, key: Any = None, header: dict[str, Any] | None = None, **changes: Any) -> str:
        """An access token of a person, with claims changed; None leaves one out."""
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": AUDIENCE, "sub": sub, "iat": now, "exp": now + 300}
        claims |= self.claims.get(sub, {})
        claims = {name: value for name, value in (claims | changes).items() if value is not None}
        key = key or self.key
        return jwt.encode({"alg": "RS256", "kid": key.kid, "typ": "at+jwt", **(header or {})}, claims, key)

    def _app(self) -> Flask:  # noqa: C901  # Flask's way: a function for each route
        app = Flask(__name__)
        server = AuthorizationServer(
            app, query_client=lambda name: self.client if name == CLIENT else None, save_token=lambda *_: None
        )
        app.config["OAUTH2_ACCESS_TOKEN_GENERATOR"] = False
        provider = self

        class CodeGrant(grants.AuthorizationCodeGrant):
            TOKEN_ENDPOINT_AUTH_METHODS = ("none",)

            def save_authorization_code(self, code, made):
                data = made.payload.data
                provider.codes[code] = _Code(
                    code, made.client.client_id, made.payload.redirect_uri, made.payload.scope, made.user.sub,
                    data.get("nonce", ""), data.get("code_challenge", ""), data.get("code_challenge_method", ""),
                )  # fmt: skip

            def query_authorization_code(self, code, client):
                return provider.codes.get(code)

            def delete_authorization_code(self, code):
                provider.codes.pop(code.code, None)

            def authenticate_user(self, code):
                return _User(code.sub)

        class IdToken(OpenIDCode):
            def exists_nonce(self, nonce, _request):
                return False

            def get_jwt_config(self, _grant, _client=None):
                return {"key": provider.key, "alg": "RS256", "iss": provider.issuer, "exp": 300}

            def generate_user_info(self, user, _scope):
                return UserInfo(sub=user.sub, **provider.claims.get(user.sub, {}), **provider.id_token_changes)

        server.register_grant(CodeGrant, [CodeChallenge(required=True), IdToken(require_nonce=True)])
        server.register_token_generator("default", self._bearer)

        @app.before_request
        def count():
            self.calls.append(request.path)
            return ("", 503) if self.down else None

        @app.get("/.well-known/openid-configuration")
        def configuration():
            return jsonify(
                issuer=self.issuer,
                authorization_endpoint=f"{self.issuer}/authorize",
                token_endpoint=f"{self.issuer}/token",
                end_session_endpoint=f"{self.issuer}/logout",
                jwks_uri=f"{self.issuer}/keys",
                response_types_supported=["code"],
                subject_types_supported=["public"],
                id_token_signing_alg_values_supported=["RS256"],
                code_challenge_methods_supported=["S256"],
            )

        @app.get("/keys")
        def keys():
            return jsonify(KeySet(self.published).as_dict(private=False))

        @app.route("/authorize", methods=["GET", "POST"])
        def authorize():
            if request.method == "GET":
                server.get_consent_grant(end_user=None)
                return (
                    "<title>Sign in</title><form method=post><label>Who are you? <input name=sub autofocus></label>"
                    f"<button name=yes value=1>Sign in to {html.escape(CLIENT)}</button>"
                    "<button name=no value=1>Cancel</button></form>"
                )
            user = None if "no" in request.form else _User(request.form["sub"])
            return server.create_authorization_response(grant_user=user, grant=server.get_consent_grant(end_user=user))

        @app.post("/token")
        def token():
            return server.create_token_response()

        @app.get("/logout")
        def logout():
            return redirect(request.args["post_logout_redirect_uri"])

        return app

    def _bearer(self, grant_type, client, user=None, scope=None, expires_in=None, include_refresh_token=True):
        return {"token_type": "Bearer", "access_token": self.token(user.sub), "expires_in": 300, "scope": scope}
