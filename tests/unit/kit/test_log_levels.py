"""On the lowest level too, a library's log has no prompt, question or key in it."""

import asyncio
import logging

import openai
import pytest
from quelea_kit.logging import setup_logging
from quelea_kit.settings import ServiceSettings

SECRET, PROMPT = "sk-very-secret", "a question that nobody else may read"  # of no account


@pytest.fixture(autouse=True)
def logging_as_before():
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


async def test_a_prompt_is_not_logged_by_the_client_that_sends_it(capfd):
    async def refuse(reader, writer):
        await reader.readuntil(PROMPT.encode())
        await reader.readuntil(b"}")
        writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    setup_logging("test", ServiceSettings(log_level="debug"))
    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with (
        server,
        openai.AsyncOpenAI(api_key=SECRET, base_url=f"http://127.0.0.1:{port}/v1", max_retries=0) as client,
    ):
        with pytest.raises(openai.APIStatusError):
            await client.chat.completions.create(model="m", messages=[{"role": "user", "content": PROMPT}])
    logging.getLogger("after").debug("the log works")
    logged = capfd.readouterr().err
    assert "the log works" in logged
    assert PROMPT not in logged
    assert SECRET not in logged
