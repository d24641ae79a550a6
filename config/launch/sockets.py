"""The folders of our stores' Unix sockets, below var/, to avoid port conflicts with other programs."""

import hashlib
import os
import tempfile
from pathlib import Path

from config.launch.console import LaunchProblem
from config.launch.processes import Account

LONGEST = 107 - len("/.s.PGSQL.5432.lock")  # bytes of a folder: a socket's whole path may have 107


def folder(wanted: Path, account: Account | None = None) -> Path:
    """`wanted`, or a short path instead if its path is too long; created for `account` (None: for us).

    Raises LaunchProblem.
    """
    path = wanted
    if len(os.fsencode(wanted)) > LONGEST:
        name = hashlib.sha256(f"{os.geteuid()} {wanted}".encode()).hexdigest()[:16]
        path = Path(tempfile.gettempdir()) / f"splashboard-{name}"
    path.mkdir(mode=0o755, exist_ok=True)
    owner = path.lstat().st_uid
    # In a world-writable folder another user could have created it.
    ours = {os.geteuid(), account.uid if account else os.geteuid()}
    if path != wanted and (path.is_symlink() or owner not in ours):
        raise LaunchProblem(
            f"{path} belongs to user {owner}: remove it, or choose another folder with SPLASHBOARD_VAR."
        )
    if account and owner != account.uid:
        os.chown(path, account.uid, account.gid)
    return path
