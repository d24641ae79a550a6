"""A database server of another Debian release, unpacked beside the machine's own: another release of MariaDB, or MySQL.

It runs with its own C library, by that library's own loader, so that nothing of the machine is replaced.
"""

import platform
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lab.mariadb import ServerProgram
from lab.packages import APT_GET, INSTALL, LabError

MIRROR = "http://deb.debian.org/debian"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
LEFT_OUT = ("perl", "libperl", "libdb5", "libgdbm")  # for scripts, which do not run here


@dataclass(frozen=True)
class DebianServer:
    """`name`: of its program, which the agent knows a server by. `packages`: the server, and every library that it
    loads; a single one: with all that it depends on."""

    name: str
    product: str
    packages: Sequence[str]
    share: str
    options: Sequence[str] = ()


MARIADB = DebianServer(
    "mariadbd",
    "MariaDB",
    (
        *("mariadb-server-core", "libaio1t64", "libc6", "libcap2", "libcrypt1", "libgcc-s1", "libnuma1"),
        *("libpcre2-8-0", "libssl3t64", "libstdc++6", "libsystemd0", "liburing2", "libzstd1", "zlib1g"),
    ),
    "usr/share/mariadb",
)
# Its libraries change their names in Debian's unstable release, so that they are looked up.
MYSQL = DebianServer(
    "mysqld", "MySQL", ("mysql-server-core",), "usr/share/mysql", ("--mysqlx=0", "--secure-file-priv=NULL")
)
LOADER = "usr/lib64/ld-linux-x86-64.so.2"
LIBRARIES = "usr/lib/x86_64-linux-gnu"


def server_program(root: Path, server: DebianServer = MARIADB) -> ServerProgram:
    """The server that `unpack` puts into `root`."""
    share = root / server.share
    binary = root / "usr/sbin" / server.name
    return ServerProgram(
        [str(_loader(root, server)), "--library-path", str(root / LIBRARIES), str(binary)],
        [
            f"--lc-messages-dir={share}",
            f"--character-sets-dir={share / 'charsets'}",
            f"--plugin-dir={root / 'usr/lib/mysql/plugin'}",
            *server.options,
        ],
    )


def unpack(release: str, root: Path, server: DebianServer = MARIADB) -> None:
    """Downloads and unpacks the server of a Debian release, such as `trixie`, into `root`, once. Raises LabError."""
    if _loader(root, server).exists():
        return
    for name in ("apt-get", "dpkg-deb"):
        if not shutil.which(name):
            raise LabError(f"{name} is missing: {server.product} of Debian {release} needs Debian on amd64")
    if platform.machine() != "x86_64":
        raise LabError(f"this is no amd64 machine: {server.product} of Debian {release} needs one")
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
        "Acquire::http::Timeout": "20",
    }
    apt = [*APT_GET, *(part for name, value in options.items() for part in ("-o", f"{name}={value}"))]
    run = partial(_run, folder=packages, product=server.product)
    run([*apt, "update"])
    wanted = server.packages
    if len(wanted) == 1:
        wanted = _with_libraries(run([*apt, "--simulate", *INSTALL, *wanted]))
    run([*apt, "download", *wanted])
    for package in sorted(packages.glob("*.deb")):
        run(["dpkg-deb", "-x", str(package), str(unpacked)])
    shutil.copy2(unpacked / LOADER, _loader(unpacked, server))
    root.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(root, ignore_errors=True)
    unpacked.rename(root)
    shutil.rmtree(work)


def _with_libraries(simulated: str) -> list[str]:
    """Of the output of a simulated installation on an empty machine."""
    names = [line.split()[1] for line in simulated.splitlines() if line.startswith("Inst ")]
    return [name for name in names if not name.startswith(LEFT_OUT)]


def _mirror() -> str:
    """The machine's own mirror of Debian, else the public one."""
    argv = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Component: main"]
    answer = subprocess.run(argv, capture_output=True, text=True, check=False)
    return next((line for line in answer.stdout.splitlines() if line.rstrip("/").endswith("/debian")), MIRROR)


def _loader(root: Path, server: DebianServer) -> Path:
    return root / server.name


def _run(argv: Sequence[str], *, folder: Path, product: str) -> str:
    answer = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    if answer.returncode:
        lines = [line for line in answer.stderr.splitlines() if line.startswith(("E:", "dpkg-deb:"))]
        raise LabError(f"{product} of another Debian release could not be had: {' '.join(lines[-2:]) or answer.stderr}")
    return answer.stdout
