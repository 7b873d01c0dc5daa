"""JSON schemas: whether one is one, and whether a value fits it. Nothing is ever fetched for a `$ref`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from quelea_kit.errors import InvalidInput, TooLarge

_LONGEST = 100_000
"""Characters of a schema."""


def read_schema(text: str, field: str = "json_schema") -> dict[str, Any]:
    """A JSON schema that a caller sent, in a field of this name.

    Raises:
        TooLarge: It is longer than 100,000 characters.
        InvalidInput: It is no JSON object, or no schema.
    """
    if len(text) > _LONGEST:
        raise TooLarge(f"The JSON schema is longer than {_LONGEST} characters.", details={"field": field})
    try:
        schema = json.loads(text)
        if not isinstance(schema, dict):
            raise InvalidInput("The JSON schema is not a JSON object.", details={"field": field})
        validator_for(schema).check_schema(schema)
    except jsonschema.SchemaError as error:
        raise InvalidInput(f"{field} is not a JSON schema: {error.message[:200]}", details={"field": field}) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput("The JSON schema is not JSON.", details={"field": field}) from error
    return schema


def misfit(value: Any, schema: Mapping[str, Any]) -> str:
    """What of the value does not fit; "" when it fits. A schema that refers to something outside fits nothing."""
    validator = validator_for(schema)(schema, registry=Registry())
    try:
        found = next(validator.iter_errors(value), None)
    except Unresolvable as error:
        return f"the schema refers to {error}"
    return found.message if found else ""
