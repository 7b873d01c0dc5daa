"""values.yaml, its schema, its comments and the README's table say the same; what cannot work is refused in words."""

from __future__ import annotations

import importlib.util
import json
import re
from typing import Any

import jsonschema
import pytest
import yaml
from helm_python.errors import HelmError
from support.chart_render import CHART, MATRIX, Object, chart, file, merged, render

VALUES: Object = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
SCHEMA: Object = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
_FREE = set(
    """commonLabels annotations labels namespaceLabels podLabels arrows env rawEnv secretEnv
    ports nodeSelector serviceAnnotations podAnnotations requests limits volumes""".split()
)


def _table() -> Any:
    spec = importlib.util.spec_from_file_location("values_table", CHART.parent / "values_table.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _resolve(schema: Object) -> Object:
    return SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema


def test_the_schema_is_one_and_takes_the_values() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(VALUES)


@pytest.mark.parametrize("case", MATRIX)
def test_helm_and_jsonschema_take_every_case(case: str) -> None:
    chart().validate_schema(MATRIX[case])
    jsonschema.Draft202012Validator(SCHEMA).validate(merged(VALUES, MATRIX[case]))


def test_every_object_of_the_schema_is_closed() -> None:
    def walk(schema: Any, path: str) -> None:
        if isinstance(schema, dict):
            if schema.get("type") == "object":
                assert "additionalProperties" in schema, path
                if "properties" in schema:
                    assert schema["additionalProperties"] is False, path
                assert schema["additionalProperties"] is not True, path
            elif "properties" in schema:
                raise AssertionError(f"{path} has properties and no type")
            for key, value in schema.items():
                walk(value, f"{path}/{key}")
        elif isinstance(schema, list):
            for value in schema:
                walk(value, path)

    walk(SCHEMA, "")


def test_schema_and_values_have_the_same_keys() -> None:
    def compare(schema: Object, values: Object, path: str) -> None:
        schema = _resolve(schema)
        known = schema.get("properties")
        if known is None:
            return
        if path.startswith("services."):
            assert values.keys() <= known.keys(), path
        else:
            assert values.keys() == known.keys(), path
        for key, value in values.items():
            if isinstance(value, dict) and value and key not in _FREE:
                compare(known[key], value, f"{path}.{key}".lstrip("."))

    top = SCHEMA["properties"]
    assert VALUES.keys() == top.keys()
    for key, value in VALUES.items():
        if key == "services":
            (entry,) = top["services"]["patternProperties"].values()
            for name, own in value.items():
                compare(entry, own, f"services.{name}")
        elif isinstance(value, dict) and key not in _FREE:
            compare(top[key], value, key)


def test_every_key_has_a_comment() -> None:
    table = _table()
    found = table.comments((CHART / "values.yaml").read_text(encoding="utf-8"))
    bare = [path for path, comment in found.items() if len(comment) < 5 and not table.FREE.match(path)]
    assert bare == []
    for path in found:
        table.value_at(VALUES, path)  # the comments are of keys that there are
    top = {path for path in found if "." not in path}
    assert top == VALUES.keys()


def test_the_table_of_the_readme_is_fresh() -> None:
    table = _table()
    readme = (CHART / "README.md").read_text(encoding="utf-8")
    made = table.table((CHART / "values.yaml").read_text(encoding="utf-8"))
    assert made in readme, "run `make chart`"
    assert "| `services.gateway` |" in made
    assert '| `serviceDefaults.autoscaling.engine` | `"none"` |' in made


def test_the_readme_knows_every_values_file_and_version() -> None:
    readme = (CHART / "README.md").read_text(encoding="utf-8")
    for path in CHART.glob("values-*.yaml"):
        assert path.name in readme
        assert path.read_text(encoding="utf-8").startswith("#")
    source = (CHART.parents[2] / "tests/chart/test_chart_schemas.py").read_text(encoding="utf-8")
    for version in re.findall(r"\"(1\.\d+)\"", source):
        assert version in readme


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"servces": {}}, "servces"),
        ({"image": {"tga": "1"}}, "tga"),
        ({"services": {"gateway": {"replica": 2}}}, "replica"),
        ({"services": {"gateway": {"replicas": "2"}}}, "replicas"),
        ({"services": {"gateway": {"replicas": -1}}}, "replicas"),
        ({"services": {"Gate_way": {"module": "x"}}}, "Gate_way"),
        ({"services": {"gateway": {"env": {"K": 20}}}}, "env"),
        ({"services": {"gateway": {"env": {"k": "20"}}}}, "'k' does not match"),
        ({"services": {"gateway": {"kind": "DaemonSet"}}}, "kind"),
        ({"services": {"gateway": {"runAsUser": 0}}}, "runAsUser"),
        ({"services": {"gateway": {"ports": {"http": 70000}}}}, "http"),
        ({"services": {"gateway": {"autoscaling": {"engine": "vpa"}}}}, "engine"),
        ({"services": {"gateway": {"resources": {"requests": {"cpu": "lots"}}}}}, "cpu"),
        ({"services": {"rates": {"probes": {"readiness": {"periodSeconds": 5}}}}}, "readiness"),
        ({"services": {"gateway": {"volumes": {"tmp": {"mountPath": "/x", "size": "1Gi"}}}}}, "tmp"),
        ({"services": {"gateway": {"image": {"digest": "sha256:1"}}}}, "digest"),
        ({"logLevel": "loud"}, "logLevel"),
        ({"disk": {"minFreeBytes": "1GB"}}, "minFreeBytes"),
        ({"disk": {"minFreeShare": "1.5"}}, "minFreeShare"),
        ({"monitoring": {"volumeWarnShare": 2}}, "volumeWarnShare"),
        ({"qdrant": {"quantization": "int4"}}, "quantization"),
        ({"blobs": {"accessModes": ["ReadWriteSometimes"]}}, "accessModes"),
        ({"networkPolicy": {"arrows": {"gateway": ["retriever"]}}}, "arrows"),
        ({"networkPolicy": {"world": {"except": ["10.0.0.0"]}}}, "except"),
        ({"fullnameOverride": "Upper"}, "fullnameOverride"),
    ],
)
def test_the_schema_refuses(values: Object, says: str) -> None:
    with pytest.raises(HelmError, match=says):
        chart().validate_schema(values)
    with pytest.raises(HelmError, match=says):
        render(values)


def _off(*names: str) -> Object:
    return {"services": {name: {"enabled": False} for name in names}}


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"services": {"redis": {"replicas": 2}}}, "services.redis is one process"),
        ({"services": {"qdrant": {"single": True, "replicas": 3}}}, "services.qdrant is one process"),
        ({"services": {"qdrant": {"autoscaling": {"engine": "hpa"}}}}, "services.qdrant keeps data in its pods"),
        ({"services": {"gateway": {"autoscaling": {"engine": "hpa", "min": 5}}}}, "max is below min"),
        ({"services": {"gateway": {"autoscaling": {"engine": "hpa", "min": 0}}}}, "only keda scales to 0"),
        ({"services": {"gateway": {"autoscaling": {"engine": "hpa", "cpu": 0}}}}, "nothing to go by"),
        ({"services": {"gateway": {"autoscaling": {"engine": "keda"}}}}, "monitoring.enabled"),
        ({"services": {"beat": {"enabled": True}}}, "web.enabled"),
        (
            {"services": {"sandbox": {"enabled": True}}, "sandboxPods": {"namespace": "finance"}},
            "another than the release's",
        ),
        ({"services": {"engine": {"enabled": True}}}, "reader.model"),
        ({"reader": {"endpoint": "http://x/v1"}}, "reader.model"),
        (merged(file("values-gpu.yaml"), {"reader": {"endpoint": "http://x/v1"}}), "two engines"),
        (_off("redis"), "search needs Redis"),
        ({"redis": {"existingSecret": "x"}}, "two Redis"),
        (_off("qdrant"), "the retriever needs Qdrant"),
        ({"qdrant": {"url": "http://x"}}, "two Qdrants"),
        ({"services": {"retriever": {"env": {"STORE": "qdrant_edge"}}}}, "belongs to one process"),
        ({"services": {"rates": {"image": {"repository": "x"}}}}, "module or command"),
        ({"services": {"rates": {"module": "x", "image": {"repository": "x"}}}}, "health or probes"),
        ({"networkPolicy": {"arrows": {"nobody": ["gateway:http"]}}}, "no service nobody"),
        ({"networkPolicy": {"arrows": {"gateway": ["search:http"]}}}, "search:http is no service:port"),
        ({"services": {"gateway": {"storage": {"mountPath": "/x", "size": "1Gi"}}}}, "needs kind StatefulSet"),
        ({"ingress": {"enabled": True}}, "ingress.host"),
    ],
)
def test_what_cannot_work_is_refused_with_what_to_do(values: Object, says: str) -> None:
    with pytest.raises(HelmError, match=re.escape(says)):
        render(values)
