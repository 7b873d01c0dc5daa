"""`quelea ingest s3://bucket/prefix`, against an S3 on loopback."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import boto3
import pytest
from quelea_cli.errors import EXIT_FAILED, EXIT_USAGE

if TYPE_CHECKING:
    from support.s3 import Bucket

    from .conftest import FakeGateway

Run = Callable[..., tuple[int, str, str]]


def put(bucket: Bucket, *keys: str) -> None:
    client = boto3.client(
        "s3", endpoint_url=bucket.endpoint, region_name="us-east-1", aws_access_key_id="k", aws_secret_access_key="s"
    )
    for key in keys:
        client.put_object(Bucket=bucket.name, Key=key, Body=b"" if key.endswith("/") else b"data of " + key.encode())


def uploads(gateway: FakeGateway) -> list[bytes]:
    return [body for method, path, _, body in gateway.seen if (method, path) == ("POST", "/v1/documents")]


def test_what_is_below_a_prefix_goes_in(gateway: FakeGateway, run: Run, bucket: Bucket) -> None:
    put(bucket, "some/prefix/2023/a.pdf", "some/prefix/b.TXT", "some/prefix/photo.png", "some/prefix/.hidden/c.pdf")
    put(bucket, "some/prefix/", "some/prefixed.pdf", "other.pdf")
    code, out, err = run("ingest", bucket.url + "/", "--metadata", '{"company": "Apple"}')
    assert (code, err) == (0, "")
    first, second = uploads(gateway)
    assert f'[{{"uri": "{bucket.url}/2023/a.pdf", "company": "Apple"}}]'.encode() in first
    assert b'filename="a.pdf"' in first
    assert b"data of some/prefix/2023/a.pdf" in first
    assert b"data of some/prefix/b.TXT" in second
    assert f"ready   {bucket.url}/2023/a.pdf (3 pages)" in out
    assert "2 documents ready, 1 files of other kinds passed over" in out


def test_one_object_and_a_whole_bucket(gateway: FakeGateway, run: Run, bucket: Bucket) -> None:
    put(bucket, "x/a.pdf", "b.pdf")
    assert run("ingest", f"s3://{bucket.name}/x/a.pdf")[0] == 0
    assert [b"data of x/a.pdf" in body for body in uploads(gateway)] == [True]
    assert run("ingest", f"s3://{bucket.name}/b.pdf")[0] == 0
    assert run("ingest", f"s3://{bucket.name}")[0] == 0
    assert len(uploads(gateway)) == 4


def test_what_is_not_there_is_said(gateway: FakeGateway, run: Run, bucket: Bucket) -> None:
    code, out, _ = run("ingest", f"{bucket.url}/absent.pdf")
    assert code == EXIT_FAILED
    assert f"failed  {bucket.url}/absent.pdf: there is no such object" in out
    code, _, err = run("ingest", f"{bucket.url}/empty")
    assert code == EXIT_FAILED
    assert "No documents found" in err
    code, _, err = run("ingest", f"s3://{bucket.name}-absent/prefix")
    assert code == EXIT_FAILED
    assert f"there is no bucket {bucket.name}-absent" in err
    assert not uploads(gateway)


def test_an_object_store_is_not_watched(run: Run, bucket: Bucket) -> None:
    code, _, err = run("ingest", "--watch", bucket.url)
    assert code == EXIT_USAGE
    assert "--watch takes folders" in err


@pytest.mark.parametrize("address", ["s3://", "s3:///prefix"])
def test_an_address_without_a_bucket(run: Run, address: str) -> None:
    code, _, err = run("ingest", address)
    assert code == EXIT_USAGE
    assert f"{address} names no bucket" in err
