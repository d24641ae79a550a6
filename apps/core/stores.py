"""File stores as entries of Django's STORAGES: a folder, or a bucket of an object store."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

BUCKET = "s3"
# Timeouts, s: short, so that a page waiting for samples fails soon.
CONNECT, READ = 3.0, 20.0


class BadAddress(ValueError):
    """The address is neither a folder nor a bucket."""


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
