"""Checks without a server: `python -m quelea_gateway.check_lines`, a body of POST /v1/check a line, an answer a line.

For `quelea eval figures --in-process`, and for who has a file of answers and no stack. Nothing is sent anywhere.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator

import quelea_checker
from pydantic import ValidationError
from quelea_kit.errors import QueleaError

from quelea_gateway.rest.answers.check import CheckIn, passages_of, to_wire


def check_lines(lines: Iterable[str]) -> Iterator[str]:
    """What POST /v1/check answers, as JSON, for each body; for one that is wrong {"error": why}."""
    for line in lines:
        try:
            body = CheckIn.model_validate_json(line)
            report = quelea_checker.check_answer(body.answer, passages_of(body), question=body.question)
            yield to_wire(report).model_dump_json()
        except (ValidationError, QueleaError) as error:
            yield json.dumps({"error": str(error)})


if __name__ == "__main__":
    for answer in check_lines(sys.stdin):
        print(answer, flush=True)  # noqa: T201  # its answer
