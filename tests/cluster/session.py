"""Runs inside the gateway's pod, whose address and certificate the sandbox takes: a session of three steps."""

import asyncio
import os
import sys

from quelea.sandbox.v1 import sandbox_pb2 as pb
from quelea.sandbox.v1 import sandbox_pb2_grpc
from quelea_kit.client import channel, stream, unary

SERVICE = "quelea.sandbox.v1.SandboxService"
SECONDS = 120.0
TENANT = "cluster-test"
STEPS = (
    ("x = 21\nwith open('kept', 'w') as file:\n    file.write('3')", ""),
    ("print(x * 2)", "42"),
    ("print(open('kept').read())", "3"),
)


async def main() -> None:
    """The variable of the first step is there in the second: sessions have died between two of them."""
    async with channel(os.environ["QUELEA_GATEWAY_SANDBOX"], SERVICE) as line:
        stub = sandbox_pb2_grpc.SandboxServiceStub(line)
        made = await unary(stub.CreateSession(pb.CreateSessionRequest(tenant=TENANT), timeout=SECONDS))
        for number, (code, wanted) in enumerate(STEPS, start=1):
            said, reason = b"", "nothing came"
            asked = pb.ExecuteRequest(code=code, session_id=made.session_id, tenant=TENANT)
            call = stub.Execute(asked, timeout=SECONDS)
            async for event in stream(call):
                if event.HasField("output"):
                    said += event.output.data
                if event.HasField("finished"):
                    reason = pb.ExitReason.Name(event.finished.reason) + " " + event.finished.error
            if not reason.startswith("EXIT_REASON_OK") or said.decode().strip() != wanted:
                sys.exit(f"step {number} of the session ended as {reason.strip()} and said {said!r}, not {wanted!r}")
        await unary(stub.CloseSession(pb.CloseSessionRequest(session_id=made.session_id), timeout=SECONDS))
    sys.stdout.write(f"{len(STEPS)} steps of one session\n")


asyncio.run(main())
