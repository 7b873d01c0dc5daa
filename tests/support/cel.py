"""CEL expressions, evaluated and checked by Google's own implementation, in a process of its own.

The extension is C++: whatever it does to its process, the tests' own goes on.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

Schema = dict[str, Any]
_ROOT = "io.k8s.api.core.v1.Pod"


def evaluated(expressions: list[str], many: list[dict[str, Any]]) -> list[list[bool]]:
    """Of each set of variables, which of the expressions are true; an expression that fails is not."""
    return [[bool(one) for one in truths] for truths in _run({"expressions": expressions, "many": many})]


def type_errors(expressions: list[str], version: str) -> list[str]:
    """What an API server of a version of Kubernetes writes into the typeChecking of a policy on pods.

    The types are made of that version's schema of a pod, as the server makes them: a field that it has not, or a
    comparison of two types, is an error though evaluation would not mind.
    """
    return [one for one in _run({"expressions": expressions, "version": version}) if one]


def _run(asked: dict[str, Any]) -> list[Any]:
    done = subprocess.run(
        [sys.executable, __file__], input=json.dumps(asked), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    answer: list[Any] = json.loads(done.stdout)
    return answer


class _Types:
    """Messages of Protocol Buffers with the fields of a pod and all that is in it."""

    def __init__(self, definitions: dict[str, Schema]) -> None:
        from google.protobuf import descriptor_pb2, descriptor_pool, struct_pb2

        self._definitions = definitions
        self._pb = descriptor_pb2
        self._file = descriptor_pb2.FileDescriptorProto(
            name="pod.proto", package="pod", syntax="proto3", dependency=[struct_pb2.DESCRIPTOR.name]
        )
        self._made: set[str] = set()
        self._message(_ROOT)
        text = {"type": "string"}
        user = {"type": "object", "properties": {"username": text}}
        self._object("Request", {"operation": text, "userInfo": user})
        self.pool = descriptor_pool.DescriptorPool()
        shared = descriptor_pb2.FileDescriptorProto()
        struct_pb2.DESCRIPTOR.CopyToProto(shared)
        self.pool.Add(shared)
        self.pool.Add(self._file)

    def _message(self, name: str) -> str:
        short = name.replace(".", "_").replace("-", "_")
        if short not in self._made:
            self._made.add(short)
            self._object(short, self._definitions[name].get("properties", {}))
        return f".pod.{short}"

    def _object(self, name: str, properties: dict[str, Schema]) -> str:
        message = self._pb.DescriptorProto(name=name)
        for number, (key, schema) in enumerate(properties.items(), start=1):
            if key.startswith("$"):
                continue
            field = message.field.add(name=key, json_name=key, number=number, label=1)
            self._fill(message, field, schema)
        self._file.message_type.append(message)
        return f".pod.{name}"

    def _fill(self, message: Any, field: Any, schema: Schema) -> None:
        field_type = self._pb.FieldDescriptorProto
        kind = schema.get("type", "")
        kind = next((one for one in kind if one != "null"), "") if isinstance(kind, list) else kind
        target = schema.get("$ref", "").rsplit("/", 1)[-1]
        if self._definitions.get(target, {}).get("properties"):
            field.type, field.type_name = field_type.TYPE_MESSAGE, self._message(target)
        elif target.endswith(("Time", "Quantity")) or kind == "string":
            field.type = field_type.TYPE_STRING
        elif kind in ("integer", "boolean"):
            field.type = field_type.TYPE_INT64 if kind == "integer" else field_type.TYPE_BOOL
        elif kind == "array":
            self._fill(message, field, schema["items"])
            field.label = field_type.LABEL_REPEATED
        elif kind == "object" and "additionalProperties" in schema:
            entry = message.nested_type.add(name=f"{field.name[0].upper()}{field.name[1:]}Entry")
            entry.options.map_entry = True
            entry.field.add(name="key", number=1, label=1, type=field_type.TYPE_STRING)
            self._fill(message, entry.field.add(name="value", number=2, label=1), schema["additionalProperties"])
            field.label, field.type = field_type.LABEL_REPEATED, field_type.TYPE_MESSAGE
            field.type_name = f".pod.{message.name}.{entry.name}"
        elif kind == "object" and "properties" in schema:
            inner = f"{message.name}_{field.name}"
            field.type, field.type_name = field_type.TYPE_MESSAGE, self._object(inner, schema["properties"])
        else:  # an integer or a string, or whatever it likes
            field.type, field.type_name = field_type.TYPE_MESSAGE, ".google.protobuf.Value"


def _definitions(version: str) -> dict[str, Schema]:
    import kubernetes_validate

    folder = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema" / f"v{version}.0-local"
    found: dict[str, Schema] = json.loads((folder / "_definitions.json").read_text(encoding="utf-8"))["$defs"]
    return found


def _checked(expressions: list[str], version: str) -> list[str]:
    from cel_expr_python import cel

    pod = cel.Type(f"pod.{_ROOT.replace('.', '_')}")
    variables = {"object": pod, "oldObject": pod, "request": cel.Type("pod.Request")}
    environment = cel.NewEnv(descriptor_pool=_Types(_definitions(version)).pool, variables=variables)
    said = []
    for text in expressions:
        try:
            kind = environment.compile(text).return_type()
            said.append("" if kind.is_assignable_from(cel.Type.BOOL) else f"{kind.name()} is no truth: {text}")
        except Exception as error:  # noqa: BLE001  # whatever the compiler says
            said.append(str(error))
    return said


def main() -> None:
    """A question as JSON on stdin, its answer on stdout."""
    from cel_expr_python import cel  # here: whoever imports this module must not load it

    asked = json.load(sys.stdin)
    if "version" in asked:
        json.dump(_checked(asked["expressions"], asked["version"]), sys.stdout)
        return

    @functools.cache
    def compiled(names: tuple[str, ...]) -> list[Any]:
        environment = cel.NewEnv(variables=dict.fromkeys(names, cel.Type.DYN))
        return [environment.compile(text) for text in asked["expressions"]]

    answer = [[one.eval(data=data).plain_value() is True for one in compiled(tuple(data))] for data in asked["many"]]
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
