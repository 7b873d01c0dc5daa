"""An S3 on loopback: moto's server, which speaks the protocol (signatures are taken, not checked) and keeps objects in
memory. In a thread of the test's process; other processes reach it too. The product's side is the real client.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import boto3
from moto.server import ThreadedMotoServer


@dataclass
class Bucket:
    """One, empty at first, and how to reach it."""

    endpoint: str
    name: str

    @property
    def url(self) -> str:
        """The address of a prefix in it."""
        return f"s3://{self.name}/some/prefix"

    @property
    def environment(self) -> dict[str, str]:
        """For a process that uses it."""
        return environment_for(self.endpoint)

    def objects(self) -> list[str]:
        """Every object's name after the prefix, by a client that is not the product's."""
        found = self._client().list_objects_v2(Bucket=self.name).get("Contents", [])
        return sorted(one["Key"].removeprefix("some/prefix/") for one in found)

    def unfinished(self) -> int:
        """How many uploads in parts were neither completed nor aborted."""
        return len(self._client().list_multipart_uploads(Bucket=self.name).get("Uploads", []))

    def make(self) -> None:
        """Create it."""
        self._client().create_bucket(Bucket=self.name)

    def remove(self) -> None:
        """Remove it, with what is in it."""
        client = self._client()
        for one in client.list_objects_v2(Bucket=self.name).get("Contents", []):
            client.delete_object(Bucket=self.name, Key=one["Key"])
        client.delete_bucket(Bucket=self.name)

    def _client(self):
        return boto3.client(
            "s3", endpoint_url=self.endpoint, region_name="us-east-1", aws_access_key_id="k", aws_secret_access_key="s"
        )


def environment_for(endpoint: str) -> dict[str, str]:
    """What the chart's Secret gives a pod, and nothing from the machine's own configuration."""
    return {
        "AWS_ENDPOINT_URL_S3": endpoint,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


@contextmanager
def s3_server() -> Iterator[str]:
    """The endpoint of one that runs."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def new_bucket(endpoint: str) -> Bucket:
    """A bucket of a new name."""
    bucket = Bucket(endpoint, f"b-{uuid.uuid4().hex}")
    bucket.make()
    return bucket


@contextmanager
def broken_s3(status: int) -> Iterator[tuple[str, list[str]]]:
    """One that answers everything with this status, or never if it is 0; its endpoint, and what it was asked."""
    asked: list[str] = []
    end = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            asked.append(f"{self.command} {self.path}")
            if not status:
                end.wait(60)
                return
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _answer  # noqa: N815  # http.server's names

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        end.set()
        server.shutdown()
        server.server_close()
        thread.join(10)
