"""A second, empty installation in the tests' PostgreSQL, and what is compared of both."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from tests.paths import ROOT
from tests.support import stores

NAME = "restored"
_TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1"


@dataclass(frozen=True)
class EmptyInstallation:
    url: str
    var: Path

    def manage(self, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "manage.py", *map(str, arguments)],
            env={**os.environ, "DATABASE_URL": self.url, "SPLASHBOARD_VAR": str(self.var)},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )

    def artifacts(self) -> set[str]:
        """Hashes of the artifacts in its store, each of which has its hash."""
        files = [path for path in (self.var / "artifacts").rglob("*") if path.is_file()]
        assert all(sha256(path.read_bytes()).hexdigest() == path.name for path in files)
        return {path.name for path in files}

    def ask(self, statement: str) -> set[tuple[Any, ...]]:
        with psycopg.connect(self.url) as session:
            return set(session.execute(statement.encode()).fetchall())

    def rows(self) -> dict[str, list[str]]:
        return rows_of(self.url)


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch, transactional_db: None) -> None:
    """pg_dump and pg_restore of the tests' own server, where no others are installed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT setting FROM pg_config WHERE name = 'BINDIR'")
        (folder,) = cursor.fetchone()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def another(tmp_path: Path, transactional_db: None) -> Iterator[EmptyInstallation]:
    url, name = stores.database_url(), str(connection.settings_dict["NAME"])
    with psycopg.connect(url, autocommit=True) as session:
        session.execute(f"DROP DATABASE IF EXISTS {name}_{NAME}".encode())
        session.execute(f"CREATE DATABASE {name}_{NAME} TEMPLATE template0".encode())
        yield EmptyInstallation(url.replace(f"/{name}", f"/{name}_{NAME}"), tmp_path / NAME)
        session.execute(f"DROP DATABASE {name}_{NAME} WITH (FORCE)".encode())


def rows_of(url: str) -> dict[str, list[str]]:
    """Table -> its rows as text, sorted; tables without rows are left out."""
    with psycopg.connect(url) as session:
        names = [str(name) for (name,) in session.execute(_TABLES).fetchall()]
        found = {}
        for name in names:
            rows = session.execute(f'SELECT t::text FROM "{name}" t ORDER BY 1'.encode()).fetchall()
            found[name] = [str(row) for (row,) in rows]
    return {name: rows for name, rows in found.items() if rows}
