"""Programs needed by the lab, and their Debian packages."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

POLICY = Path("/usr/sbin/policy-rc.d")
APT_GET = ("apt-get", "-q", "-o", "DPkg::Lock::Timeout=300")
INSTALL = ("install", "--yes", "--no-install-recommends")
# Besides PATH: /usr/sbin is on root's only; the last two hold a library, no programs.
FOLDERS = ("/usr/sbin", "/usr/local/sbin", "/usr/lib/galera", "/usr/lib64/galera-4")
PACKAGES: Mapping[str, str] = {
    "mariadbd": "mariadb-server",
    "mariadb-install-db": "mariadb-server",
    "mariadb": "mariadb-client",
    "mysqlbinlog": "mariadb-server",
    "mariabackup": "mariadb-backup",
    "sysbench": "sysbench",
    "libgalera_smm.so": "galera-4",
    "rsync": "rsync",
    "haproxy": "haproxy",
    "masterha_manager": "mha4mysql-manager",
    "apply_diff_relay_logs": "mha4mysql-node",
    "sshd": "openssh-server",
    "ssh-keygen": "openssh-client",
    "nsenter": "util-linux",
}

# Optional programs for more measurements, and their packages.
EXTRAS: Mapping[str, str] = {"pt-query-digest": "percona-toolkit", "perf": "linux-perf"}
USES: Mapping[str, str] = {
    "pt-query-digest": "statement times where performance_schema is OFF",
    "perf": "profiles of a server's CPU",
}


class LabError(Exception):
    """The text contains the problem and the remedy."""


def find(name: str) -> str | None:
    found = shutil.which(name, path=":".join((os.environ.get("PATH", ""), *FOLDERS)))
    files = (Path(folder) / name for folder in FOLDERS)
    return found or next((str(file) for file in files if name.endswith(".so") and file.exists()), None)


def program(name: str) -> str:
    """Path of a program. Raises LabError."""
    found = find(name)
    if not found:
        raise LabError(f"{name} is not installed; install it: {command_for([name])}")
    return found


def missing(names: Iterable[str]) -> list[str]:
    return [name for name in names if not find(name)]


def command_for(names: Iterable[str], packages: Mapping[str, str] = PACKAGES) -> str:
    """The command to install them."""
    wanted = dict.fromkeys(packages.get(name, name) for name in names)
    return f"apt-get install --no-install-recommends {' '.join(wanted)}"


def may_install() -> bool:
    return os.geteuid() == 0 and bool(shutil.which("apt-get"))


def install(names: Iterable[str], log: Path) -> None:
    """Installs Debian packages without starting services. Raises LabError."""
    wanted = dict.fromkeys({**PACKAGES, **EXTRAS}[name] for name in names)
    log.parent.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with no_services(), log.open("wb") as output:
        for argv in ([*APT_GET, "update"], [*APT_GET, *INSTALL, *wanted]):
            if subprocess.run(argv, stdout=output, stderr=output, env=environment, check=False).returncode:
                messages = [line for line in log.read_text(errors="replace").splitlines() if line.startswith("E:")]
                raise LabError(f"{' '.join(wanted)} could not be installed: {' '.join(messages[-2:]) or f'see {log}'}")


@contextmanager
def no_services(policy: Path = POLICY) -> Iterator[None]:
    """Prevents packages from starting their servers; restores the machine's own policy afterwards."""
    kept = policy.with_name(policy.name + ".before-splashboard")
    if os.path.lexists(policy) and not os.path.lexists(kept):
        policy.rename(kept)
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    try:
        yield
    finally:
        policy.unlink(missing_ok=True)
        if os.path.lexists(kept):
            kept.rename(policy)
