"""Secrets in variables and command lines do not pass; all else does."""

import time

import pytest

from tests.paths import DATA
from workers.protocol.secrets import (
    first_secret,
    value_without_secrets,
    without_secret_options,
    without_secrets,
    without_secrets_in,
)


def test_variables_that_may_hold_a_secret_are_left_out() -> None:
    given = {
        "wsrep_sst_auth": "root:hunter2",
        "ssl_passphrase": "hunter2",
        "init_connect": "SET PASSWORD = PASSWORD('hunter2')",
        "report_password": "hunter2",
        "aws_secret_access_key": "hunter2",
        "file_key_management_filekey": "hunter2",
        "primary_conninfo": "host=db0 user=replica password=hunter2",
        "archive_command": "AWS_SECRET_ACCESS_KEY=hunter2 aws s3 cp %p s3://wal/",
        "restore_command": "scp backup:hunter2 %p",
        "wsrep_provider_options": "gcache.size = 1G; socket.ssl_password = hunter2; evs.version = 1",
        "ssl_key": "/etc/mysql/key.pem",
        "innodb_buffer_pool_size": "134217728",
        "file_key_management_filename": "/etc/mysql/keys.enc",
        "wsrep_cluster_address": "gcomm://root:hunter2@db1,db2",
        "log_replication_commands": "off",
        "log_line_prefix": "%m [%p] ",
    }
    kept = without_secrets(given)
    assert kept == {
        "wsrep_provider_options": "gcache.size = 1G; evs.version = 1",
        "ssl_key": "/etc/mysql/key.pem",
        "innodb_buffer_pool_size": "134217728",
        "file_key_management_filename": "/etc/mysql/keys.enc",
        "wsrep_cluster_address": "gcomm://root:*@db1,db2",
        "log_replication_commands": "off",
        "log_line_prefix": "%m [%p] ",
    }


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("mysqldump --password=hunter2 failed", "mysqldump --password=* failed"),
        (
            {"command": "mysql://root:hunter2@db1/x", "token": "hunter2"},
            {"command": "mysql://root:*@db1/x", "token": "*"},
        ),
        (
            {"tried": [{"text": "IDENTIFIED BY 'hunter2'"}, 3, None]},
            {"tried": [{"text": "IDENTIFIED BY '*'"}, 3, None]},
        ),
        ("Access denied for 'a'@'b' (using password: YES)",) * 2,
        ("kill -9 writer db1 \N{SNOWMAN}",) * 2,
    ],
)
def test_reasons_and_events_show_no_secret(given: object, kept: object) -> None:
    assert value_without_secrets(given) == kept == value_without_secrets(kept)


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("sysbench --mysql-password=hunter2 --threads=4 run", "sysbench --mysql-password=* --threads=4 run"),
        ("tool --pass 'hunter 2' --port 3306", "tool --pass * --port 3306"),
        ("mysqlslap -uroot -phunter2 -P3306", "mysqlslap -uroot -p* -P3306"),
        ("bench -p3306 --time 60", "bench -p3306 --time 60"),
        ("ycsb -p jdbc=mysql://root:hunter2@db1:3306/ycsb", "ycsb -p jdbc=mysql://root:*@db1:3306/ycsb"),
        ("MYSQL_PWD=hunter2 sysbench run", "MYSQL_PWD=* sysbench run"),
        ('hammerdbcli --password="a b" --rate=60', "hammerdbcli --password=* --rate=60"),
        ("PGPASSWORD=hunter2 pgbench -S -p 5432", "PGPASSWORD=* pgbench -S -p 5432"),
        ("pgbench -S postgresql://me:hunter2@db1:5432/x", "pgbench -S postgresql://me:*@db1:5432/x"),
        (
            "pgbench 'postgres://db1/x?user=me&password=hunter2&a=b'",
            "pgbench 'postgres://db1/x?user=me&password=*&a=b'",
        ),
        ("pgbench -S 'host=db1 password=hunter2 dbname=x'", "pgbench -S 'host=db1 password=* dbname=x'"),
        ("pgbench 'password = hunter2 host=db1'", "pgbench 'password = * host=db1'"),
        (
            "pgbench 'host=db1 password='\"'\"'hunter 2'\"'\"' dbname=x'",
            "pgbench 'host=db1 password=* dbname=x'",
        ),
        (r"pgbench 'host=db1 password=\'hunter\'s 2\' dbname=x'", "pgbench 'host=db1 password=*"),
        ("pgbench 'host=db1 password='hunter 2", "pgbench 'host=db1 password=*"),
        ("sysbench oltp_read_write --tables=4 --rand-type=pareto run",) * 2,
    ],
)
def test_a_command_line_shows_no_secret(command: str, kept: str) -> None:
    assert without_secret_options(command) == kept
    assert without_secret_options(kept) == kept


SHOWN = [
    ("sysbench --mysql-password=hunter2 run", "sysbench --mysql-password=* run"),
    ("       [pass]: hunter2", "       [pass]: *"),
    ("option p with value 'hunter2'", "option p with value '*'"),
    ("Changed tpcc:mysql_pass from mysql to hunter2", "Changed tpcc:mysql_pass from *"),
    ('{"user": "root", "password": "hunter2", "time": 3}', '{"user": "root", "password": "*", "time": 3}'),
    ('{"command": "x --password=\\"hunter 2\\" -t 4"}', '{"command": "x --password=* -t 4"}'),
    ("wsrep_sst_auth = root:hunter2", "wsrep_sst_auth = *"),
    ("CREATE USER a@b IDENTIFIED BY 'hunter2' REQUIRE SSL", "CREATE USER a@b IDENTIFIED BY '*' REQUIRE SSL"),
    ("jdbc:mariadb://root:hunter2@db1/test", "jdbc:mariadb://root:*@db1/test"),
    ("+ mysql -uroot -phunter2 -h db1", "+ mysql -uroot -p* -h db1"),
    ("AWS_SECRET_ACCESS_KEY=hunter2 aws rds", "AWS_SECRET_ACCESS_KEY=* aws rds"),
]


@pytest.mark.parametrize(("line", "clean"), SHOWN)
def test_a_file_shows_no_secret_and_is_otherwise_the_same(line: str, clean: str) -> None:
    around = "[ 1s ] thds: 4 tps: 12.50 \xff\x80\r\nlatency -p99 7\n{}\nend"
    content, cleaned = (around.format(text).encode("latin-1") for text in (line, clean))
    assert without_secrets_in(content) == cleaned == without_secrets_in(cleaned)
    assert (first_secret(content), first_secret(cleaned)) == (3, None)
    assert first_secret(cleaned.replace(b"*", b"******")) is None


def test_recorded_outputs_are_left_as_they_are() -> None:
    """The list must not reach what is measured."""
    files = [path for path in DATA.rglob("*") if path.is_file() and path.suffix not in (".gz", ".zip", ".zst")]
    assert len(files) > 50
    assert [str(path) for path in files if first_secret(path.read_bytes()) is not None] == []


@pytest.mark.parametrize(
    "grain",
    [
        "a",
        "pass",
        "-pass",
        " -p",
        "TOKEN",
        "://a:",
        '"',
        " ",
        "=",
        "secret=",
        ' --pass="',
        r"password=\'",
        r"password=\'a ",
    ],
)
@pytest.mark.parametrize("start", ["", " -", "a://"])
def test_a_long_text_takes_time_in_proportion_to_its_length(grain: str, start: str) -> None:
    text = start + grain * (200_000 // len(grain))
    began = time.process_time()
    without_secret_options(text)
    first_secret(text.encode())
    without_secrets({"wsrep_provider_options": text, text: ""})
    # Ms; with the square of the length it would be minutes.
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    "content",
    [
        b"PPASSWORD='a bsql://u:pASSWORD='\0\0\x80 fPGPASS\0SWORD='@h/ -token @\0\"",
        b'--token "/d --token "q" --token "r',
    ],
)
def test_the_server_finds_no_secret_in_what_the_agent_hid(content: bytes) -> None:
    cleaned = without_secrets_in(content)
    assert without_secrets_in(cleaned) == cleaned
    assert first_secret(cleaned) is None
