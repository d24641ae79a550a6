"""File stores as entries of Django's STORAGES: a folder, or a bucket of an object store."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

BUCKET = "s3"
# Timeouts, s: short, so that a page waiting for samples fails soon.
CONNECT, READ = 3.0, 20.0


class BadAddress(ValueError):
    """The address is neither a folder nor a bucket."""


class BucketProblem(Exception):
    """The artifacts' bucket is missing or cannot be used; the text says what to do."""


def store_at(address: str, *, endpoint_url: str | None = None) -> dict[str, Any]:
    """The STORAGES entry for `s3://bucket/prefix` or a folder's path. Files of the same name are overwritten.

    Raises BadAddress.
    """
    if "://" not in address:
        options = {"location": str(Path(address).expanduser().absolute()), "allow_overwrite": True}
        return {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options}
    # Imported only for an object store: settings are read at every start.
    from botocore.config import Config  # noqa: PLC0415

    parts = urlsplit(address)
    if parts.scheme != BUCKET or not parts.netloc:
        raise BadAddress(f"{address!r} is not a place for files: use the path of a folder, or s3://bucket/prefix")
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": parts.netloc,
            "location": parts.path.strip("/"),
            "endpoint_url": endpoint_url,
            "file_overwrite": True,
            "client_config": Config(connect_timeout=CONNECT, read_timeout=READ, retries={"total_max_attempts": 3}),
        },
    }


def ensure_bucket(storage: Any, *, create: bool) -> str:
    """The name of the bucket of `storage` if it was created; empty if it was there, or if `storage` is a folder.

    Raises BucketProblem; also for a missing one, unless `create`.
    """
    if not hasattr(storage, "bucket_name"):
        return ""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - as above, half a second

    name, client = str(storage.bucket_name), storage.connection.meta.client
    try:
        if _has_bucket(client, name):
            return ""
        if not create:
            raise BucketProblem(f"the bucket {name} of S3_BUCKET is missing: create it, or add --create-bucket")
        client.create_bucket(Bucket=name)
    except ClientError as error:
        raise BucketProblem(f"the bucket {name} of S3_BUCKET cannot be used: {error}") from error
    except BotoCoreError as error:
        raise BucketProblem(f"the object store of S3_ENDPOINT_URL does not answer: {error}") from error
    return name


def _has_bucket(client: Any, name: str) -> bool:
    """Raises what boto3 raises, for another answer than that it is missing."""
    try:
        client.head_bucket(Bucket=name)
    except client.exceptions.ClientError as error:
        if error.response["Error"]["Code"] not in ("404", "NoSuchBucket"):
            raise
        return False
    return True
