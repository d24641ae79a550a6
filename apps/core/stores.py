"""Where files are kept, as Django's storage API names it: a folder, or a bucket of an object store."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

BUCKET = "s3"
# Who waits for samples must be told soon that they cannot be had, s.
CONNECT, READ = 3.0, 20.0


class BadAddress(ValueError):
    """An address of no store."""


def store_at(address: str, *, endpoint_url: str | None = None) -> dict[str, Any]:
    """An entry of STORAGES for `s3://bucket/prefix` or the path of a folder. Files replace those of their name.

    Raises BadAddress.
    """
    if "://" not in address:
        options = {"location": str(Path(address).expanduser().absolute()), "allow_overwrite": True}
        return {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options}
    # Brought along by an object store alone: settings are read at every start.
    from botocore.config import Config  # noqa: PLC0415

    parts = urlsplit(address)
    if parts.scheme != BUCKET or not parts.netloc:
        raise BadAddress(f"{address!r} is no place for files: use the path of a folder, or s3://bucket/prefix")
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
