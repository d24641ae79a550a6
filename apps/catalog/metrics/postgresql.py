"""Metrics that are sampled of PostgreSQL, in the format of standard; of further columns by rules. Pure.

Keys are named after the newest version's views: `postgresql.database` is pg_stat_database, and so on.
"""

PREFIX = "postgresql."

METRICS = """
database.xact_commit | transactions committed | transactions | counter | higher | transactions | -
    Of the database, the sampler's own included. A session reports its counts once a second: single seconds are uneven.
database.xact_rollback | transactions rolled back | transactions | counter | lower | transactions | errors
    Of the database: by ROLLBACK, or after an error.
database.blks_hit | blocks found | blocks | counter | neutral | buffer pool | utilization
    Blocks of 8 kB requested and found in shared_buffers.
database.blks_read | blocks read | blocks | counter | lower | buffer pool | saturation
    Blocks requested and not found in shared_buffers; the kernel's cache may have had them.
database.blk_read_time | time of block reads | ms | counter | lower | disk | saturation
    Time that sessions waited for blocks to be read; with track_io_timing only.
database.blk_write_time | time of block writes | ms | counter | lower | disk | saturation
    Time that sessions waited for blocks to be written; with track_io_timing only.
database.tup_returned | rows scanned | rows | counter | neutral | statements | -
    Live rows of sequential scans, and entries of index scans.
database.tup_fetched | rows fetched by index | rows | counter | neutral | statements | -
    Live rows that index scans fetched.
database.tup_inserted | rows inserted | rows | counter | neutral | statements | -
    Rows inserted.
database.tup_updated | rows updated | rows | counter | neutral | statements | -
    Rows updated.
database.tup_deleted | rows deleted | rows | counter | neutral | statements | -
    Rows deleted.
database.deadlocks | deadlocks | deadlocks | counter | lower | row locks | errors
    Deadlocks resolved by cancelling a transaction.
database.conflicts | statements cancelled by recovery | statements | counter | lower | replication | errors
    Of a standby: statements cancelled because the primary removed what they read.
database.temp_files | temporary files | files | counter | lower | temporary tables | saturation
    Sorts and hashes that did not fit in work_mem.
database.temp_bytes | temporary files written | bytes | counter | lower | temporary tables | saturation
    Bytes written to temporary files.
database.numbackends | sessions of the database | sessions | gauge | neutral | connections | utilization
    Connections to the database, the sampler's own included.
database.active_time | time in statements | ms | counter | neutral | statements | utilization
    Time that sessions spent in statements, summed; reported when a statement ends; from version 14 on.
database.idle_in_transaction_time | time idle in transactions | ms | counter | lower | transactions | saturation
    Time that sessions spent in a transaction without a statement, summed; from version 14 on.
sessions.total | client sessions | sessions | gauge | neutral | connections | utilization
    Of all databases, without the sampler's own.
sessions.active | sessions in a statement | sessions | gauge | neutral | cpu | saturation
    Client sessions with a statement in execution, those that wait included.
sessions.idle | sessions idle | sessions | gauge | neutral | connections | -
    Client sessions that wait for their client, outside of transactions.
sessions.idle_in_transaction | sessions idle in a transaction | sessions | gauge | neutral | transactions | -
    Client sessions that wait for their client within a transaction.
waiting.lock | sessions waiting for locks | sessions | gauge | lower | row locks | saturation
    Client sessions in a statement that wait for a lock of a row, a table or another object.
waiting.lwlock | sessions waiting for latches | sessions | gauge | lower | latches | saturation
    Client sessions in a statement that wait for a lock of the server's own memory, such as that of the WAL.
waiting.io | sessions waiting for reads and writes | sessions | gauge | lower | disk | saturation
    Client sessions in a statement that wait for a file, such as the fsync of the WAL.
waiting.client | sessions waiting for their client | sessions | gauge | neutral | network | saturation
    Client sessions in a statement that wait to send to their client, or for data from it.
wal.position | WAL written up to | bytes | counter | neutral | redo log | utilization
    Position in the write-ahead log; of a standby, up to which it has replayed it. The rate is exact.
wal.wal_records | WAL records | records | counter | neutral | redo log | -
    Records written to the write-ahead log; from version 14 on.
wal.wal_fpi | WAL full pages | pages | counter | lower | redo log | -
    Whole pages written to the write-ahead log: the first change of each after a checkpoint.
wal.wal_bytes | WAL bytes | bytes | counter | neutral | redo log | utilization
    Bytes of WAL records, as sessions report them; from version 14 on.
wal.wal_buffers_full | waits for WAL buffers | writes | counter | lower | redo log | saturation
    Times that the WAL's buffers were full and had to be written first.
wal.wal_sync | WAL syncs | fsyncs | counter | neutral | redo log | utilization
    Times that WAL files were synced; versions 14 to 17.
checkpointer.num_timed | checkpoints by time | checkpoints | counter | neutral | checkpoints | -
    Checkpoints that checkpoint_timeout caused.
checkpointer.num_requested | checkpoints requested | checkpoints | counter | lower | checkpoints | saturation
    Checkpoints caused by the volume of WAL (max_wal_size), or by a statement.
checkpointer.write_time | time of checkpoints' writes | ms | counter | neutral | checkpoints | utilization
    Time in which checkpoints wrote buffers; counted when one ends.
checkpointer.sync_time | time of checkpoints' syncs | ms | counter | lower | checkpoints | saturation
    Time in which checkpoints synced files; counted when one ends.
checkpointer.buffers_written | buffers written by checkpoints | buffers | counter | neutral | checkpoints | utilization
    Dirty buffers that checkpoints wrote.
bgwriter.buffers_clean | buffers written by the background writer | buffers | counter | neutral | buffer pool | -
    Dirty buffers written ahead of need.
bgwriter.maxwritten_clean | stops of the background writer | stops | counter | lower | buffer pool | saturation
    Rounds that it ended early because it had written bgwriter_lru_maxpages.
bgwriter.buffers_backend | buffers written by sessions | buffers | counter | lower | buffer pool | saturation
    Dirty buffers that sessions had to write themselves; up to version 16.
bgwriter.buffers_alloc | buffers allocated | buffers | counter | neutral | buffer pool | -
    Buffers taken for other blocks.
replication.standbys | standbys connected | standbys | gauge | neutral | replication | -
    Receivers of this server's WAL.
replication.unreplayed_bytes | WAL not replayed | bytes | gauge | lower | replication | saturation
    Of the standby furthest behind, from this server's position; seen with pg_monitor only.
uptime | uptime | s | counter | neutral | - | -
    Time since the server started; it falls when the server restarted.
"""
GAUGES = ("database.numbackends", "sessions.*", "waiting.*", "replication.*")
UNITS = (
    ("*_time", "ms"),
    ("*_bytes", "bytes"),
    ("database.tup_*", "rows"),
    ("database.blks_*", "blocks"),
    ("*.buffers_*", "buffers"),
    ("database.sessions*", "sessions"),
    ("sessions.*", "sessions"),
    ("waiting.*", "sessions"),
    ("checkpointer.num_*", "checkpoints"),
    ("database.checksum_failures", "blocks"),
)
RESOURCES = (
    ("database.blk*", "buffer pool"),
    ("database.session*", "connections"),
    ("sessions.*", "connections"),
    ("checkpointer.*", "checkpoints"),
    ("bgwriter.*", "buffer pool"),
    ("wal.*", "redo log"),
    ("replication.*", "replication"),
)
