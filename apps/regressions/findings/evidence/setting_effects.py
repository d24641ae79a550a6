"""Server variables and what each governs: indicators (use_method), work per transaction, statements. Pure.

Each line: variables | what a higher value does to it (+ more, - less, ~ either) | what they govern, where `*` stands
for any text. `statement.commit` is the COMMIT statement. A variable also governs an indicator whose declaration or
remedy names it. have_ssl is absent: it says what a server could do, not what its connections use.
"""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from apps.comparison.pure import Difference, variables

TABLE = """
innodb_flush_log_at_trx_commit innodb_flush_log_at_timeout | ~ | work.fsyncs redo_log.pending disk.* statement.commit
sync_binlog | ~ | work.binlog.groups disk.* redo_log.pending statement.commit
binlog_commit_wait_count binlog_commit_wait_usec binlog_group_commit_sync_delay | ~ | work.binlog.groups statement.commit
log_bin log_slave_updates log_replica_updates encrypt_binlog | + | work.binlog* work.disk.* work.fsyncs disk.* statement.commit
binlog_format binlog_row_image | ~ | work.binlog work.disk.written work.galera.sent
innodb_doublewrite | + | work.innodb.written work.disk.* work.fsyncs disk.*
innodb_flush_method innodb_use_native_aio | ~ | work.disk.* work.fsyncs disk.* memory.*
innodb_buffer_pool_size | - | buffer_pool.* work.innodb.* work.disk.* disk.*
innodb_buffer_pool_size | + | memory.*
innodb_page_size innodb_change_buffering innodb_change_buffer_max_size | ~ | work.innodb.* work.disk.* buffer_pool.* disk.*
innodb_log_file_size innodb_redo_log_capacity | - | redo_log.age work.innodb.flushed work.innodb.written work.disk.written disk.*
innodb_log_buffer_size | - | redo_log.waits
innodb_io_capacity innodb_io_capacity_max innodb_adaptive_flushing | ~ | work.innodb.flushed work.innodb.written work.disk.* work.fsyncs disk.* buffer_pool.dirty buffer_pool.wait_free redo_log.age
innodb_max_dirty_pages_pct innodb_max_dirty_pages_pct_lwm innodb_adaptive_flushing_lwm innodb_flush_neighbors | ~ | work.innodb.flushed work.innodb.written work.disk.* work.fsyncs disk.* buffer_pool.dirty redo_log.age
innodb_lru_scan_depth innodb_page_cleaners | ~ | buffer_pool.wait_free work.innodb.flushed
innodb_read_io_threads innodb_write_io_threads | ~ | disk.*
innodb_adaptive_hash_index innodb_checksum_algorithm innodb_encrypt_tables innodb_encrypt_log | ~ | work.cpu.* cpu.*
innodb_thread_concurrency thread_handling thread_pool_size | ~ | threads.* cpu.* work.cpu.switches
innodb_purge_threads innodb_max_purge_lag innodb_max_purge_lag_delay | ~ | purge.*
thread_cache_size | - | threads.created work.cpu.*
max_connections | - | connections.refused connections.used connections.failed errors.*
table_open_cache table_open_cache_instances open_files_limit table_definition_cache | - | table_cache.* work.cpu.*
tmp_table_size max_heap_table_size tmp_memory_table_size | - | temporary_tables.* work.temporary.* work.disk.written
sort_buffer_size join_buffer_size | - | temporary_tables.* work.disk.*
query_cache_type query_cache_size | ~ | work.cpu.* cpu.* work.rows.asked
performance_schema userstat | + | work.cpu.* cpu.* memory.used
general_log slow_query_log log_queries_not_using_indexes | + | work.disk.* work.cpu.* cpu.* disk.*
long_query_time | - | work.disk.* work.cpu.* cpu.* disk.*
require_secure_transport tls_version | + | work.cpu.* cpu.* work.net.*
optimizer_switch optimizer_search_depth optimizer_use_condition_selectivity eq_range_index_dive_limit use_stat_tables | ~ | work.rows.asked work.temporary.* temporary_tables.*
histogram_size histogram_type innodb_stats_persistent innodb_stats_method | ~ | work.rows.asked
tx_isolation transaction_isolation innodb_snapshot_isolation | ~ | row_locks.* work.locks.waited errors.* purge.*
innodb_lock_wait_timeout innodb_deadlock_detect innodb_autoinc_lock_mode | ~ | row_locks.* work.locks.waited errors.*
rpl_semi_sync_* | ~ | semi_sync.* statement.commit
slave_parallel_* replica_parallel_* | - | replication.*
wsrep_slave_threads wsrep_provider_options.gcs.fc_* wsrep_sync_wait wsrep_causal_reads wsrep_trx_fragment_size | ~ | galera.* statement.commit
group_replication_* | ~ | group_replication.* statement.commit
"""  # noqa: E501


@dataclass(frozen=True)
class _Rule:
    names: tuple[str, ...]
    sign: int  # of the effect of a higher value; 0: either
    governed: tuple[str, ...]


@cache
def _rules() -> tuple[_Rule, ...]:
    found = []
    for line in TABLE.strip().splitlines():
        names, sign, governed = line.split(" | ")
        found.append(_Rule(tuple(names.split()), {"+": 1, "-": -1, "~": 0}[sign], tuple(governed.split())))
    return tuple(found)


def governs(setting: Difference, key: str, *, rose: bool, declared: str = "") -> bool:
    """Whether the change of this variable may have raised (else lowered) what has this key. `declared`: the words of
    its declaration, searched for the variable's name."""
    if names(setting, declared):
        return True
    name, step = setting.label, _step(setting)
    return any(
        any(fnmatchcase(name, pattern) for pattern in rule.names)
        and any(fnmatchcase(key, pattern) for pattern in rule.governed)
        and (not rule.sign or not step or (rule.sign * step > 0) is rose)
        for rule in _rules()
    )


def names(setting: Difference, text: str) -> bool:
    return bool(text) and re.search(rf"\b{re.escape(setting.label)}\b", text) is not None


def _step(setting: Difference) -> float:
    """Of the value, where both are numbers, sizes or switches; 0: not known."""
    values = [variables.plain(each) for each in (setting.in_effect[0], setting.in_effect[-1])]
    numbers = [each for each in values if isinstance(each, float)]
    return numbers[1] - numbers[0] if len(numbers) == 2 else 0.0
