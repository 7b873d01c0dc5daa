"""Whatever the OpenAPI document allows, and much that it does not, gets an answer in its shape: never a 500."""

import asyncio

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from quelea_gateway.testing import standing
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from support.evaluation_worker import Worker

EXAMPLES = {GenerationMode.POSITIVE: 4, GenerationMode.NEGATIVE: 4}
CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]


def probe(schema, mode) -> int:
    """Call every operation with made-up requests; how many calls were made."""
    calls = 0
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path.endswith("/events"):
            continue  # a stream; its own tests read it

        @settings(
            max_examples=EXAMPLES[mode],
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case):
            nonlocal calls
            calls += 1
            case.validate_response(case.call(timeout=60), checks=CHECKS)

        try:
            check()
        except Unsatisfiable:
            continue  # nothing about it can be made wrong: it takes nothing
    return calls


@pytest.fixture
async def stand(tmp_path):
    Worker(tmp_path / "evaluations").beat(-3600)  # it lives for the whole test
    async with standing(evaluations_url=str(tmp_path / "evaluations"), evaluation_queue=3) as running:
        yield running


@pytest.mark.slow(reason="hundreds of made-up requests, some to every operation")
@pytest.mark.parametrize("mode", list(EXAMPLES), ids=lambda mode: mode.value)
async def test_no_request_breaks_the_gateway(stand, mode):
    schema = await asyncio.to_thread(schemathesis.openapi.from_url, f"{stand.url}/openapi.json", timeout=60)
    assert await asyncio.to_thread(probe, schema, mode) > 20
