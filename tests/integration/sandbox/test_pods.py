"""The service on a fake API server whose pods are real containers: pool, door, failures of the cluster."""

import pytest
from support.sandbox import pod_sandbox

pytestmark = pytest.mark.usefixtures("engine")


async def test_first() -> None:
    async with pod_sandbox(preload="") as client:
        ran = await client.run("print(1)")
        assert ran.text == "1\n"
        assert ran.finished.reason == 1
