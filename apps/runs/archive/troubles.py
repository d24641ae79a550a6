"""What an operation of the archive can fail with. Pure."""

TOO_LARGE = "needs more memory than it may have: if you know who archived it, give restore_runs more with --memory"


class ArchiveTrouble(Exception):
    """An archive operation failed; the text names the remedy."""


class NoArchive(ArchiveTrouble):
    def __init__(self) -> None:
        super().__init__("no archive is configured: set SPLASHBOARD_ARCHIVE to a folder or s3://bucket/prefix")


class StoreUnreachable(ArchiveTrouble):
    """The folder or object store does not answer or is full; a retry may succeed."""


class Damaged(ArchiveTrouble):
    """A file is missing or does not match its hash."""
