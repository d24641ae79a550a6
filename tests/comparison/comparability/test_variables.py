"""Server variables: what differs, what is only a default or a place, and how nodes of a cluster are shown."""

from collections.abc import Mapping

import pytest

from apps.comparison.comparability import variables
from apps.comparison.comparability.differences import Difference, Weight
from apps.comparison.comparability.variables import DEFAULT, PLACE, NodeVariables
from apps.core.canonical import canonical_hash

NOTHING: Mapping[str, str] = {}


def seen(
    own: Mapping[str, str], *, defaults: Mapping[str, str] = NOTHING, node: str = "db1", role: str = "writer"
) -> NodeVariables:
    return NodeVariables(node, role, (canonical_hash(own), canonical_hash(defaults)), own, defaults)


def differing(
    *sides: NodeVariables | tuple[NodeVariables, ...], reported: frozenset[str] = frozenset()
) -> dict[str, Difference]:
    found = variables.differing(tuple(side if isinstance(side, tuple) else (side,) for side in sides), reported)
    return {each.label: each for each in found}


def test_defaults_that_differ_between_versions_are_hidden_unless_they_are_important() -> None:
    """innodb_snapshot_isolation became ON in MariaDB 11.6, and transactions fail for it."""
    plain = {"innodb_snapshot_isolation": "OFF", "max_seeks_for_key": "1", "sync_binlog": "0", "flush": "OFF"}
    one = seen(plain, defaults=plain)
    newer = {**plain, "innodb_snapshot_isolation": "ON", "max_seeks_for_key": "2"}
    other = seen({**newer, "sync_binlog": "1"}, defaults=newer)
    found = differing(one, other)
    assert found["max_seeks_for_key"].hidden == DEFAULT
    changed = found["innodb_snapshot_isolation"]
    assert (changed.hidden, changed.weight) == ("", Weight.IMPORTANT)
    assert changed.pairs == (("OFF", "default"), ("ON", "default"))
    assert found["sync_binlog"].hidden == ""
    assert found["sync_binlog"].pairs == (("0", "default"), ("1", ""))
    assert found["sync_binlog"].weight is Weight.IMPORTANT
    assert found.keys() == {"innodb_snapshot_isolation", "max_seeks_for_key", "sync_binlog"}


def test_an_empty_variable_is_known_and_a_missing_option_is_not_set() -> None:
    one = seen({"relay_log": "", "wsrep_provider_options": "", "init_connect": "x"})
    other = seen({"relay_log": "relay", "wsrep_provider_options": "gcs.fc_limit = 16; evs.version = 1"})
    found = differing(one, other)
    assert found["relay_log"].values == ("empty", "relay")
    assert found["wsrep_provider_options.gcs.fc_limit"].values == ("not set", "16")
    assert found["init_connect"].values == ("x", "no such variable")


def test_without_defaults_nothing_is_taken_for_one() -> None:
    found = differing(seen({"max_connections": "151"}), seen({"max_connections": "500"}))
    assert (found["max_connections"].hidden, found["max_connections"].marks) == ("", ("", ""))


def test_a_default_spelled_otherwise_is_still_the_default() -> None:
    one = seen(
        {"innodb_log_file_size": "100663296", "flush": "ON"}, defaults={"innodb_log_file_size": "96M", "flush": "1"}
    )
    other = seen({"innodb_log_file_size": "1", "flush": "OFF"})
    assert {label: each.marks for label, each in differing(one, other).items()} == {
        "innodb_log_file_size": ("default", ""),
        "flush": ("default", ""),
    }


@pytest.mark.parametrize("name", ["port", "datadir", "log_bin_basename", "gtid_domain_pos", "wsrep_node_name"])
def test_names_and_places_differ_between_any_two_servers_and_are_hidden(name: str) -> None:
    assert differing(seen({name: "1"}), seen({name: "2"}))[name].hidden == PLACE


@pytest.mark.parametrize("name", ["version_malloc_library", "innodb_data_file_path", "version_ssl_library"])
def test_what_is_called_like_a_place_but_is_none_is_shown(name: str) -> None:
    assert differing(seen({name: "a"}), seen({name: "b"}))[name].hidden == ""


def test_a_side_whose_servers_nobody_asked_differs_in_that_alone() -> None:
    found = variables.differing(((seen({"a": "1"}),), ()), frozenset())
    assert [(each.field, each.values) for each in found] == [("variables", ("asked", "not known"))]
    assert variables.differing(((), ()), frozenset()) == ()


def test_nodes_that_differ_by_their_role_are_one_value_and_no_mixture() -> None:
    cluster = (seen({"read_only": "OFF"}), seen({"read_only": "ON"}, node="db2", role="reader"))
    found = differing(seen({"read_only": "OFF"}), cluster)
    assert found["read_only"].values == ("OFF", "OFF on writer, ON on reader")
    assert variables.mixtures(cluster) == ()


def test_one_node_whose_value_changed_from_run_to_run_is_a_mixture() -> None:
    changed = (seen({"max_connections": "100"}), seen({"max_connections": "200"}))
    assert variables.mixtures(changed) == ("max_connections 100 or 200",)


def test_what_is_shown_as_a_setting_is_not_shown_again() -> None:
    assert differing(seen({"x": "1"}), seen({"x": "2"}), reported=frozenset({"x"})) == {}


def test_a_server_that_says_otherwise_than_its_settings_contradicts_them() -> None:
    assert variables.contradicts([seen({"x": "2"})], "x", "1")
    assert not variables.contradicts([seen({"x": "1073741824"})], "x", "1G")
    assert not variables.contradicts([seen({"other": "1"})], "x", "1")
