import subprocess
import sys
from pathlib import Path

import pytest

from lab.mariadb import MariaDB
from tests.paths import ROOT
from tests.workers.agents import ConfigFile
from tests.workers.server import FakeServer
from workers.agent.runtime.spool import Spool


def agent(*arguments: object) -> "subprocess.CompletedProcess[str]":
    argv = [sys.executable, "-m", "workers.agent", *map(str, arguments)]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)


def test_a_bad_configuration_is_one_sentence_and_no_traceback(tmp_path: Path) -> None:
    file = tmp_path / "agent.toml"
    file.write_text('[server]\nurl = "http://127.0.0.1:1"\n')
    answer = agent("run", "--config", file)
    assert answer.returncode == 2
    assert answer.stderr == (
        f"{file}: server.token_file is missing or empty; name a file with the agent's token "
        "or set SPLASHBOARD_AGENT_TOKEN\n"
    )


def test_a_second_agent_on_the_same_spool_is_turned_away(config: ConfigFile) -> None:
    spool = Spool(config.spool)
    try:
        answer = agent("run", "--config", config.file)
    finally:
        spool.close()
    assert answer.returncode == 2
    assert "is used by another agent; stop that one or set agent.spool" in answer.stderr


@pytest.mark.mariadb
def test_check_says_what_can_be_reached_and_changes_nothing(single: ConfigFile, mariadb: MariaDB) -> None:
    before = mariadb.sql("SHOW DATABASES")
    answer = agent("check", "--config", single.file)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    for words in ("server http://", "tool sysbench", "system single at 127.0.0.1", "node db1: ", "will be created"):
        assert words in answer.stdout
    assert mariadb.sql("SHOW DATABASES") == before
    assert mariadb.password not in answer.stdout


def test_a_check_of_the_server_only_asks_no_database(config: ConfigFile) -> None:
    config.add_system("gone", port=1, password="x")
    answer = agent("check", "--server-only", "--config", config.file)
    assert (answer.returncode, len(answer.stdout.splitlines())) == (0, 1), answer.stdout
    assert answer.stdout.startswith("ok      server http://")


@pytest.mark.mariadb
def test_check_names_every_problem_and_the_privileges_that_are_missing(
    single: ConfigFile, mariadb: MariaDB, server: FakeServer
) -> None:
    mariadb.sql("CREATE OR REPLACE USER narrow@'%' IDENTIFIED BY 'n'; GRANT SELECT ON *.* TO narrow@'%'")
    mariadb.sql("GRANT ALL ON other.* TO narrow@'%'")
    try:
        text = single.file.read_text()
        single.file.write_text(text.replace('user = "splashboard"', 'user = "narrow"').replace(mariadb.password, "n"))
        single.add_system("gone", port=1, password="x")
        server.stop()
        answer = agent("check", "--config", single.file)
    finally:
        mariadb.sql("DROP USER narrow@'%'")
    assert answer.returncode == 1
    problems = [line for line in answer.stdout.splitlines() if line.startswith("PROBLEM")]
    assert len(problems) == 3
    assert "Connection refused" in problems[0]
    lacking = "lacks CREATE, DELETE, DROP, INDEX, INSERT, UPDATE on schema splashboard_bench"
    assert f"{lacking}; GRANT ALL ON `splashboard_bench`.*" in problems[1]
    assert "system gone at 127.0.0.1:1: cannot ask for its version" in problems[2]
