"""People by an OpenID provider: tokens over REST and gRPC, the login of the page, and who tries to get in otherwise."""

import asyncio
import base64
import contextlib
import hmac
import json
import time
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata
from quelea.gateway.v1 import gateway_pb2, gateway_pb2_grpc
from quelea_gateway import keys
from quelea_gateway.adapters.stores.audit_log import filter_entries, read
from quelea_gateway.testing import standing
from quelea_kit.client import channel, unary
from quelea_kit.errors import Unauthenticated
from quelea_kit.testing import wait_until_async
from support.openid_provider import CLIENT, Provider

SETTINGS = """
issuer = "{issuer}"
audiences = ["quelea"]
groups_claim = "realm_access.roles"
clock_skew_seconds = 30
{more}
[login]
client_id = "quelea-page"
{login}
[[members]]
group = "us-desk"
tenant = "us"
rights = {{ "*" = "read", "filings" = "write" }}

[[members]]
group = "us-editors"
tenant = "us"
rights = {{ "filings" = "manage" }}

[[members]]
group = "eu-desk"
tenant = "eu"
administrator = true
"""


@pytest.fixture(scope="module")
def running_provider():
    made = Provider()
    yield made
    made.close()


@pytest.fixture
def provider(running_provider):
    running_provider.down = False
    running_provider.roll_over("first", keep_old=False)
    running_provider.calls.clear()
    running_provider.id_token_changes = {}
    running_provider.claims = {
        "ann": {"realm_access": {"roles": ["us-desk", "us-editors"]}, "preferred_username": "Ann Lee"},
        "eve": {"realm_access": {"roles": ["elsewhere"]}},
    }
    return running_provider


@contextlib.asynccontextmanager
async def gateway(provider, tmp_path, *, more="", login="", **settings):
    file = tmp_path / "openid.toml"
    file.write_text(SETTINGS.format(issuer=provider.issuer, more=more, login=login))
    given = {"openid_file": str(file), "keys_file": str(tmp_path / "keys.json"), "audit_dir": str(tmp_path / "audit")}
    async with (
        standing(auth="keys", **given, **settings) as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client,
    ):
        provider.client.redirect_uris = [f"{stand.url}/auth/callback"]
        yield stand, client


@pytest.fixture
async def open_gateway(provider, tmp_path):
    async with gateway(provider, tmp_path) as opened:
        yield opened


async def recorded(tmp_path, count, **wanted):
    """What the audit log holds of Ann once it has so many entries: they are written after the answer."""

    def entries():
        return list(filter_entries(read(tmp_path / "audit"), subject="person:ann", **wanted))

    await wait_until_async(lambda: len(entries()) >= count, what=f"{count} entries of Ann")
    return entries()


async def status(client, token, path="/v1/jobs"):
    reply = await client.get(path, headers={"Authorization": f"Bearer {token}"})
    return reply.status_code, reply.json().get("error", {}).get("message", "")


# Tokens


async def test_a_token_opens_and_says_who_calls(open_gateway, provider, tmp_path):
    _, client = open_gateway
    assert (await status(client, provider.token("ann")))[0] == 200

    [one] = await recorded(tmp_path, 1)
    assert (one["tenant"], one["key"], one["act"]) == ("us", "token", "listed")


async def test_keys_go_on_opening_beside_it(open_gateway, tmp_path):
    _, client = open_gateway
    key = keys.create(tmp_path / "keys.json", "desk")
    assert (await status(client, key))[0] == 200
    assert (await status(client, "quelea_none"))[0] == 401


async def test_grpc_takes_the_same_token_as_metadata(open_gateway, provider):
    stand, _ = open_gateway
    async with channel(stand.grpc, "quelea.gateway.v1.GatewayService") as opened:
        stub = gateway_pb2_grpc.GatewayServiceStub(opened)
        request = gateway_pb2.SearchRequest(query="net sales")

        async def search(token):
            return await unary(stub.Search(request, timeout=30, metadata=(("authorization", f"Bearer {token}"),)))

        assert (await search(provider.token("ann"))).result.passages
        with pytest.raises(Unauthenticated, match="expired"):
            await search(provider.token("ann", exp=int(time.time()) - 100))


async def test_groups_decide_on_tenant_and_rights(open_gateway, provider):
    stand, client = open_gateway
    access = stand.gateway.access
    await access.openid.prepare(provider.token("ann"))
    ann = access.identify(f"Bearer {provider.token('ann')}").principal
    assert (ann.subject, ann.tenant, ann.administrator) == ("person:ann", "us", False)
    assert {name: right.word for name, right in ann.rights.items()} == {"*": "read", "filings": "manage"}
    both = {"realm_access": {"roles": ["eu-desk", "us-desk"]}}
    first = access.identify(f"Bearer {provider.token('bob', **both)}").principal
    assert (first.tenant, first.administrator) == ("us", False)  # the other tenant's entry adds nothing
    code, message = await status(client, provider.token("eve"))
    assert code == 403
    assert "none of your groups" in message


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def claims_of(token):
    body = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


def unsigned(provider):
    return f"{part({'alg': 'none', 'typ': 'at+jwt', 'kid': 'first'})}.{part(claims_of(provider.token('ann')))}."


def with_public_key_as_secret(provider):
    """The classic: HS256 with the public key, which everybody has, as the shared secret."""
    signed = f"{part({'alg': 'HS256', 'kid': 'first'})}.{part(claims_of(provider.token('ann')))}"
    made = hmac.digest(provider.key.as_pem(private=False), signed.encode(), "sha256")
    return f"{signed}.{base64.urlsafe_b64encode(made).rstrip(b'=').decode()}"


def changed_claims(provider):
    token = provider.token("eve")
    head, _, signature = token.split(".")
    return f"{head}.{part({**claims_of(token), 'sub': 'ann', 'realm_access': {'roles': ['us-desk']}})}.{signature}"


def now():
    return int(time.time())


ATTACKS = {
    "no signature": unsigned,
    "public key as secret": with_public_key_as_secret,
    "claims changed": changed_claims,
    "another's key under the same id": lambda p: p.token("ann", key=Provider.new_key("first")),
    "a key that is not published": lambda p: p.token("ann", key=Provider.new_key("unknown")),
    "a key of its own in the header": lambda p: p.token(
        "ann", key=(own := Provider.new_key("own")), header={"jwk": own.as_dict(private=False)}
    ),
    "another audience": lambda p: p.token("ann", aud="another"),
    "the login's audience": lambda p: p.token("ann", aud=CLIENT),
    "no audience": lambda p: p.token("ann", aud=None),
    "another issuer": lambda p: p.token("ann", iss="http://127.0.0.1:1"),
    "expired": lambda p: p.token("ann", exp=now() - 31),
    "no expiry": lambda p: p.token("ann", exp=None),
    "expiry that is text": lambda p: p.token("ann", exp="never"),
    "not valid yet": lambda p: p.token("ann", nbf=now() + 120),
    "a logout token": lambda p: p.token("ann", header={"typ": "logout+jwt"}),
    "nobody": lambda p: p.token("ann", sub=None),
    "a subject that is a list": lambda p: p.token("ann", sub=["ann"]),
    "a subject with a control character": lambda p: p.token("us\x1fann"),
    "garbage": lambda p: "a.b.c",
    "very long": lambda p: p.token("ann", padding="x" * 20_000),
    "a header that is a number": lambda p: base64.urlsafe_b64encode(b"5").decode().rstrip("=") + ".e30.x",
}


@pytest.mark.parametrize("attack", ATTACKS)
async def test_tokens_that_open_nothing(open_gateway, provider, attack):
    _, client = open_gateway
    assert (await status(client, provider.token("ann")))[0] == 200
    code, message = await status(client, ATTACKS[attack](provider))
    assert code in (401, 431), message  # 431: longer than a header may be


async def test_the_clock_may_differ_by_what_is_set(open_gateway, provider):
    _, client = open_gateway
    assert (await status(client, provider.token("ann", exp=now() - 20)))[0] == 200
    assert (await status(client, provider.token("ann", nbf=now() + 20)))[0] == 200


async def test_a_new_key_is_fetched_when_a_token_names_it_but_not_for_every_invention(open_gateway, provider):
    stand, client = open_gateway
    assert (await status(client, provider.token("ann")))[0] == 200
    openid = stand.gateway.access.openid
    for number in range(20):
        await status(client, provider.token("ann", key=provider.key, header={"kid": f"invented{number}"}))
    assert provider.calls.count("/keys") == 1  # the last look is not ten seconds ago
    openid._tried -= 11
    old = provider.token("ann")
    provider.roll_over("second", keep_old=True)
    assert (await status(client, provider.token("ann")))[0] == 200
    assert (await status(client, old))[0] == 200
    provider.roll_over("third", keep_old=False)
    openid._tried -= 11
    assert (await status(client, provider.token("ann")))[0] == 200
    assert (await status(client, old))[0] == 401


async def test_keys_are_used_for_a_bounded_time_while_the_provider_is_away(provider, tmp_path):
    more = "keys_seconds = 100\nkeys_stale_seconds = 1000"
    async with gateway(provider, tmp_path, more=more) as (stand, client):
        token = provider.token("ann")
        assert (await status(client, token))[0] == 200
        openid = stand.gateway.access.openid
        provider.down = True
        for age, expected in ((150, 200), (1050, 200), (1150, 503)):
            openid._read, openid._tried = openid._now() - age, -1e9
            assert (await status(client, token))[0] == expected, age
        provider.down = False
        openid._tried = -1e9
        assert (await status(client, token))[0] == 200


async def test_a_provider_that_hangs_costs_a_caller_its_deadline_and_no_more(tmp_path, provider, monkeypatch):
    async with gateway(provider, tmp_path, more="timeout_seconds = 0.3") as (stand, client):

        async def hang(*_):
            await asyncio.sleep(60)

        monkeypatch.setattr(stand.gateway.access.openid, "_read_all", hang)
        began = time.monotonic()
        assert (await status(client, provider.token("ann")))[0] == 503
        assert (await status(client, provider.token("ann")))[0] == 503
        assert time.monotonic() - began < 5


async def test_a_provider_that_names_another_issuer_is_not_believed(provider, tmp_path, monkeypatch):
    async with gateway(provider, tmp_path) as (_, client):
        monkeypatch.setattr(provider, "issuer", "https://other.example.com")
        code, _ = await status(client, provider.token("ann", iss="https://other.example.com"))
        assert code == 503


# MCP clients, which find the provider by themselves


class Tokens:
    """What a client keeps between its calls; it was registered at the provider beforehand."""

    def __init__(self, redirect):
        self.client = OAuthClientInformationFull(
            client_id=CLIENT, redirect_uris=[redirect], token_endpoint_auth_method="none"
        )
        self.tokens = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


async def test_an_mcp_client_without_a_token_finds_the_provider_and_signs_in(provider, tmp_path):
    async with gateway(provider, tmp_path, more='scopes = ["quelea"]') as (stand, client):
        url, redirect = f"{stand.url}/mcp", "http://127.0.0.1:3030/callback"
        provider.client.redirect_uris = [redirect]
        asked, came = [], {}

        async def browse(address):
            asked.append(parse_qs(urlsplit(address).query))
            came.update(parse_qs(urlsplit(await consent(address, "ann")).query))

        async def callback():
            return AuthorizationCodeResult(code=came["code"][0], state=came["state"][0])

        metadata = OAuthClientMetadata(
            client_name="a client", redirect_uris=[redirect], token_endpoint_auth_method="none",
            grant_types=["authorization_code"],
        )  # fmt: skip
        auth = OAuthClientProvider(url, metadata, Tokens(redirect), browse, callback)
        async with (
            httpx2.AsyncClient(trust_env=False, timeout=60, auth=auth) as http,
            Client(streamable_http_client(url, http_client=http)) as mcp,
        ):
            found = await mcp.call_tool("search_passages", {"query": "net sales"})
        assert found.structured_content["passages"]
        assert len(asked) == 1
        assert asked[0]["resource"] == [url]
        assert asked[0]["scope"] == ["quelea"]
        [one] = await recorded(tmp_path, 1, act="searched")
        assert (one["tenant"], one["via"], one["outcome"]) == ("us", "mcp", "ok")
        told = (await client.get("/.well-known/oauth-protected-resource/mcp")).json()
        assert (told["resource"], told["authorization_servers"]) == (url, [provider.issuer])
        refused = await client.post("/mcp", json={}, headers={"Authorization": "Bearer a.b.c"})
        assert refused.status_code == 401
        assert 'error="invalid_token"' in refused.headers["www-authenticate"]
        again = await client.post("/mcp/", json={}, headers={"Authorization": "Bearer a.b.c"})
        assert again.headers["www-authenticate"] == refused.headers["www-authenticate"]
        elsewhere = await client.get("/v1/jobs")
        assert elsewhere.headers["www-authenticate"] == 'Bearer realm="quelea"'


async def test_where_no_tokens_are_taken_no_provider_is_named(tmp_path):
    async with (
        standing(auth="keys", keys_file=str(tmp_path / "keys.json")) as stand,
        httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client,
    ):
        assert (await client.get("/.well-known/oauth-protected-resource/mcp")).status_code == 404
        assert (await client.post("/mcp", json={})).headers["www-authenticate"] == 'Bearer realm="quelea"'


# The login of the page


async def sign_in(client, who="ann", *, to="/#/documents", accept="text/html"):
    """As a browser does; the answer of the callback."""
    begun = await client.get("/auth/login", params={"to": to})
    assert begun.status_code == 303, begun.text
    back = await consent(begun.headers["location"], who)
    return await client.get(back, headers={"Accept": accept})


async def consent(address, who):
    """Fill in the provider's form; where it leads."""
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as browser:
        form = await browser.get(address)
        assert "Who are you?" in form.text, form.text
        reply = await browser.post(address, data={"sub": who, "yes": "1"} if who else {"no": "1"})
    assert reply.status_code == 302, reply.text
    return reply.headers["location"]


async def test_signing_in_calling_and_signing_out(open_gateway, tmp_path):
    _, client = open_gateway
    assert (await client.get("/auth/session")).json() == {"login": True, "signed_in": False}
    assert (await client.get("/v1/jobs")).status_code == 401
    reply = await sign_in(client)
    assert (reply.status_code, reply.headers["location"]) == (303, "/#/documents")
    cookies = reply.headers.get_list("set-cookie")
    assert all("HttpOnly" in one and "SameSite=lax" in one and "Path=/" in one for one in cookies)
    told = (await client.get("/auth/session")).json()
    assert (told["signed_in"], told["name"], told["tenant"]) == (True, "Ann Lee", "us")
    assert (await client.get("/v1/jobs")).status_code == 200
    csrf = {"X-CSRF-Token": told["csrf"]}
    asked = await client.post("/v1/search", json={"query": "net sales"}, headers=csrf)
    assert asked.status_code == 200
    session_id = client.cookies["quelea"]
    gone = await client.post("/auth/logout", headers=csrf)
    assert "/logout?" in gone.json()["provider"]
    assert (await client.get("/v1/jobs")).status_code == 401
    stolen = await client.get("/v1/jobs", headers={"Cookie": f"quelea={session_id}"})
    assert stolen.status_code == 401

    acts = [one["act"] for one in await recorded(tmp_path, 4)]
    assert acts == ["signed in", "listed", "searched", "signed out"]
    stored = "".join(path.read_text() for path in (tmp_path / "audit").glob("*.jsonl"))
    assert session_id not in stored
    assert told["csrf"] not in stored


async def test_over_tls_the_cookie_is_secure_and_of_this_host_alone(provider, tmp_path):
    async with gateway(provider, tmp_path, public_url="https://desk.example.com") as (_, client):
        provider.client.redirect_uris = ["https://desk.example.com/auth/callback"]
        reply = await client.get("/auth/login")
        [cookie] = reply.headers.get_list("set-cookie")
        assert cookie.startswith("__Host-quelea-login=")
        assert "; Secure" in cookie
        asked = parse_qs(urlsplit(reply.headers["location"]).query)
        assert asked["redirect_uri"] == ["https://desk.example.com/auth/callback"]
        assert asked["code_challenge_method"] == ["S256"]
        assert asked["nonce"] != asked["state"]


@pytest.mark.parametrize("to", ["https://evil.example.com", "//evil.example.com", "/\\evil", "/v1/jobs", "data:,x"])
async def test_a_login_leads_nowhere_but_to_the_page(open_gateway, to):
    _, client = open_gateway
    assert (await sign_in(client, to=to)).headers["location"] == "/"


async def test_who_is_in_no_group_and_who_cancels_get_no_session(open_gateway):
    _, client = open_gateway
    for who, expected in (("eve", "permission_denied"), ("", "permission_denied")):
        reply = await sign_in(client, who)
        assert reply.headers["location"] == f"/?sign-in={expected}"
        assert "quelea" not in client.cookies
        assert (await sign_in(client, who, accept="application/json")).status_code == 403


async def test_a_code_opens_once(open_gateway):
    _, client = open_gateway
    begun = await client.get("/auth/login")
    back = await consent(begun.headers["location"], "ann")
    login = {"Cookie": f"quelea-login={client.cookies['quelea-login']}"}
    client.cookies.clear()
    first = await client.get(back, headers=login)
    assert "quelea" in client.cookies
    client.cookies.clear()
    again = await client.get(back, headers=login)
    assert (first.status_code, again.status_code) == (303, 401)
    assert "quelea" not in client.cookies


async def test_a_login_begun_in_another_browser_is_none_here(open_gateway, provider):
    stand, client = open_gateway
    begun = await client.get("/auth/login")
    back = await consent(begun.headers["location"], "ann")
    async with httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as victim:
        assert (await victim.get(back)).status_code == 401  # no login at all
        await victim.get("/auth/login")
        assert (await victim.get(back)).status_code == 401  # a login of its own, another state
        # With the state forged to its own login's, the code still belongs to the other's verifier and nonce.
        own = parse_qs(urlsplit((await victim.get("/auth/login")).headers["location"]).query)["state"][0]
        code = parse_qs(urlsplit(back).query)["code"][0]
        assert (await victim.get("/auth/callback", params={"code": code, "state": own})).status_code == 401
        assert "quelea" not in victim.cookies


async def test_an_id_token_of_another_login_or_client_is_refused(open_gateway, provider):
    _, client = open_gateway
    for changes in ({"nonce": "another"}, {"aud": "another"}, {"azp": "another"}, {"iss": "http://127.0.0.1:1"}):
        provider.id_token_changes = changes
        assert (await sign_in(client, accept="application/json")).status_code == 401, changes
    provider.id_token_changes = {}
    begun = await client.get("/auth/login")
    back = await consent(begun.headers["location"], "ann")
    mixed = await client.get(back + "&iss=https%3A%2F%2Fother.example.com")
    assert mixed.status_code == 401


@pytest.mark.parametrize("header", [{}, {"X-CSRF-Token": "guess"}, {"X-CSRF-Token": ""}])
async def test_a_cookie_alone_changes_nothing(open_gateway, header):
    _, client = open_gateway
    await sign_in(client)
    for method, path in (("POST", "/v1/search"), ("DELETE", "/v1/documents/x"), ("POST", "/auth/logout")):
        reply = await client.request(method, path, headers=header)
        assert reply.status_code == 403, path
        assert "X-CSRF-Token" in reply.json()["error"]["message"]
    assert (await client.get("/v1/jobs")).status_code == 200


async def test_a_page_elsewhere_may_not_ride_on_the_cookie_even_where_it_may_call(provider, tmp_path):
    async with gateway(provider, tmp_path, cors_origins=("https://desk.example.com",)) as (_, client):
        await sign_in(client)
        for origin, expected in (("https://desk.example.com", 401), ("https://evil.example.com", 403)):
            assert (await client.get("/v1/jobs", headers={"Origin": origin})).status_code == expected
        assert (await client.post("/mcp", json={})).status_code == 401  # the cookie is for the page's own routes
        assert (await client.get("/metrics")).status_code == 401


async def test_a_session_ends_when_it_is_not_used_and_in_any_case(provider, tmp_path):
    login = "session_seconds = 1000\nidle_seconds = 100"
    async with gateway(provider, tmp_path, login=login) as (stand, client):
        sessions = stand.gateway.access.sessions
        clock = [time.time()]
        sessions._now = sessions._store._now = lambda: clock[0]
        await sign_in(client)
        for _ in range(12):
            clock[0] += 80
            assert (await client.get("/v1/jobs")).status_code == 200
        clock[0] += 80
        assert (await client.get("/v1/jobs")).status_code == 401  # 1,040 s old
        await sign_in(client)
        clock[0] += 101
        assert (await client.get("/v1/jobs")).status_code == 401


async def test_signing_in_again_ends_the_old_session(open_gateway):
    _, client = open_gateway
    await sign_in(client)
    old = client.cookies["quelea"]
    await sign_in(client)
    assert client.cookies["quelea"] != old
    async with httpx2.AsyncClient(base_url=client.base_url, trust_env=False, timeout=60) as other:
        assert (await other.get("/v1/jobs", headers={"Cookie": f"quelea={old}"})).status_code == 401


async def test_without_the_file_there_is_no_login():
    async with standing() as stand, httpx2.AsyncClient(base_url=stand.url, trust_env=False, timeout=60) as client:
        assert (await client.get("/auth/session")).json() == {"login": False, "signed_in": False}
        assert (await client.get("/auth/login")).status_code == 404
