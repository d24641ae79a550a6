"""Server variables of the sides, without those that differ between any two servers. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from apps.comparison.comparability import differences
from apps.comparison.comparability.differences import NOT_SET, Difference, Fact, FieldGroup, Weight

# Variables that differ between any two servers, or over time on one: names, paths, clocks, positions.
VOLATILE = re.compile(
    r"""^(
        server_id | server_uuid | server_uid | hostname | port | socket | bind_address | extra_port
      | report_(host|port) | .*_?pid_file | basedir | datadir | tmpdir | .*_tmpdir | .*_dir | .*_directory | .*_file
      | (?!innodb_(data|temp_data)_file).*_path | .*_basename | .*_index | log_error | ssl_(ca|cert|key)
      | timestamp | .*_timestamp | identity
      | insert_id | last_insert_id | rand_seed[12] | pseudo_thread_id | last_gtid | gtid_.*_pos | gtid_binlog_state
      | gtid_executed | gtid_purged | gtid_seq_no | version | proxy_user | external_user
      | group_replication_(local_address|group_seeds|group_name)
      | wsrep_node_.* | wsrep_cluster_address | wsrep_sst_receive_address | wsrep_start_position
      | wsrep_provider_options\.(base_.*|.*_addr|.*\.listen_addr|ist\.recv_.*)
    )$""",
    re.VERBOSE,
)
# Text of a known variable with an empty value.
EMPTY = "empty"
PROVIDER_OPTIONS = "wsrep_provider_options"
PLACE, DEFAULT = "a name or path of the server", "at each server's own default"
# Variables that decide the work of a write or a read: durability, logs, memory, threads, caches.
WEIGHTY = frozenset(
    {
        *("innodb_buffer_pool_size", "innodb_flush_log_at_trx_commit", "innodb_doublewrite", "innodb_flush_method"),
        *("innodb_log_file_size", "innodb_redo_log_capacity", "innodb_log_buffer_size", "innodb_page_size"),
        *("innodb_io_capacity", "innodb_io_capacity_max", "innodb_adaptive_hash_index", "innodb_change_buffering"),
        *("innodb_thread_concurrency", "innodb_read_io_threads", "innodb_write_io_threads", "innodb_purge_threads"),
        *("innodb_file_per_table", "innodb_use_native_aio", "innodb_checksum_algorithm", "innodb_autoinc_lock_mode"),
        *("sync_binlog", "log_bin", "binlog_format", "binlog_row_image", "binlog_group_commit_sync_delay"),
        *("binlog_commit_wait_count", "binlog_commit_wait_usec", "log_slave_updates", "log_replica_updates"),
        *("tx_isolation", "transaction_isolation", "innodb_snapshot_isolation", "autocommit"),
        *("thread_handling", "thread_pool_size"),
        *("thread_cache_size", "table_open_cache", "max_connections", "max_prepared_stmt_count"),
        *("query_cache_type", "query_cache_size", "performance_schema", "slow_query_log", "general_log"),
        *("default_storage_engine", "character_set_server", "collation_server", "sql_mode", "optimizer_switch"),
        *("slave_parallel_threads", "slave_parallel_mode", "replica_parallel_workers", "slave_parallel_workers"),
        *("rpl_semi_sync_master_enabled", "rpl_semi_sync_source_enabled", "rpl_semi_sync_master_wait_point"),
        *("wsrep_on", "wsrep_slave_threads", "wsrep_sync_wait", "wsrep_causal_reads", "wsrep_trx_fragment_size"),
        *(
            "group_replication_consistency",
            "group_replication_flow_control_mode",
            "group_replication_paxos_single_leader",
        ),
        *("group_replication_single_primary_mode", "group_replication_communication_stack"),
        *("version_malloc_library", "encrypt_binlog", "innodb_encrypt_tables", "innodb_encrypt_log"),
        *("have_ssl", "tls_version", "require_secure_transport", "userstat"),
    }
)
WORDS = {"on": 1.0, "yes": 1.0, "true": 1.0, "off": 0.0, "no": 0.0, "false": 0.0}
SIZES = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
SIZE = re.compile(r"(-?\d+(?:\.\d+)?)([kmgt]?)")


@dataclass(frozen=True)
class NodeVariables:
    """The variables of one node in some of a side's runs. `defaults`: their values if unset, empty if unknown. Compared
    by `hashes` of both contents."""

    node: str
    role: str
    hashes: tuple[str, str]
    variables: Mapping[str, str] = field(compare=False)
    defaults: Mapping[str, str] = field(compare=False)


def expanded(configuration: Mapping[str, str]) -> dict[str, str]:
    """Each option of wsrep_provider_options, one text with the node's own address, becomes a variable."""
    plain = {name.lower(): str(value) for name, value in configuration.items()}
    for option in plain.pop(PROVIDER_OPTIONS, "").split(";"):
        name, equals, value = option.partition("=")
        if equals:
            plain[f"{PROVIDER_OPTIONS}.{name.strip()}"] = value.strip()
    return plain


def is_same(one: str, other: str) -> bool:
    """Whether two spellings are equal to the server: ON and 1, 1G and 1073741824."""
    return one == other or plain(one) == plain(other)


def plain(value: str) -> str | float:
    """As the server takes it: a number where the text is one, a size or a switch."""
    text = value.strip().lower()
    if text in WORDS:
        return WORDS[text]
    size = SIZE.fullmatch(text)
    return float(size[1]) * SIZES[size[2]] if size else text


@lru_cache(maxsize=128)
def differing(sides: tuple[tuple[NodeVariables, ...], ...], settings: frozenset[str]) -> tuple[Difference, ...]:
    """Differences between the servers of each side. `settings`: names listed elsewhere."""
    if not all(sides):  # a side without variables would differ in everything
        return differences.differences([[_known(seen)] for seen in sides])
    return differences.differences([list(_facts(seen, settings)) for seen in sides])


@lru_cache(maxsize=128)
def mixtures(seen: tuple[NodeVariables, ...]) -> tuple[str, ...]:
    """Variables in which servers of one side differ from run to run, as phrases."""
    return differences.mixtures(fact for fact in _facts(seen, frozenset()) if not fact.hidden)


def value_of(seen: Sequence[NodeVariables], name: str) -> str:
    """As the servers reported it; empty: not collected, or no such variable."""
    return " or ".join(sorted({each.variables[name] for each in seen if name in each.variables}))


def contradicts(seen: Sequence[NodeVariables], name: str, value: str) -> bool:
    """Whether a server reported another value than the one set on purpose."""
    values = [each.variables[name] for each in seen if name in each.variables]
    return any(not is_same(each, value) for each in values)


def _known(seen: Sequence[NodeVariables]) -> Fact:
    text = ("asked",) if seen else ()  # in stored hashes of snapshots
    return Fact("variables", "Server variables", FieldGroup.VARIABLES, Weight.IMPORTANT, text)


def _facts(seen: Sequence[NodeVariables], settings: Collection[str]) -> Iterator[Fact]:
    by_node: dict[str, dict[str, dict[str, bool]]] = {}
    roles = {each.node: each.role or each.node for each in seen}
    for each in seen:
        defaults = expanded(each.defaults)
        for name, value in expanded(each.variables).items():
            nodes = by_node.setdefault(name, {})
            nodes.setdefault(each.node, {})[value] = name in defaults and is_same(value, defaults[name])
    for name in sorted(by_node.keys() - set(settings)):
        yield _fact(name, by_node[name], roles)


def _fact(name: str, nodes: Mapping[str, Mapping[str, bool]], roles: Mapping[str, str]) -> Fact:
    is_default = all(default for values in nodes.values() for default in values.values())
    # A release that changes the default of an important variable has changed the server.
    hidden = PLACE if VOLATILE.match(name) else DEFAULT if is_default and name not in WEIGHTY else ""
    return Fact(
        field=f"variables.{name}",
        label=name,
        group=FieldGroup.VARIABLES,
        weight=Weight.IMPORTANT if name in WEIGHTY and not hidden else Weight.MINOR,
        values=_values(nodes, roles),
        # The list of options exists, but without this option.
        missing=NOT_SET if "." in name else "no such variable",
        mark="default" if is_default else "",
        hidden=hidden,
    )


def _values(nodes: Mapping[str, Mapping[str, bool]], roles: Mapping[str, str]) -> tuple[str, ...]:
    """One value with its roles where the nodes of a cluster differ; several where runs differ."""
    everywhere = sorted({value for values in nodes.values() for value in values})
    if len(everywhere) == 1 or any(len(values) > 1 for values in nodes.values()):
        return tuple(value or EMPTY for value in everywhere)
    holders: dict[str, list[str]] = {}
    for node, values in sorted(nodes.items()):
        holders.setdefault(next(iter(values)), []).append(node)
    return (", ".join(f"{value or EMPTY} on {_named(holders[value], roles)}" for value in everywhere),)


def _named(nodes: Iterable[str], roles: Mapping[str, str]) -> str:
    """Roles, if they distinguish these nodes from the others; else names."""
    own = sorted(nodes)
    taken = {roles[node] for node in own}
    others = {role for node, role in roles.items() if node not in own}
    return " and ".join(sorted(taken) if not taken & others else own)
