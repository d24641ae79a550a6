"""MariaDB of another Debian release, unpacked beside the machine's own: a second release of the server to compare with.

It runs with its own C library, by that library's own loader, so that nothing of the machine is replaced.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab.mariadb import ServerProgram
from lab.packages import APT_GET, LabError

MIRROR = "http://deb.debian.org/debian"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# The server, and every library that it loads.
PACKAGES = (
    *("mariadb-server-core", "libaio1t64", "libc6", "libcap2", "libcrypt1", "libgcc-s1", "libnuma1", "libpcre2-8-0"),
    *("libssl3t64", "libstdc++6", "libsystemd0", "liburing2", "libzstd1", "zlib1g"),
)
LOADER = "usr/lib64/ld-linux-x86-64.so.2"
LIBRARIES = "usr/lib/x86_64-linux-gnu"


def server_program(root: Path) -> ServerProgram:
    """The server that `unpack` puts into `root`."""
    share = root / "usr/share/mariadb"
    return ServerProgram(
        [str(_loader(root)), "--library-path", str(root / LIBRARIES), str(root / "usr/sbin/mariadbd")],
        [
            f"--lc-messages-dir={share}",
            f"--character-sets-dir={share / 'charsets'}",
            f"--plugin-dir={root / 'usr/lib/mysql/plugin'}",
        ],
    )


def unpack(release: str, root: Path) -> None:
    """Downloads and unpacks the server of a Debian release, such as `trixie`, into `root`, once. Raises LabError."""
    if _loader(root).exists():
        return
    for name in ("apt-get", "dpkg-deb"):
        if not shutil.which(name):
            raise LabError(f"{name} is missing: this system needs Debian on amd64")
    work = root.with_name(f"{root.name}.part")
    shutil.rmtree(work, ignore_errors=True)
    packages, unpacked = work / "packages", work / "root"
    for folder in (
        packages,
        unpacked,
        *(work / "state" / name for name in ("lists/partial", "cache/archives/partial")),
    ):
        folder.mkdir(parents=True)
    (work / "sources.list").write_text(f"deb [arch=amd64 signed-by={KEYRING}] {_mirror()} {release} main\n")
    (work / "state" / "status").touch()
    options = {
        "Dir::Etc::sourcelist": work / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State": work / "state",
        "Dir::State::status": work / "state" / "status",
        "Dir::Cache": work / "state" / "cache",
        "APT::Sandbox::User": "root",
    }
    apt = [*APT_GET, *(part for name, value in options.items() for part in ("-o", f"{name}={value}"))]
    _run([*apt, "update"], packages)
    _run([*apt, "download", *PACKAGES], packages)
    for package in sorted(packages.glob("*.deb")):
        _run(["dpkg-deb", "-x", str(package), str(unpacked)], packages)
    # Its name is that of the process: the agent knows a server by it.
    shutil.copy2(unpacked / LOADER, _loader(unpacked))
    root.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(root, ignore_errors=True)
    unpacked.rename(root)
    shutil.rmtree(work)


def _mirror() -> str:
    """The machine's own mirror of Debian, else the public one."""
    argv = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Component: main"]
    answer = subprocess.run(argv, capture_output=True, text=True, check=False)
    return next((line for line in answer.stdout.splitlines() if line.rstrip("/").endswith("/debian")), MIRROR)


def _loader(root: Path) -> Path:
    return root / "mariadbd"


def _run(argv: Sequence[str], folder: Path) -> None:
    answer = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    if answer.returncode:
        lines = [line for line in answer.stderr.splitlines() if line.startswith(("E:", "dpkg-deb:"))]
        raise LabError(f"MariaDB of another Debian release could not be had: {' '.join(lines[-2:]) or answer.stderr}")
