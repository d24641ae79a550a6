"""On a real server."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from lab.mariadb import MariaDB
from workers.agent.measure import database
from workers.agent.measure.job import clean_leftovers
from workers.agent.programs.report import Secrets, secrets_of
from workers.agent.runtime.config import NodeConfig, ServerAddress, SystemConfig
from workers.agent.runtime.journal import Journal, Leftover
from workers.agent.samplers.mysql import GlobalStatus
from workers.agent.samplers.process import ServerProcess, server_pid
from workers.protocol.wire import AwsMessage

pytestmark = pytest.mark.mariadb


@pytest.fixture
def system(mariadb: MariaDB) -> Iterator[SystemConfig]:
    address = ServerAddress(port=mariadb.port)
    yield SystemConfig(
        slug="single",
        name="single",
        platform="mariadb",
        hardware_class="box",
        address=address,
        user="splashboard",
        password=mariadb.password,
        database="sb_test",
        nodes=(NodeConfig(name="db1", role="writer", zone="", address=address, local=True),),
        settings={},
    )
    mariadb.sql("DROP DATABASE IF EXISTS sb_test")


def test_a_schema_is_made_and_dropped_when_it_was_not_there(system: SystemConfig, mariadb: MariaDB) -> None:
    workspace = database.plan_workspace(system, ["sbtest1"])
    assert (workspace.created, workspace.schema) == (True, "sb_test")
    database.create_schema(system, workspace)
    mariadb.sql("CREATE TABLE sb_test.sbtest1 (id INT)")
    assert database.remove_workspace(system, workspace) == []
    assert "sb_test" not in mariadb.sql("SHOW DATABASES")
    assert database.remove_workspace(system, workspace) == []


def test_an_account_without_rights_on_its_schema_is_denied(system: SystemConfig, mariadb: MariaDB) -> None:
    mariadb.sql("CREATE USER narrow@'%' IDENTIFIED BY 'x'; GRANT ALL ON other.* TO narrow@'%'")
    try:
        narrow = replace(system, user="narrow", password="x")
        workspace = database.plan_workspace(narrow, ["sbtest1"])
        with pytest.raises(database.AccessDenied, match=r"cannot create schema sb_test: 1044 Access denied"):
            database.create_schema(narrow, workspace)
    finally:
        mariadb.sql("DROP USER narrow@'%'")
    with pytest.raises(database.AccessDenied, match="1045"):
        database.version(replace(system, user="narrow", password="x"))


def test_connections_outlast_a_load_though_the_server_ends_idle_ones(system: SystemConfig, mariadb: MariaDB) -> None:
    secrets = msgspec.json.decode(secrets_of(system, ""), type=Secrets)
    mariadb.sql("SET GLOBAL wait_timeout = 10")
    try:
        for opened in (database.connect(system, address=system.address, timeout=10), secrets.connect(schema=False)):
            with closing(opened), opened.cursor() as cursor:
                cursor.execute("SELECT @@wait_timeout")
                assert cursor.fetchall()[0][0] > 24 * 3600
    finally:
        mariadb.sql("SET GLOBAL wait_timeout = DEFAULT")


def test_an_empty_schema_that_was_there_stays(system: SystemConfig, mariadb: MariaDB) -> None:
    mariadb.sql("CREATE DATABASE sb_test")
    workspace = database.plan_workspace(system, ["sbtest1"])
    assert not workspace.created
    database.create_schema(system, workspace)
    mariadb.sql("CREATE TABLE sb_test.sbtest1 (id INT)")
    database.remove_workspace(system, workspace)
    assert "sb_test" in mariadb.sql("SHOW DATABASES")
    assert mariadb.sql("SHOW TABLES FROM sb_test") == ""


def test_a_schema_with_tables_of_others_is_not_touched(system: SystemConfig, mariadb: MariaDB) -> None:
    mariadb.sql("CREATE DATABASE sb_test; CREATE TABLE sb_test.sbtest1 (id INT)")
    with pytest.raises(database.SchemaOccupied, match=r"already holds 1 tables .* \(sbtest1\); empty it, or name"):
        database.plan_workspace(system, ["sbtest1"])
    assert mariadb.sql("SHOW TABLES FROM sb_test") == "sbtest1\n"


def test_a_table_that_someone_adds_meanwhile_keeps_the_schema(system: SystemConfig, mariadb: MariaDB) -> None:
    workspace = database.plan_workspace(system, ["sbtest1"])
    database.create_schema(system, workspace)
    mariadb.sql("CREATE TABLE sb_test.sbtest1 (id INT); CREATE TABLE sb_test.precious (id INT)")
    assert database.remove_workspace(system, workspace) == ["precious"]
    assert mariadb.sql("SHOW TABLES FROM sb_test") == "precious\n"


def test_tables_that_somebody_made_later_under_a_job_s_names_are_kept(
    system: SystemConfig, mariadb: MariaDB, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    workspace, journal = database.plan_workspace(system, ["sbtest1"], owner="job 7"), Journal(tmp_path)
    database.create_schema(system, workspace)
    journal.add_leftover(Leftover(system="single", workspace=workspace))
    mariadb.sql("DROP DATABASE sb_test; CREATE DATABASE sb_test; CREATE TABLE sb_test.sbtest1 (id INT)")
    for _ in range(2):
        clean_leftovers(system, journal)
    assert mariadb.sql("SHOW TABLES FROM sb_test") == "sbtest1\n"
    assert len(journal.leftovers()) == 1
    assert caplog.text.count("schema sb_test of system single holds sbtest1, as an earlier job did, but not the") == 1
    mariadb.sql("DROP TABLE sb_test.sbtest1")
    clean_leftovers(system, journal)
    assert journal.leftovers() == []
    assert "sb_test" in mariadb.sql("SHOW DATABASES")


def test_tables_that_an_agent_before_marks_left_do_not_occupy_the_schema_for_ever(
    system: SystemConfig, mariadb: MariaDB, tmp_path: Path
) -> None:
    mariadb.sql("CREATE DATABASE sb_test; CREATE TABLE sb_test.sbtest1 (id INT)")
    (tmp_path / "leftovers").mkdir()
    (tmp_path / "leftovers" / "single-sb_test.json").write_text(
        '{"system": "single", "workspace": {"schema": "sb_test", "tables": ["sbtest1"], "created": true}}'
    )
    journal = Journal(tmp_path)
    clean_leftovers(system, journal)
    assert journal.leftovers() == []
    assert database.plan_workspace(system, ["sbtest1"]).created


def test_tables_with_a_job_s_mark_are_not_those_that_an_agent_before_marks_left(
    system: SystemConfig, mariadb: MariaDB
) -> None:
    workspace = database.plan_workspace(system, ["sbtest1"], owner="job 7")
    database.create_schema(system, workspace)
    mariadb.sql("CREATE TABLE sb_test.sbtest1 (id INT)")
    with pytest.raises(database.Unmarked):
        database.remove_workspace(system, replace(workspace, mark=""))
    assert "sbtest1" in mariadb.sql("SHOW TABLES FROM sb_test")


def test_two_jobs_cannot_have_one_schema_and_neither_drops_the_other_s_tables(
    system: SystemConfig, mariadb: MariaDB
) -> None:
    mariadb.sql("CREATE DATABASE sb_test")
    first, second = (database.plan_workspace(system, ["sbtest1"], owner="job 7") for _ in range(2))
    database.create_schema(system, first)
    mariadb.sql("CREATE TABLE sb_test.sbtest1 (id INT)")
    with pytest.raises(database.DatabaseFailed, match="cannot mark schema sb_test: 1050"):
        database.create_schema(system, second)
    assert (database.is_marked(system, first), database.is_marked(system, second)) == (True, False)
    with pytest.raises(database.Unmarked):
        database.remove_workspace(system, second)
    assert database.remove_workspace(system, first) == []
    assert mariadb.sql("SHOW TABLES FROM sb_test") == ""


def test_missing_rows_are_noticed(system: SystemConfig, mariadb: MariaDB) -> None:
    workspace = database.plan_workspace(system, ["sbtest1"])
    database.create_schema(system, workspace)
    mariadb.sql("CREATE TABLE sb_test.sbtest1 (id INT); INSERT INTO sb_test.sbtest1 VALUES (1), (2)")
    database.check_rows(system, workspace, dict.fromkeys(workspace.tables, 2))
    with pytest.raises(database.WrongData, match="table sbtest1 holds 2 rows after prepare, not 3"):
        database.check_rows(system, workspace, dict.fromkeys(workspace.tables, 3))


def test_a_database_that_cannot_be_reached_is_named_with_its_own_words(system: SystemConfig) -> None:
    with pytest.raises(database.DatabaseFailed, match=r"system single at 127\.0\.0\.1:1: cannot ask for its version"):
        database.version(replace(system, address=ServerAddress(port=1)))
    with pytest.raises(database.DatabaseFailed, match="Access denied"):
        database.version(replace(system, password="wrong"))


def test_a_server_that_is_not_aurora_is_called_by_its_version_alone_and_aurora_by_both(system: SystemConfig) -> None:
    plain = database.version(system)
    assert database.version(replace(system, aws=AwsMessage(region="eu-west-1", instance="one"))) == plain
    assert database.with_aurora("8.0.32", "3.05.2") == "8.0.32 Aurora 3.05.2"


def test_variables_are_read_without_secrets(system: SystemConfig) -> None:
    found = database.variables(system, system.address)
    assert found["innodb_flush_log_at_trx_commit"] == "2"
    assert len(found) > 400
    assert not [name for name in found if "password" in name or "secret" in name or name == "wsrep_sst_auth"]
    assert "ssl_key" in found
    assert "gtid_binlog_pos" not in found


def test_defaults_are_the_servers_own_words_and_tell_what_was_set(system: SystemConfig) -> None:
    found = database.variables(system, system.address)
    defaults = database.defaults(system, system.address)
    assert defaults is not None
    assert defaults["innodb_flush_log_at_trx_commit"] == "1"  # this server was started with 2
    # What the server chose by itself is what it would choose again.
    assert defaults["back_log"] == found["back_log"]
    assert len(defaults) > 400
    # Spelled alike, so that few differ: what this server was started with.
    differing = {name for name, value in defaults.items() if name in found and found[name] != value}
    assert len(differing) < 40
    assert "port" in differing
    assert database.defaults(replace(system, address=ServerAddress(port=1)), ServerAddress(port=1)) is None


def test_the_size_of_a_schema_is_that_of_its_files_as_soon_as_they_are_written(
    system: SystemConfig, mariadb: MariaDB
) -> None:
    mariadb.sql(
        "CREATE DATABASE sb_test; CREATE TABLE sb_test.filled (id INT PRIMARY KEY, filler CHAR(250)) CHARSET latin1;"
        "INSERT INTO sb_test.filled SELECT seq, REPEAT('x', 250) FROM mysql.seq_1_to_20000;"
        "CREATE VIEW sb_test.seen AS SELECT 1"
    )
    size = database.data_bytes(system, "sb_test")
    assert size is not None
    assert 5_000_000 < size < 20_000_000
    assert database.data_bytes(system, "sbXtest") is None  # an underscore is no wildcard
    assert database.data_bytes(system, "no_such") is None


def test_secrets_within_option_lists_are_cut_out() -> None:
    kept = database.configuration(
        {
            "wsrep_provider_options": "gcache.size = 128M; socket.ssl_password = hunter2; evs.version = 1",
            "wsrep_sst_auth": "root:hunter2",
            "report_password": "hunter2",
            "ssl_key": "/etc/key.pem",
            "gtid_current_pos": "0-1-2",
            "gtid_domain_id": "0",
        }
    )
    assert kept == {
        "wsrep_provider_options": "gcache.size = 128M; evs.version = 1",
        "ssl_key": "/etc/key.pem",
        "gtid_domain_id": "0",
    }


def test_the_servers_own_counters_and_process_are_read(system: SystemConfig, mariadb: MariaDB) -> None:
    source = GlobalStatus(system, system.address)
    first, second = source.read().values, source.read().values
    source.close()
    assert len(first) > 450
    assert first.keys() == second.keys()
    assert first["mysql.status.Com_show_status"] == second["mysql.status.Com_show_status"], "asked for one row"
    assert (second["mysql.status.Com_select"] or 0) == (first["mysql.status.Com_select"] or 0) + 1
    assert server_pid(system, system.address) == mariadb.pid
    assert (ServerProcess(lambda: mariadb.pid).read().values["process.rss"] or 0) > 10_000_000
