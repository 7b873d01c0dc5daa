"""The chart on a real cluster: install, look, ask, agent, restart under load, upgrade, roll back.

python tests/cluster/run.py --kubeconfig FILE [--values FILE …] [--namespace NAME] [--keep]

Every step has a deadline and, when it fails, says what was waited for and what the pods say. Helm is the library that
the chart's tests use; kubectl must be on the path. `make test-cluster` has the defaults.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from helm_python import Config, HelmContext, HelmError
from helm_python.chart import Chart

HERE = Path(__file__).parent
CHART = HERE.parents[1] / "deploy/helm/quelea"
OLDEST = (1, 30)
SANDBOX = {"services": {"sandbox": {"enabled": True}, "door": {"enabled": True}}}
ROLLED = ("embedder", "retriever", "search", "generator", "gateway")
FOREIGN = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "foreign"},
    "spec": {"containers": [{"name": "x", "image": "x"}]},
}
Object = dict[str, Any]
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class StepFailed(Exception):
    """What did not come, and what the cluster says of it."""


class Kubectl:
    """The program, for one cluster and namespace.

    Args:
        kubeconfig: Empty: as kubectl finds it.
        namespace: Of the release.
    """

    def __init__(self, kubeconfig: str, namespace: str) -> None:
        self._before = ["kubectl", *(["--kubeconfig", kubeconfig] if kubeconfig else []), "--namespace", namespace]

    def __call__(self, *words: str, stdin: str = "", seconds: float = 60.0) -> str:
        """Its output. Raises StepFailed with what it says."""
        command = [*self._before, *words]
        try:
            done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            raise StepFailed(f"kubectl {' '.join(words)}: no answer within {seconds:g} s") from None
        except OSError as error:
            raise StepFailed(f"kubectl does not run: {error}") from None
        if done.returncode:
            raise StepFailed(f"kubectl {' '.join(words[:3])}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def objects(self, *words: str) -> list[Object]:
        """What `get` finds."""
        found: Object = json.loads(self("get", *words, "-o", "json"))
        items: list[Object] = found.get("items", [found])
        return items


@dataclass
class Trial:
    """One release on one cluster.

    Args:
        helm: Of its namespace.
        kubectl: The same.
        values: What is installed.
        seconds: Longest wait for an installation, an upgrade or a roll-back.
    """

    helm: Any
    kubectl: Kubectl
    values: Object
    release: str = "quelea"
    namespace: str = "quelea-trial"
    seconds: float = 900.0
    rows: list[tuple[str, float, str]] = field(default_factory=list)
    _things: list[Object] = field(default_factory=list)

    @property
    def steps(self) -> dict[str, Callable[[], str]]:
        """In this order."""
        return {
            "reach": self.reach,
            "install": self.install,
            "look": self.look,
            "policy": self.policy,
            "ask": self.ask,
            "agent": self.agent,
            "restart": self.restart,
            "upgrade": self.upgrade,
            "roll back": self.roll_back,
            "ask again": self.ask,
        }

    def run(self) -> bool:
        """All steps, until one fails; whether none did."""
        for name, step in self.steps.items():
            say(f"== {name}")
            began = time.monotonic()
            try:
                said = step()
            except (StepFailed, HelmError) as error:
                self.rows.append((name, time.monotonic() - began, f"FAILED: {error}"))
                say(f"FAILED: {error}\n{self.why_not_ready()}")
                return False
            self.rows.append((name, time.monotonic() - began, said))
            say(f"   {said} ({self.rows[-1][1]:.0f} s)")
        return True

    def table(self) -> str:
        """The results, for docs."""
        head = ["| step | seconds | |", "|---|---|---|"]
        return "\n".join([*head, *(f"| {name} | {seconds:.0f} | {said} |" for name, seconds, said in self.rows)])

    def reach(self) -> str:
        """An API server that is new enough, a node that is ready, a class for volumes."""
        self.helm.check_reachable()
        version = json.loads(self.kubectl("version", "-o", "json"))["serverVersion"]
        number = (int(version["major"]), int("".join(filter(str.isdigit, version["minor"]))))
        if number < OLDEST:
            raise StepFailed(f"Kubernetes {number[0]}.{number[1]}: the chart wants {OLDEST[0]}.{OLDEST[1]} or later")
        nodes = [one for one in self.kubectl.objects("nodes") if condition(one, "Ready")]
        if not nodes:
            raise StepFailed("no node is ready: the pods would wait for ever")
        classes = self.kubectl.objects("storageclasses")
        default = "storageclass.kubernetes.io/is-default-class"
        if not [one for one in classes if one["metadata"].get("annotations", {}).get(default) == "true"]:
            raise StepFailed("no default StorageClass: the claims would wait for ever; make one the default")
        runtimes = sorted({one["status"]["nodeInfo"]["containerRuntimeVersion"] for one in nodes})
        return f"Kubernetes {number[0]}.{number[1]}, {len(nodes)} nodes ready, {', '.join(runtimes)}"

    def install(self) -> str:
        """Installed, and every pod ready; so the sandbox has started a container."""
        with self._cancelled_late() as context:
            self.helm.install(
                str(CHART),
                self.release,
                self.values,
                context=context,
                namespace=self.namespace,
                create_namespace=True,
                wait="watcher",
                timeout=int(self.seconds),
            )
        return "installed, --wait satisfied"

    def look(self) -> str:
        """Nothing restarted on the way, and what runs is ready."""
        pods = self.kubectl.objects("pods", "-l", f"app.kubernetes.io/instance={self.release}")
        bad = [line for one in pods for line in troubles(one)]
        if bad or not pods:
            raise StepFailed("; ".join(bad) or "there are no pods")
        return f"{len(pods)} pods, none restarted"

    def policy(self) -> str:
        """The API server has nothing against the policy's types, and lets no other pod into the sandbox's namespace."""
        name = self._rendered("ValidatingAdmissionPolicy")["metadata"]["name"]
        (there,) = self.kubectl.objects("validatingadmissionpolicy", name)
        warnings = there.get("status", {}).get("typeChecking", {}).get("expressionWarnings", [])
        if warnings:
            raise StepFailed(f"typeChecking warns: {json.dumps(warnings)}")
        if "observedGeneration" not in there.get("status", {}):
            raise StepFailed("the policy's types have not been checked yet; run again")
        try:
            self.kubectl("create", "--namespace", name, "--dry-run=server", "-f", "-", stdin=json.dumps(FOREIGN))
        except StepFailed as refused:
            if "only the sandbox makes pods here" in str(refused):
                return "no type warnings; a foreign pod is refused"
            raise StepFailed(f"a foreign pod is refused, but not by the policy: {refused}") from None
        raise StepFailed(f"a foreign pod may be made in {name}")

    def ask(self) -> str:
        """`helm test`: a document in, a question, its citation; the sandbox."""
        done = self.helm.test(self.release, timeout=300, logs=True)
        return f"helm test: {' · '.join(done.get('logs', '').split(chr(10)))[:300]}"

    def agent(self) -> str:
        """A session in a pod keeps its variables from step to step."""
        target = f"deployment/{self._name('gateway')}"
        script = (HERE / "session.py").read_text(encoding="utf-8")
        return self.kubectl(
            "exec", "-i", target, "-c", "gateway", "--", "python", "-", stdin=script, seconds=400
        ).strip()

    def restart(self) -> str:
        """The services, one after the other, while people ask."""

        def work() -> None:
            rolled = [name for name in ROLLED if name != "retriever" or not self._pauses]
            for name in rolled:
                self.kubectl("rollout", "restart", f"deployment/{self._name(name)}")
                self._rolled_out(name)

        return self._under_load(work)

    def upgrade(self) -> str:
        """Another log level: every pod is replaced."""

        def work() -> None:
            with self._cancelled_late() as context:
                self.helm.upgrade(
                    str(CHART),
                    self.release,
                    {**self.values, "logLevel": "debug"},
                    context=context,
                    namespace=self.namespace,
                    wait="watcher",
                    timeout=int(self.seconds),
                )

        return self._under_load(work)

    def roll_back(self) -> str:
        """To the first revision."""
        return self._under_load(
            lambda: self.helm.rollback(self.release, version=1, wait="watcher", timeout=int(self.seconds))
        )

    def why_not_ready(self) -> str:
        """Each pod that is not ready, with its own words."""
        lines: list[str] = []
        for space in (self.namespace, self._rendered("ResourceQuota")["metadata"]["namespace"]):
            try:
                pods = self.kubectl.objects("pods", "--namespace", space)
            except StepFailed as error:
                lines.append(str(error))
                continue
            for pod in pods:
                for line in troubles(pod):
                    lines.append(line)
                    with contextlib.suppress(StepFailed):
                        name = pod["metadata"]["name"]
                        said = self.kubectl("logs", "--namespace", space, name, "--tail", "5", "--all-containers")
                        lines += [f"    {one}" for one in said.splitlines()]
        return "\n".join(lines) or "every pod is ready"

    def remove(self) -> None:
        """The release; its claims stay, as the chart's do."""
        with contextlib.suppress(HelmError):
            self.helm.uninstall(self.release, wait="watcher", timeout=300)

    def _under_load(self, work: Callable[[], None]) -> str:
        """What it does to those who ask meanwhile. With one retriever on the embedded store a pause is promised."""
        pod = f"{self._name('test')}-load"
        self.kubectl("delete", "pod", pod, "--ignore-not-found", seconds=120)
        self.kubectl("apply", "-f", "-", stdin=json.dumps(self._load_pod(pod)))
        self.kubectl("wait", f"pod/{pod}", "--for=condition=Ready", "--timeout=120s", seconds=130)
        try:
            work()
            self.kubectl("exec", pod, "--", "python", "-c", "import os, signal; os.kill(1, signal.SIGTERM)")
            phase = "--for=jsonpath={.status.phase}=Succeeded"
            self.kubectl("wait", f"pod/{pod}", phase, "--timeout=120s", seconds=130)
            said: Object = json.loads(self.kubectl("logs", pod).splitlines()[-1])
        finally:
            with contextlib.suppress(StepFailed):
                self.kubectl("delete", "pod", pod, "--ignore-not-found", "--wait=false")
        if not said["answered"]:
            raise StepFailed(f"nobody was answered: {said}")
        if said["failed"] and not self._pauses:
            raise StepFailed(
                f"{said['failed']} of {said['answered'] + said['failed']} questions failed: {said['first']}"
            )
        return f"{said['answered']} questions answered, {said['failed']} failed" + (
            " (the embedded store pauses)" if said["failed"] else ""
        )

    @property
    def _pauses(self) -> bool:
        return bool(self.values.get("services", {}).get("retriever", {}).get("single"))

    def _load_pod(self, name: str) -> Object:
        """The pod of `helm test`'s question, with another program in it."""
        (pod,) = [one for one in self._all_rendered("Pod") if one["metadata"]["name"].endswith("-test-ask")]
        del pod["metadata"]["annotations"]
        pod["metadata"]["name"] = name
        (container,) = pod["spec"]["containers"]
        container["command"] = ["python", "-I", "-B", "-c", (HERE / "load.py").read_text(encoding="utf-8")]
        return pod

    def _rolled_out(self, name: str) -> None:
        words = ("rollout", "status", f"deployment/{self._name(name)}", f"--timeout={self.seconds:.0f}s")
        self.kubectl(*words, seconds=self.seconds + 30)

    def _name(self, component: str) -> str:
        (one,) = [
            thing
            for kind in ("Deployment", "StatefulSet", "ConfigMap")
            for thing in self._all_rendered(kind)
            if thing["metadata"]["name"].endswith(f"-{component}")
        ]
        return str(one["metadata"]["name"])

    def _rendered(self, kind: str) -> Object:
        (one,) = self._all_rendered(kind)
        return one

    def _all_rendered(self, kind: str) -> list[Object]:
        if not self._things:
            texts = Chart.load(str(CHART)).render(self.values, name=self.release, namespace=self.namespace)
            files = [text for path, text in texts.items() if path.endswith(".yaml")]
            self._things = [one for text in files for one in yaml.load_all(text, _LOADER) if one]  # a safe one
        return copy.deepcopy([one for one in self._things if one["kind"] == kind])

    @contextlib.contextmanager
    def _cancelled_late(self) -> Iterator[HelmContext]:
        """Helm has the time-out itself; this is for a Helm that hangs."""
        context = HelmContext()
        timer = threading.Timer(self.seconds + 60, context.cancel)
        timer.start()
        try:
            yield context
        finally:
            timer.cancel()
            context.close()


def condition(thing: Object, kind: str) -> bool:
    """Whether a condition of an object is true."""
    return any(one["type"] == kind and one["status"] == "True" for one in thing["status"].get("conditions", []))


def troubles(pod: Object) -> list[str]:
    """What is wrong with a pod, in the cluster's words; empty when it is ready, or has ended well."""
    name, status = pod["metadata"]["name"], pod.get("status", {})
    if status.get("phase") == "Succeeded":
        return []
    said = []
    for one in status.get("containerStatuses", []):
        waiting = one.get("state", {}).get("waiting")
        if waiting:
            said.append(f"{name}: {waiting['reason']} {waiting.get('message', '')}".strip())
        if one.get("restartCount"):
            last = one.get("lastState", {}).get("terminated", {})
            said.append(f"{name}: restarted {one['restartCount']} times, last {last.get('reason', 'unknown')}")
    if not condition({"status": status}, "Ready"):
        why = [c.get("message", "") for c in status.get("conditions", []) if c["status"] != "True" and c.get("message")]
        said.append(f"{name}: {status.get('phase', 'unknown')}, not ready: {'; '.join(why)}")
    return said


def say(text: str) -> None:
    """To whoever waits."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def merged(into: Object, more: Object) -> Object:
    """As `helm -f a -f b`."""
    done = dict(into)
    for key, value in more.items():
        both = isinstance(value, dict) and isinstance(done.get(key), dict)
        done[key] = merged(done[key], value) if both else value
    return done


def main() -> int:
    """0 when every step went well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubeconfig", default="")
    parser.add_argument("--values", action="append", default=[], help="a file; several as with helm -f")
    parser.add_argument("--namespace", default="quelea-trial")
    parser.add_argument("--seconds", type=float, default=900.0, help="longest installation or upgrade")
    parser.add_argument("--keep", action="store_true", help="leave the release where it is")
    options = parser.parse_args()
    values: Object = {}
    for file in options.values:
        values = merged(values, yaml.safe_load(Path(file).read_text(encoding="utf-8")) or {})
    helm = Config(kubeconfig_path=options.kubeconfig or None, namespace=options.namespace)
    kubectl = Kubectl(options.kubeconfig, options.namespace)
    trial = Trial(helm, kubectl, merged(values, SANDBOX), namespace=options.namespace, seconds=options.seconds)
    try:
        well = trial.run()
    finally:
        if not options.keep:
            trial.remove()
    say(f"\n{trial.table()}")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
