"""An S3 server for tests: moto's, in a thread of this process."""

from collections.abc import Iterator
from contextlib import contextmanager

import boto3
import pytest
from moto.server import ThreadedMotoServer


@contextmanager
def object_store(monkeypatch: pytest.MonkeyPatch, *, bucket: str) -> Iterator[str]:
    """Its address, while it runs; `bucket` is there and empty."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    try:
        _, port = server.get_host_and_port()
        endpoint = f"http://127.0.0.1:{port}"
        client = boto3.client("s3", endpoint_url=endpoint)
        client.create_bucket(Bucket=bucket)
        client.close()
        yield endpoint
    finally:
        server.stop()
