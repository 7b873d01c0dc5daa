"""TLS between services as the chart sets it up: certificates that work, names that fit, callers from the arrows."""

from __future__ import annotations

import base64
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from helm_python.errors import HelmError
from quelea_kit import tls
from quelea_kit.server import Server
from quelea_kit.settings import ServiceSettings
from support.chart_render import (
    CHART,
    LONG_NAME,
    MATRIX,
    SERVICES,
    Object,
    component,
    merged,
    named,
    notes,
    of_kind,
    render,
    variables,
    workloads,
)

MODES = ("generated", "cert-manager", "provided")
_EVERYTHING = MATRIX["everything on"]
_FOLDER = "/etc/quelea/tls"
_STORES = ("redis", "qdrant")


def on(mode: str, *, stores: bool = True, values: Object = _EVERYTHING) -> Object:
    return merged(values, {"tls": {"mode": mode, "stores": stores}})


def secrets(things: list[Object]) -> dict[str, Object]:
    """Component -> Secret with its certificate, the CA's own left out."""
    found = {component(t): t for t in of_kind(things, "Secret") if "-tls-" in t["metadata"]["name"]}
    found.pop("tls-ca", None)
    return found


def main(thing: Object) -> Object:
    return next(c for c in thing["spec"]["template"]["spec"]["containers"] if c["name"] == component(thing))


def written(secret: Object, folder: Path) -> Path:
    """As a kubelet mounts it."""
    folder.mkdir()
    for name, value in secret["data"].items():
        (folder / name).write_bytes(base64.b64decode(value))
    return folder


def dns_names(secret: Object) -> list[str]:
    certificate = x509.load_pem_x509_certificate(base64.b64decode(secret["data"]["tls.crt"]))
    return certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value.get_values_for_type(
        x509.DNSName
    )


def asked_names(things: list[Object]) -> dict[str, list[str]]:
    """Component -> DNS names of its certificate, whoever makes it."""
    made = {name: dns_names(secret) for name, secret in secrets(things).items()}
    asked = {component(t): t["spec"]["dnsNames"] for t in of_kind(things, "Certificate") if "dnsNames" in t["spec"]}
    return made or asked


def test_generated_certificates_are_good_for_both_ends(tmp_path: Path) -> None:
    """The kit's own check: the key fits, the CA signed it, it may be server and client, it has not expired."""
    found = secrets(render(on("generated")))
    assert set(found) == {*SERVICES} - {"engine"}
    for name, secret in found.items():
        folder = tls.Folder(written(secret, tmp_path / name))
        assert folder.current().expires > 0
        folder.check()
    assert len({secret["data"]["ca.crt"] for secret in found.values()}) == 1
    assert len({secret["data"]["tls.key"] for secret in found.values()}) == len(found)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("release", ["demo", LONG_NAME])
def test_every_pod_with_a_certificate_finds_its_own(mode: str, release: str) -> None:
    things = render(on(mode), release)
    there = {t["metadata"]["name"] for t in of_kind(things, "Secret")}
    there |= {t["spec"]["secretName"] for t in of_kind(things, "Certificate")}
    for thing in workloads(things):
        what, pod = component(thing), thing["spec"]["template"]["spec"]
        volumes = [v for v in pod["volumes"] if v["name"] == "tls"]
        if what == "engine":
            assert not volumes
            continue
        assert volumes[0]["secret"]["secretName"].endswith(f"-tls-{what}")
        assert mode == "provided" or volumes[0]["secret"]["secretName"] in there
        mounts = {m["name"]: m for m in main(thing)["volumeMounts"]}
        assert (mounts["tls"]["mountPath"], mounts["tls"]["readOnly"]) == (_FOLDER, True)
        told = variables(main(thing))
        assert (told.get("QUELEA_TLS_DIR") == _FOLDER) is (what not in _STORES)
    # The CA's key is in no pod, and no pod has another's.
    used = [
        v["secret"]["secretName"]
        for t in workloads(things)
        for v in t["spec"]["template"]["spec"]["volumes"]
        if "secret" in v and "-tls-" in v["secret"]["secretName"]
    ]
    assert len(used) == len(set(used))
    assert not any(name.endswith("-tls-ca") for name in used)


@pytest.mark.parametrize("mode", ["generated", "cert-manager"])
def test_every_host_that_is_called_is_in_the_certificate_of_who_is_called(mode: str) -> None:
    things = render(on(mode))
    names = asked_names(things)
    hosts = {host: what for what, all_of_it in names.items() for host in all_of_it if host != "localhost"}
    calls = 0
    for thing in workloads(things):
        for variable, value in variables(main(thing)).items():
            for host in re.findall(r"(demo-quelea-[a-z0-9.-]+):\d+", value):
                if "engine" in host or variable == "QUELEA_SANDBOX_MARKET_URL":
                    continue  # these speak no TLS, and the chart's README says so
                assert host in hosts, f"{component(thing)}: {variable}"
                calls += 1
    assert calls > 10
    peers = asked_names(render(on(mode, values=merged(_EVERYTHING, {"services": {"qdrant": {"replicas": 3}}}))))
    assert {f"demo-quelea-qdrant-{number}.demo-quelea-qdrant" for number in range(3)} < set(peers["qdrant"])


def test_callers_are_those_of_the_table_of_arrows() -> None:
    things = render(on("generated"))
    names = asked_names(things)
    arrows = {
        "embedder": {"retriever"},
        "retriever": {"gateway", "search", "worker"},
        "search": {"gateway"},
        "generator": {"gateway"},
        "sandbox": {"gateway"},
        "door": {"gateway", "search", "worker"},
    }
    found = {}
    for thing in workloads(things):
        told = variables(main(thing))
        listed = [json.loads(value) for name, value in told.items() if name.endswith("_ALLOWED_CALLERS")]
        if listed:
            known = {what for what, mine in names.items() if set(mine) & set(listed[0])}
            assert len(known) == len(listed[0])
            found[component(thing)] = known
    assert found == arrows


def test_a_caller_that_is_off_is_not_listed_and_nobody_is_not_everybody() -> None:
    values = {"services": {"worker": {"enabled": False}}, "networkPolicy": {"arrows": {"gateway": ["retriever:grpc"]}}}
    things = render(on("generated", values=values))
    told = variables(main(named(things, "Deployment", "retriever")))
    assert "worker" not in told["QUELEA_RETRIEVER_ALLOWED_CALLERS"]
    alone = variables(main(named(things, "Deployment", "generator")))["QUELEA_GENERATOR_ALLOWED_CALLERS"]
    assert json.loads(alone) == ["demo-quelea-generator.finance.svc.cluster.local"]


async def test_probes_ask_where_no_tls_is_spoken(tmp_path: Path) -> None:
    things = render(on("generated"))
    for thing in workloads(things):
        container = main(thing)
        prefix = next((n for n in variables(container) if n.endswith("_HEALTH_LISTEN")), "")
        asked = {
            kind: container[kind]["grpc"]["port"]
            for kind in ("readinessProbe", "livenessProbe")
            if "grpc" in container[kind]
        }
        if prefix:
            port = int(variables(container)[prefix].rsplit(":", 1)[1])
            assert asked == {"readinessProbe": port, "livenessProbe": port}
            assert {"name": "health", "containerPort": port, "protocol": "TCP"} in container["ports"]
        else:
            assert not asked
    # The settings that the chart writes make such a server.
    secret = secrets(things)["retriever"]
    told = variables(main(named(things, "Deployment", "retriever")))
    settings = ServiceSettings(
        allowed_callers=tuple(json.loads(told["QUELEA_RETRIEVER_ALLOWED_CALLERS"])), health_listen="127.0.0.1:0"
    )
    server = Server(settings, ["x"], lambda _: None, tls=tls.Folder(written(secret, tmp_path / "one")))
    assert server.port != server.health_port != 0


def test_the_health_port_is_in_no_service_and_no_policy() -> None:
    for thing in of_kind(render(on("generated")), "Service", "NetworkPolicy"):
        assert "9101" not in json.dumps(thing)


@pytest.mark.parametrize("mode", MODES)
def test_stores_speak_tls_only_when_asked(mode: str) -> None:
    for stores in (True, False):
        things = render(on(mode, stores=stores))
        redis_conf = next(t for t in of_kind(things, "ConfigMap") if component(t) == "redis")["data"]["redis.conf"]
        search = variables(main(named(things, "Deployment", "search")))["QUELEA_SEARCH_REDIS_URL"]
        retriever = variables(main(named(things, "Deployment", "retriever")))
        qdrant = main(named(things, "StatefulSet", "qdrant"))
        assert ("\nport 0\ntls-port 6379\n" in redis_conf) is stores
        assert retriever["QUELEA_RETRIEVER_QDRANT_URL"].startswith("https://" if stores else "http://")
        assert retriever.get("QUELEA_RETRIEVER_QDRANT_CA", "") == (f"{_FOLDER}/ca.crt" if stores else "")
        assert qdrant["readinessProbe"]["httpGet"]["scheme"] == ("HTTPS" if stores else "HTTP")
        assert (variables(qdrant).get("QDRANT__CLUSTER__P2P__ENABLE_TLS") == "true") is stores
        assert search.startswith("rediss://" if stores else "redis://")
        assert (f"ssl_certfile={_FOLDER}/tls.crt" in search) is stores


@pytest.mark.parametrize("release", ["demo", LONG_NAME])
def test_cert_manager_is_asked_for_what_the_kit_needs(release: str) -> None:
    things = render(on("cert-manager"), release)
    ours = [t for t in of_kind(things, "Certificate") if not t["spec"].get("isCA")]
    assert {component(t) for t in ours} == {*SERVICES} - {"engine"}
    for thing in ours:
        assert {"server auth", "client auth"} <= set(thing["spec"]["usages"])
        assert all(len(name) <= 253 for name in thing["spec"]["dnsNames"])
        (issuer,) = [
            t for t in of_kind(things, "Issuer") if t["metadata"]["name"] == thing["spec"]["issuerRef"]["name"]
        ]
        (ca,) = [t for t in of_kind(things, "Certificate") if t["spec"].get("isCA")]
        assert issuer["spec"]["ca"]["secretName"] == ca["spec"]["secretName"]
    given = {"tls": {"issuer": {"name": "company", "kind": "ClusterIssuer"}}}
    things = render(merged(on("cert-manager"), given))
    assert not of_kind(things, "Issuer")
    wanted = {"name": "company", "kind": "ClusterIssuer", "group": "cert-manager.io"}
    assert [t["spec"]["issuerRef"] for t in of_kind(things, "Certificate")] == [wanted] * len(ours)


def test_provided_secrets_are_named_by_their_prefix() -> None:
    things = render(merged(on("provided"), {"tls": {"secretPrefix": "corp-"}}))
    assert not secrets(things)
    volumes = [v for t in workloads(things) for v in t["spec"]["template"]["spec"]["volumes"] if v["name"] == "tls"]
    assert {v["secret"]["secretName"] for v in volumes} == {f"corp-{name}" for name in SERVICES if name != "engine"}


def test_none_leaves_no_trace() -> None:
    text = json.dumps(render(on("none")))
    assert not [word for word in ("QUELEA_TLS_DIR", "ALLOWED_CALLERS", "9101") if word in text]


def test_the_schema_knows_the_modes() -> None:
    for wrong in ({"mode": "self-signed"}, {"days": 0}, {"duration": "90d"}, {"issuers": {}}):
        with pytest.raises(HelmError):
            render({"tls": wrong})


def test_the_notes_tell_what_is_encrypted() -> None:
    assert "there is no TLS" in notes({"tls": {"mode": "none"}})
    assert "mutual TLS" in notes({"tls": {"mode": "generated"}})
    assert "there is no TLS" not in notes({"tls": {"mode": "generated"}})


@pytest.fixture
def upgraded(tmp_path: Path) -> Any:
    """Renders the chart on a cluster that has these Secrets: `lookup` finds them in files, as Helm's finds objects."""

    def again(values: Object, there: list[Object]) -> list[Object]:
        copy = tmp_path / f"chart-{len(list(tmp_path.iterdir()))}"
        shutil.copytree(CHART, copy)
        (copy / "there").mkdir()
        for thing in there:
            (copy / "there" / f"{thing['metadata']['name']}.json").write_text(json.dumps(thing))
        for template in (copy / "templates").glob("*.yaml"):
            text = template.read_text(encoding="utf-8")
            looked = r'lookup "v1" "Secret" \$?\.Release\.Namespace (\$\w+)'
            found = r'printf "there/%s.json" \1 | $.Files.Get | default "{}" | fromJson'
            template.write_text(re.sub(looked, f"({found})", text), encoding="utf-8")
        return render(values, folder=copy)

    return again


def test_an_upgrade_keeps_what_was_generated_and_makes_what_is_new(upgraded: Any, tmp_path: Path) -> None:
    small = {"tls": {"mode": "generated", "stores": True}}
    first = upgraded(small, [])
    there = of_kind(first, "Secret")
    again = upgraded(small, there)
    assert {n: s["data"] for n, s in secrets(again).items()} == {n: s["data"] for n, s in secrets(first).items()}
    # One more service, and one more Qdrant with a name of its own: signed by the CA that is there.
    larger = merged(
        small, {"web": {"enabled": True}, "services": {"beat": {"enabled": True}, "qdrant": {"replicas": 2}}}
    )
    grown = secrets(upgraded(larger, there))
    assert set(grown) == {*secrets(first), "beat"}
    assert grown["gateway"]["data"] == secrets(first)["gateway"]["data"]
    assert grown["qdrant"]["data"]["tls.crt"] != secrets(first)["qdrant"]["data"]["tls.crt"]
    assert "demo-quelea-qdrant-1.demo-quelea-qdrant" in dns_names(grown["qdrant"])
    for name in ("beat", "qdrant"):
        assert grown[name]["data"]["ca.crt"] == secrets(first)["gateway"]["data"]["ca.crt"]
        tls.Folder(written(grown[name], tmp_path / name)).check()
