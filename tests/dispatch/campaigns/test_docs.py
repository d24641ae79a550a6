"""The documented campaign file is one, its table names every field, and the articles' campaign is right."""

import re

import pytest

from apps.catalog import services as catalog
from apps.dispatch.campaigns import file
from tests.paths import ROOT
from tests.support.builders import a_system

DOCUMENT = (ROOT / "docs" / "howto" / "campaigns.md").read_text()


@pytest.fixture(autouse=True)
def lab(db: None) -> None:
    catalog.seed()
    for slug in ("single", "galera", "mha", "mha-semisync", "galera-suspect1", "galera-3dc"):
        a_system(slug)


def test_the_documented_file_is_right() -> None:
    example = re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL)[0]
    checked = file.check(example.encode())
    assert (len(checked.entries), checked.size.jobs) == (4, (3 * 2 + 1) * 3)
    # Two load levels of one, a ramp of nine, a storm of four, and a failover once.
    assert checked.size.runs == ((2 + 9 + 4) * 2 + 1) * 3


def test_the_table_of_fields_names_those_of_the_schema() -> None:
    table = DOCUMENT.partition("## Fields")[2].partition("\n## ")[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    schema = file.SCHEMA
    known = {*schema["properties"], *schema["$defs"]["workload"]["properties"]} - {"workloads"}
    assert named == known
    climb = schema["$defs"]["workload"]["properties"]["climb"]["properties"]
    assert all(f"`{name}`" in table for name in climb)


def test_architectures_are_compared_by_several_tools_in_less_than_25_minutes() -> None:
    checked = file.check((ROOT / "campaigns" / "comparison.yaml").read_bytes())
    tools = {entry.workload.tool for entry in checked.entries if entry.workload}
    assert tools == {"sysbench_oltp", "asyncload", "slap", "app_oltp"}
    assert checked.repetitions == 3
    assert checked.size.seconds < 25 * 60


def test_the_articles_study_is_right_and_takes_about_an_hour() -> None:
    content = (ROOT / "campaigns" / "articles.yaml").read_bytes()
    checked = file.check(content)
    tools = {entry.workload.tool for entry in checked.entries if entry.workload}
    assert tools == {
        *("iibench", "app_ingest", "app_oltp", "tpcc_like", "sysbench_oltp"),
        *("failover", "execution_latency", "ddl_under_load"),
    }
    usual = ["single", "galera", "mha"]
    assert [system.slug for system in checked.systems] == [*usual, "mha-semisync", "galera-suspect1", "galera-3dc"]
    assert checked.repetitions == 3
    # If no ladder ended early.
    assert checked.size.seconds <= 60 * 60
    parameters = {"fault": "kill_writer"}
    killed = next(
        each for each in checked.entries if each.workload and parameters.items() <= each.workload.parameters.items()
    )
    assert killed.levels == ["1 thread"]
    assert killed.system_slugs == [system.slug for system in checked.systems if system.slug != "single"]
