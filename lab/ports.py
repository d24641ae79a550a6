"""Ports of servers on this machine: claimed once, so that a server keeps its port across restarts."""

import fcntl
import json
import os
import random
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

# Below the kernel's ephemeral ports: an outgoing connection could take a killed server's port.
LOWEST, HIGHEST = 13000, 29999
# One folder for all users of the machine, independent of TMPDIR. A claim is a symbolic link PORT -> owner: created
# atomically, and void once the owner is gone.
CLAIMS = Path("/tmp/splashboard-ports")  # noqa: S108 - a link in it is read, never followed


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As the servers do: a recently closed connection does not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port(owner: Path) -> int:
    """A free, unclaimed port. It stays claimed as long as `owner`, a file or folder, exists."""
    owner = owner.resolve(strict=True)
    with _claims() as folder:
        while True:
            port = random.SystemRandom().randint(LOWEST, HIGHEST)
            if not _owner(folder / str(port)) and is_free(port) and _claim(folder / str(port), owner):
                return port


def kept_ports(file: Path, names: Iterable[str]) -> dict[str, int]:
    """A port for each name; those in `file` are kept. The claims last as long as the file's folder."""
    file.parent.mkdir(parents=True, exist_ok=True)
    known: dict[str, int] = json.loads(file.read_text()) if file.exists() else {}
    for port in known.values():
        claim_again(port, file.parent)
    ports = {**known, **{name: free_port(file.parent) for name in names if name not in known}}
    if ports != known:
        file.write_text(json.dumps(ports, indent=1))
    return ports


def replace_taken(file: Path, ports: dict[str, int], names: Iterable[str]) -> None:
    """Replaces ports of `names` now used by another program, in `ports` and in `file`."""
    taken = [name for name in names if not is_free(ports[name])]
    if taken:
        ports.update({name: free_port(file.parent) for name in taken})
        file.write_text(json.dumps(ports, indent=1))


def claim_again(port: int, owner: Path) -> None:
    """Renews the claim of an earlier port: /tmp is emptied now and then. Another owner's claim stays."""
    with _claims() as folder:
        if not _owner(folder / str(port)):
            _claim(folder / str(port), owner.resolve(strict=True))


@contextmanager
def _claims() -> Iterator[Path]:
    """The folder, locked against concurrent searches for a port."""
    CLAIMS.mkdir(exist_ok=True)
    descriptor = os.open(CLAIMS, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if os.fstat(descriptor).st_uid == os.geteuid():
            os.fchmod(descriptor, 0o1777)  # for all users, who can delete only their own
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield CLAIMS
    finally:
        os.close(descriptor)


def _owner(claim: Path) -> str:
    """Owner of the claim; empty: none, or an owner that is gone."""
    try:
        owner = os.readlink(claim)
    except FileNotFoundError:
        return ""
    except OSError:
        return "unknown"
    try:
        os.lstat(owner)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError:
        return owner  # in a folder closed to us
    return owner


def _claim(claim: Path, owner: Path) -> bool:
    """False: another user's void claim is in the way."""
    try:
        claim.unlink(missing_ok=True)
        claim.symlink_to(owner)
    except OSError:
        return False
    return True
