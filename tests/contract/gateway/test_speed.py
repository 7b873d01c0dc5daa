"""What must not come back: a delay between the two halves of an answer."""

import asyncio
import socket


async def test_answers_are_not_held_back(stand):
    """Headers and body are two writes; with Nagle's algorithm on, the second waits 40 ms for the first one's ack."""
    reader, writer = await asyncio.open_connection("127.0.0.1", stand.running.http_port)
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    connection = next(iter(stand.running._http.server_state.connections))
    served = connection.transport.get_extra_info("socket")
    assert served.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    writer.close()
    await writer.wait_closed()
