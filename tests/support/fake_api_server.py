"""An API server for Helm: it keeps objects of every kind and says that what runs is ready. Nothing runs.

It shows what Helm asks for and in which order, that references of a release are found, upgrades and roll-backs; that
pods start is for a real node. Validation is that of the schemas alone.
"""

from __future__ import annotations

import copy
import http.server
import json
import re
import threading
import time
import urllib.parse
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import yaml
from quelea_kit.testing import free_port

Object = dict[str, Any]
VERSION = "1.36"
_KINDS: dict[str, dict[str, str]] = {
    "v1": {
        "Namespace": "namespaces",
        "Secret": "secrets",
        "ConfigMap": "configmaps",
        "Service": "services",
        "ServiceAccount": "serviceaccounts",
        "PersistentVolumeClaim": "persistentvolumeclaims",
        "Pod": "pods",
        "ResourceQuota": "resourcequotas",
        "LimitRange": "limitranges",
        "Node": "nodes",
        "Event": "events",
    },
    "apps/v1": {"Deployment": "deployments", "StatefulSet": "statefulsets", "ReplicaSet": "replicasets"},
    "batch/v1": {"Job": "jobs", "CronJob": "cronjobs"},
    "policy/v1": {"PodDisruptionBudget": "poddisruptionbudgets"},
    "networking.k8s.io/v1": {"NetworkPolicy": "networkpolicies", "Ingress": "ingresses"},
    "rbac.authorization.k8s.io/v1": {"Role": "roles", "RoleBinding": "rolebindings"},
    "storage.k8s.io/v1": {"StorageClass": "storageclasses"},
    "admissionregistration.k8s.io/v1": {
        "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
        "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
    },
}
_WHOLE_CLUSTER = {
    "Namespace",
    "Node",
    "StorageClass",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
}
_PATH = re.compile(r"/(?:api/(?P<core>v1)|apis/(?P<group>[^/]+/[^/]+))(?:/namespaces/(?P<space>[^/]+))?/(?P<rest>.+)")


class FakeApiServer:
    """Objects by kind, namespace and name; start it, and stop it."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str], Object] = {}
        self.asked: list[str] = []
        self.problems: list[str] = []
        """What a real one would have refused."""

        self.stuck: set[str] = set()
        """Names of workloads that never get ready."""

        self.port = free_port()
        self._lock = threading.Condition()
        self._version = 100
        self._log: list[tuple[int, str, Object]] = []
        self._closing = False
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), _handler(self))
        self._server.daemon_threads = True

    @property
    def kubeconfig(self) -> str:
        """The text of a file that leads here."""
        cluster = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.port}"}}
        context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
        user = {"name": "u", "user": {"token": "t"}}
        return json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "c",
                "contexts": [context],
                "clusters": [cluster],
                "users": [user],
            }
        )

    def start(self) -> None:
        """Listen."""
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """No more."""
        with self._lock:
            self._closing = True
            self._lock.notify_all()
        self._server.shutdown()
        self._server.server_close()

    def of_kind(self, kind: str, namespace: str = "") -> list[Object]:
        """Those that there are."""
        with self._lock:
            found = [
                one for (of, space, _), one in sorted(self.objects.items()) if of == kind and namespace in ("", space)
            ]
            return copy.deepcopy(found)

    def put(self, thing: Object, namespace: str = "") -> Object:
        """Made or replaced."""
        kind, name = thing["kind"], thing["metadata"]["name"]
        with self._lock:
            key = (kind, "" if kind in _WHOLE_CLUSTER else namespace, name)
            before = self.objects.get(key)
            self._version += 1
            made = _with_status(thing, stuck=name in self.stuck)
            generation = int(before["metadata"].get("generation", 1)) if before else 0
            if not before or before.get("spec") != made.get("spec"):
                generation += 1
            made["metadata"] |= {"resourceVersion": str(self._version), "generation": generation}
            made["metadata"].setdefault("uid", f"uid-{self._version}")
            made["metadata"].setdefault("creationTimestamp", "2026-01-01T00:00:00Z")
            if key[1]:
                made["metadata"]["namespace"] = namespace
            if "observedGeneration" in made.get("status", {}):
                made["status"]["observedGeneration"] = generation
            self.objects[key] = made
            self._log.append((self._version, "MODIFIED" if before else "ADDED", made))
            self._lock.notify_all()
            return copy.deepcopy(made)

    def remove(self, key: tuple[str, str, str]) -> Object:
        """Gone at once."""
        with self._lock:
            gone = self.objects.pop(key)
            self._version += 1
            gone["metadata"]["resourceVersion"] = str(self._version)
            self._log.append((self._version, "DELETED", gone))
            self._lock.notify_all()
            return gone

    def events(self, kind: str, namespace: str, after: int, seconds: float) -> Iterator[tuple[str, Object]]:
        """Changes after a version, until the time is over."""
        end = time.monotonic() + seconds
        while True:
            with self._lock:
                new = [
                    (version, how, one)
                    for version, how, one in self._log
                    if version > after
                    and one["kind"] == kind
                    and one["metadata"].get("namespace", "") in ("", namespace)
                ]
                if not new and not self._closing:
                    self._lock.wait(min(1.0, max(0.0, end - time.monotonic())))
            for version, how, one in new:
                after = version
                yield how, one
            if self._closing or time.monotonic() >= end:
                return

    def answer(self, method: str, path: str, query: dict[str, str], body: bytes) -> tuple[int, Object]:
        """One request that is no watch."""
        self.asked.append(f"{method} {path}")
        if found := _discovery(path):
            return 200, found
        place = _PATH.fullmatch(path)
        if not place:
            return _status(404, "NotFound", f"no such path: {path}")
        version = place["core"] or place["group"]
        parts = place["rest"].split("/")
        space = place["space"] or ""
        kind = next((k for k, plural in _KINDS.get(version, {}).items() if plural == parts[0]), "")
        if not kind:
            return _status(404, "NotFound", f"the server could not find {version} {parts[0]}")
        if len(parts) == 1:
            return self._collection(method, version, kind, space, query, body)
        return self._one(method, version, (kind, "" if kind in _WHOLE_CLUSTER else space, parts[1]), query, body)

    def _collection(
        self, method: str, version: str, kind: str, space: str, query: dict[str, str], body: bytes
    ) -> tuple[int, Object]:
        if method == "POST":
            thing = yaml.safe_load(body)
            key = (kind, "" if kind in _WHOLE_CLUSTER else space, thing["metadata"]["name"])
            if key in self.objects:
                return _status(409, "AlreadyExists", f"{kind} {key[2]} already exists")
            return self._keep(thing, space, query)
        if method != "GET":
            return _status(405, "MethodNotAllowed", method)
        wanted = dict(one.split("=", 1) for one in query.get("labelSelector", "").split(",") if "=" in one)
        name = query.get("fieldSelector", "").removeprefix("metadata.name=")
        items = [
            one
            for one in self.of_kind(kind, space)
            if wanted.items() <= one["metadata"].get("labels", {}).items() and name in ("", one["metadata"]["name"])
        ]
        listed = {"kind": f"{kind}List", "apiVersion": version, "metadata": {"resourceVersion": str(self._version)}}
        return 200, {**listed, "items": items}

    def _one(
        self, method: str, version: str, key: tuple[str, str, str], query: dict[str, str], body: bytes
    ) -> tuple[int, Object]:
        there = self.objects.get(key)
        if (method == "PATCH" and query.get("fieldManager") and "force" in query) or (method == "PATCH" and not there):
            return self._keep(yaml.safe_load(body), key[1], query)  # server-side apply
        if not there:
            return _status(404, "NotFound", f'{key[0]} "{key[2]}" not found')
        if method == "GET":
            return 200, copy.deepcopy(there)
        if method == "DELETE":
            return 200, self.remove(key)
        if method in ("PUT", "PATCH"):
            given = yaml.safe_load(body)
            return self._keep(given if method == "PUT" else _merged(there, given), key[1], query)
        return _status(405, "MethodNotAllowed", method)

    def _keep(self, thing: Object, space: str, query: dict[str, str]) -> tuple[int, Object]:
        try:
            kubernetes_validate.validate({k: v for k, v in thing.items() if k != "status"}, VERSION, strict=True)
        except kubernetes_validate.ValidationError as error:
            self.problems.append(str(error))
            return _status(422, "Invalid", str(error))
        if space and not self.objects.get(("Namespace", "", space)):
            return _status(404, "NotFound", f'namespaces "{space}" not found')
        if query.get("dryRun"):
            return 200, thing
        return 201, self.put(thing, space)


def _status(code: int, reason: str, message: str) -> tuple[int, Object]:
    said = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return code, {**said, "message": message, "reason": reason, "code": code}


def _merged(into: Object, more: Object) -> Object:
    done = copy.deepcopy(into)
    for key, value in more.items():
        if value is None:
            done.pop(key, None)
        elif isinstance(value, dict) and isinstance(done.get(key), dict):
            done[key] = _merged(done[key], value)
        else:
            done[key] = value
    return done


def _discovery(path: str) -> Object | None:
    groups = sorted({version.split("/")[0] for version in _KINDS if "/" in version})
    if path == "/version":
        return {"major": "1", "minor": VERSION.split(".")[1], "gitVersion": f"v{VERSION}.0", "platform": "linux/amd64"}
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        versions = {name: {"groupVersion": f"{name}/v1", "version": "v1"} for name in groups}
        each = [{"name": name, "versions": [one], "preferredVersion": one} for name, one in versions.items()]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": each}
    version = path.removeprefix("/apis/").removeprefix("/api/")
    if path in ("/api/v1", f"/apis/{version}") and version in _KINDS:
        verbs = ["create", "delete", "get", "list", "patch", "update", "watch"]
        resources = [
            {
                "name": plural,
                "singularName": kind.lower(),
                "namespaced": kind not in _WHOLE_CLUSTER,
                "kind": kind,
                "verbs": verbs,
            }
            for kind, plural in _KINDS[version].items()
        ]
        return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": resources}
    return None


def _with_status(thing: Object, *, stuck: bool) -> Object:
    """As controllers leave it that find a node for everything."""
    made = copy.deepcopy(thing)
    number = 0 if stuck else made.get("spec", {}).get("replicas", 1)
    ready = {"type": "Ready", "status": "True"}
    counted = dict.fromkeys(("replicas", "readyReplicas", "availableReplicas", "updatedReplicas"), number)
    available = {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}
    progressing = {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}
    revision = {"currentRevision": "r", "updateRevision": "r", "currentReplicas": number, "observedGeneration": 1}
    match made["kind"]:
        case "Deployment":
            made["status"] = {
                **counted,
                "observedGeneration": 1,
                "conditions": [] if stuck else [available, progressing],
            }
        case "StatefulSet":
            made["status"] = {**counted, **revision}
        case "PersistentVolumeClaim":
            made["status"] = {"phase": "Bound"}
        case "Pod":
            made["status"] = {"phase": "Succeeded", "conditions": [ready]}
        case "Job":
            done = {"type": "Complete", "status": "True"}
            made["status"] = {"succeeded": 1, "startTime": "2026-01-01T00:00:00Z", "conditions": [done]}
        case "PodDisruptionBudget":
            made["status"] = {"observedGeneration": 1}
        case "Namespace":
            made["status"] = {"phase": "Active"}
        case "ValidatingAdmissionPolicy":
            made["status"] = {"observedGeneration": 1, "typeChecking": {}}
    return made


def _handler(server: FakeApiServer) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # head and body are two packets: the second would wait for an ACK

        def _answer(self) -> None:
            url = urllib.parse.urlsplit(self.path)
            query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if query.get("watch") in ("true", "1"):
                self._watch(url.path, query)
                return
            if re.fullmatch(r"/.*/pods/[^/]+/log", url.path):
                self._say(200, b"nothing runs here\n", "text/plain")
                return
            if url.path == "/openapi/v2":  # an empty document: it knows no type, so the client validates none
                self._say(200, b"", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf")
                return
            code, said = server.answer(self.command, url.path, query, body)
            self._say(code, json.dumps(said).encode(), "application/json")

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815  # the library's names

        def _say(self, code: int, data: bytes, kind: str) -> None:
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _watch(self, path: str, query: dict[str, str]) -> None:
            place = _PATH.fullmatch(path)
            assert place
            kinds = _KINDS[place["core"] or place["group"]]
            kind = next(k for k, plural in kinds.items() if plural == place["rest"])
            if "sendInitialEvents" in query:  # older than that, so the client lists first
                code, said = _status(422, "Invalid", "sendInitialEvents is forbidden for watch")
                self._say(code, json.dumps(said).encode(), "application/json")
                return
            self.close_connection = True
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Connection", "close")
            self.end_headers()
            after, seconds = int(query.get("resourceVersion") or 0), float(query.get("timeoutSeconds") or 300)
            name = query.get("fieldSelector", "").removeprefix("metadata.name=")
            try:
                for how, one in server.events(kind, place["space"] or "", after, seconds):
                    if name in ("", one["metadata"]["name"]):
                        self.wfile.write(json.dumps({"type": how, "object": one}).encode() + b"\n")
                        self.wfile.flush()
            except OSError:
                return

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    return Handler
