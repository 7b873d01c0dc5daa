"""The gateway as a process: what it refuses to start with, and how it ends."""

import asyncio
import os
import signal
import sys

import httpx2
import pytest
from quelea_gateway import keys
from quelea_gateway.adapters.services.fake_services import FakeServices
from quelea_gateway.adapters.services.fake_world import World
from quelea_kit.testing import free_port


@pytest.fixture
async def services():
    fakes = FakeServices(World.with_samples())
    await fakes.start()
    yield fakes
    await fakes.close()


async def start(addresses, **settings):
    given = {**addresses, "log_format": "json", "drain_seconds": "60", **settings}
    environment = {**os.environ, **{f"QUELEA_GATEWAY_{name.upper()}": str(value) for name, value in given.items()}}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "quelea_gateway", env=environment, stderr=asyncio.subprocess.PIPE
    )


async def until_up(client, process):
    async with asyncio.timeout(60):
        while True:
            try:
                return await client.get("/readyz")
            except httpx2.TransportError:
                assert process.returncode is None, (await process.stderr.read()).decode()
                await asyncio.sleep(0.1)


async def test_a_door_without_keys_does_not_open_to_the_world(services):
    process = await start(services.addresses, auth="off", http_listen=f"0.0.0.0:{free_port()}")
    _, said = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 2
    assert "API keys are off" in said.decode()


async def test_a_taken_port_is_said_in_one_sentence(services):
    with_port = await asyncio.start_server(lambda _r, _w: None, "127.0.0.1", 0)
    port = with_port.sockets[0].getsockname()[1]
    process = await start(services.addresses, auth="off", http_listen=f"127.0.0.1:{port}")
    _, said = await asyncio.wait_for(process.communicate(), 60)
    with_port.close()
    assert process.returncode == 2
    assert f"cannot listen on 127.0.0.1:{port}" in said.decode()
    assert "Traceback" not in said.decode()


async def test_sigterm_lets_a_running_answer_finish(services, tmp_path):
    file = tmp_path / "keys.json"
    headers = {"Authorization": f"Bearer {keys.create(file, 'desk')}"}
    port = free_port()
    process = await start(services.addresses, keys_file=file, http_listen=f"127.0.0.1:{port}")
    try:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60) as client:
            assert (await until_up(client, process)).status_code == 200
            services.world.word_seconds = 0.05
            body = {"question": "What were Apple's total net sales?", "stream": True}
            async with client.stream("POST", "/v1/ask", json=body, headers=headers) as response:
                text = response.aiter_text()
                first = await anext(text)
                process.send_signal(signal.SIGTERM)
                rest = "".join([piece async for piece in text])
        said = await asyncio.wait_for(process.stderr.read(), 60)
        assert "event: started" in first
        assert "event: answer" in first + rest
        assert await asyncio.wait_for(process.wait(), 60) == 0
        assert b"stopped" in said
        assert headers["Authorization"].split()[1].encode() not in said
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
