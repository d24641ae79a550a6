"""Servers of another Debian release: what is downloaded, and why one could not be had. apt is a script here."""

from pathlib import Path

import pytest

from lab.debian import LIBRARIES, LOADER, MARIADB, MYSQL, DebianServer, server_program, unpack
from lab.packages import LabError

APT = """#!/bin/sh
echo "$@" >> {log}
case "$*" in
*--simulate*) printf 'Inst libc6 (2.43 Debian)\\nInst perl-base (5.42)\\nInst {name} (9)\\nConf x (1)\\n' ;;
*download*) touch one.deb ;;
*update*) {update} ;;
esac
"""
DPKG = """#!/bin/sh
mkdir -p "$3/usr/lib64" && echo loader > "$3/{loader}"
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "apt.log"


def fake(folder: Path, monkeypatch: pytest.MonkeyPatch, *, log: Path, name: str = "", update: str = "true") -> None:
    texts = {"apt-get": APT.format(log=log, name=name, update=update), "dpkg-deb": DPKG.format(loader=LOADER)}
    for program, text in texts.items():
        (folder / program).write_text(text)
        (folder / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def downloaded(log: Path) -> list[str]:
    (line,) = (line for line in log.read_text().splitlines() if " download " in line)
    return line.partition(" download ")[2].split()


@pytest.mark.parametrize(
    ("server", "packages"), [(MYSQL, ["libc6", "mysql-server-core"]), (MARIADB, list(MARIADB.packages))]
)
def test_a_server_is_downloaded_with_the_libraries_that_it_needs_and_without_perl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: Path, server: DebianServer, packages: list[str]
) -> None:
    fake(tmp_path, monkeypatch, log=log, name="mysql-server-core")
    root = tmp_path / "programs" / "sid"
    unpack("sid", root, server)
    assert downloaded(log) == packages
    program = server_program(root, server)
    assert program.argv[:3] == [str(root / server.name), "--library-path", str(root / LIBRARIES)]
    assert (root / server.name).read_text() == "loader\n"
    log.unlink()
    unpack("sid", root, server)  # which is there
    assert not log.exists()


def test_why_a_server_could_not_be_had_is_in_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: Path
) -> None:
    fake(tmp_path, monkeypatch, log=log, update="echo 'E: no such mirror' >&2; exit 100")
    with pytest.raises(LabError, match="MySQL of another Debian release could not be had: E: no such mirror"):
        unpack("sid", tmp_path / "programs" / "sid", MYSQL)
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(LabError, match="no amd64 machine: MySQL of Debian sid needs one"):
        unpack("sid", tmp_path / "programs" / "sid", MYSQL)
