"""The curated metrics of database servers and their machines, in the format of standard. Pure."""

# Keys below mysql.status, as SHOW GLOBAL STATUS names them.
STATUS = """
Questions | statements from clients | statements | counter | higher | statements | -
    Statements that clients sent, without those inside stored programs.
Queries | statements | statements | counter | higher | statements | -
    Statements executed, with those inside stored programs.
Com_select | SELECT | statements | counter | neutral | statements | -
    SELECT statements; a hit in the query cache does not count.
Com_insert | INSERT | statements | counter | neutral | statements | -
    INSERT statements; many rows in one count once.
Com_update | UPDATE | statements | counter | neutral | statements | -
    UPDATE statements.
Com_delete | DELETE | statements | counter | neutral | statements | -
    DELETE statements.
Com_begin | BEGIN | statements | counter | neutral | statements | -
    Transactions begun by statement.
Com_commit | COMMIT | statements | counter | higher | statements | -
    COMMIT statements; autocommitted ones do not count.
Com_rollback | ROLLBACK | statements | counter | lower | statements | errors
    ROLLBACK statements.
Slow_queries | slow statements | statements | counter | lower | statements | saturation
    Statements that took longer than long_query_time.
Threads_running | threads running | threads | gauge | neutral | cpu | saturation
    Connections with a statement in execution; far above the number of CPUs, they wait for each other.
Threads_connected | connections open | threads | gauge | neutral | connections | utilization
    Open connections, against max_connections.
Threads_created | threads created | threads | counter | lower | connections | -
    Connections for which no cached thread was left.
Max_used_connections | most connections | connections | gauge | neutral | connections | utilization
    Most connections open at once since the start.
Connections | connection attempts | connections | counter | neutral | connections | -
    Connections tried, successful or not.
Aborted_clients | connections lost | connections | counter | lower | connections | errors
    Connections whose client ended without closing them.
Aborted_connects | connections refused | connections | counter | lower | connections | errors
    Connection attempts that failed.
Connection_errors_max_connections | connections used up | errors | counter | lower | connections | saturation
    Attempts refused because max_connections was reached.
Connection_errors_internal | internal errors | errors | counter | lower | connections | errors
    Attempts refused because the server had no memory or no thread.
Bytes_received | bytes received | bytes | counter | neutral | network | utilization
    Bytes from clients.
Bytes_sent | bytes sent | bytes | counter | neutral | network | utilization
    Bytes to clients.
Innodb_row_lock_waits | row lock waits | waits | counter | lower | row locks | saturation
    Waits of transactions for a row lock.
Innodb_row_lock_time | row lock wait time | ms | counter | lower | row locks | saturation
    Time that transactions waited for row locks, summed; its rate divided by 1,000 is the mean number waiting at once.
Innodb_row_lock_time_avg | mean row lock wait | ms | gauge | lower | row locks | saturation
    Mean row lock wait since the start of the server, not of the run.
Innodb_row_lock_time_max | longest row lock wait | ms | gauge | lower | row locks | saturation
    Longest row lock wait since the start of the server.
Innodb_row_lock_current_waits | transactions waiting for rows | waits | gauge | lower | row locks | saturation
    Transactions waiting for a row lock now.
Innodb_deadlocks | deadlocks | deadlocks | counter | lower | row locks | errors
    Transactions rolled back to resolve a deadlock.
Innodb_buffer_pool_read_requests | buffer pool read requests | reads | counter | neutral | buffer pool | utilization
    Pages requested from the buffer pool.
Innodb_buffer_pool_reads | buffer pool misses | reads | counter | lower | buffer pool | saturation
    Pages that the buffer pool had to read from disk while a statement waited.
Innodb_buffer_pool_wait_free | waits for a free page | waits | counter | lower | buffer pool | saturation
    Waits of statements for a page to be flushed before they could read one.
Innodb_buffer_pool_pages_dirty | dirty pages | pages | gauge | neutral | buffer pool | utilization
    Changed pages that are not yet written.
Innodb_buffer_pool_pages_free | free pages | pages | gauge | neutral | buffer pool | utilization
    Unused pages of the buffer pool.
Innodb_buffer_pool_pages_total | pages, total | pages | gauge | neutral | buffer pool | -
    Size of the buffer pool.
Innodb_buffer_pool_pages_flushed | pages flushed | pages | counter | neutral | buffer pool | -
    Dirty pages written out.
Innodb_buffer_pool_bytes_data | data in the buffer pool | bytes | gauge | neutral | buffer pool | utilization
    Bytes of pages that hold data.
Innodb_buffer_pool_bytes_dirty | dirty data | bytes | gauge | neutral | buffer pool | utilization
    Bytes of pages changed and not yet written.
Innodb_data_reads | data file reads | reads | counter | neutral | disk | utilization
    Read requests to data files.
Innodb_data_writes | data file writes | writes | counter | neutral | disk | utilization
    Write requests to data and log files.
Innodb_data_fsyncs | fsyncs | fsyncs | counter | neutral | disk | utilization
    fsync calls by InnoDB.
Innodb_data_read | bytes read | bytes | counter | neutral | disk | utilization
    Bytes that InnoDB read from files.
Innodb_data_written | bytes written | bytes | counter | neutral | disk | utilization
    Bytes that InnoDB wrote to files.
Innodb_data_pending_reads | reads pending | reads | gauge | lower | disk | saturation
    Reads that InnoDB waits for now.
Innodb_data_pending_writes | writes pending | writes | gauge | lower | disk | saturation
    Writes that InnoDB waits for now.
Innodb_data_pending_fsyncs | fsyncs pending | fsyncs | gauge | lower | disk | saturation
    fsync calls that InnoDB waits for now.
Innodb_os_log_written | redo log written | bytes | counter | neutral | redo log | utilization
    Bytes of redo log.
Innodb_os_log_fsyncs | redo log fsyncs | fsyncs | counter | neutral | redo log | utilization
    fsync calls for the redo log.
Innodb_log_waits | waits for the log buffer | waits | counter | lower | redo log | saturation
    Times that the log buffer was full and had to be written first.
Innodb_log_writes | redo log writes | writes | counter | neutral | redo log | utilization
    Writes of the redo log to its file.
Innodb_checkpoint_age | checkpoint age | bytes | gauge | neutral | redo log | utilization
    Redo log that recovery would have to read; at its maximum, writers wait.
Innodb_redo_log_current_lsn | redo log written up to | bytes | gauge | neutral | redo log | -
    Log sequence number of the last change in the redo log; MySQL from 8.0.30 on.
Innodb_redo_log_checkpoint_lsn | redo log needed from | bytes | gauge | neutral | redo log | -
    Log sequence number of the last checkpoint; MySQL from 8.0.30 on.
Innodb_redo_log_capacity_resized | redo log capacity | bytes | gauge | neutral | redo log | -
    Size that the redo log may have; MySQL from 8.0.30 on.
Innodb_history_list_length | history list | transactions | gauge | lower | purge | saturation
    Undo records that purge has not removed.
Innodb_rows_read | rows read | rows | counter | neutral | statements | -
    Rows that InnoDB read.
Innodb_rows_inserted | rows inserted | rows | counter | neutral | statements | -
    Rows that InnoDB inserted.
Innodb_rows_updated | rows updated | rows | counter | neutral | statements | -
    Rows that InnoDB updated.
Innodb_rows_deleted | rows deleted | rows | counter | neutral | statements | -
    Rows that InnoDB deleted.
Handler_read_key | index lookups | calls | counter | neutral | storage engine calls | -
    Rows requested by key.
Handler_read_next | index scan steps | calls | counter | neutral | storage engine calls | -
    Requests for the next row in index order.
Handler_read_rnd_next | table scan steps | calls | counter | lower | storage engine calls | -
    Requests for the next row in a table scan.
Handler_write | row writes | calls | counter | neutral | storage engine calls | -
    Requests to the engine to insert a row.
Handler_update | row updates | calls | counter | neutral | storage engine calls | -
    Requests to the engine to update a row.
Handler_delete | row deletes | calls | counter | neutral | storage engine calls | -
    Requests to the engine to delete a row.
Handler_commit | engine commits | calls | counter | higher | storage engine calls | -
    Commits inside the server, of engines and log.
Handler_rollback | engine rollbacks | calls | counter | lower | storage engine calls | errors
    Rollbacks requested from an engine.
Created_tmp_disk_tables | temporary tables on disk | tables | counter | lower | temporary tables | saturation
    Internal temporary tables that did not fit in memory.
Created_tmp_tables | temporary tables | tables | counter | neutral | temporary tables | utilization
    Internal temporary tables.
Sort_merge_passes | sort merge passes | passes | counter | lower | temporary tables | saturation
    Passes of sorts that did not fit in sort_buffer_size.
Table_locks_waited | table lock waits | waits | counter | lower | table locks | saturation
    Waits of statements for a table lock.
Table_open_cache_misses | table cache misses | misses | counter | lower | table cache | saturation
    Tables that had to be opened.
Binlog_commits | binary log commits | transactions | counter | neutral | replication log | -
    Transactions written to the binary log.
Binlog_group_commits | binary log group commits | groups | counter | neutral | replication log | -
    Groups of transactions written to the binary log together.
Binlog_bytes_written | binary log written | bytes | counter | neutral | replication log | utilization
    Bytes written to the binary log.
wsrep_flow_control_paused_ns | time paused by flow control | ns | counter | lower | replication | saturation
    Time that a Galera node held back all writers; its rate divided by 1e9 is the share of time.
wsrep_flow_control_sent | flow control pauses sent | messages | counter | lower | replication | saturation
    Pause requests that this node sent.
wsrep_flow_control_recv | flow control pauses received | messages | counter | lower | replication | saturation
    Pause requests that this node received, its own included.
wsrep_local_recv_queue | write sets to apply | write sets | gauge | lower | replication | saturation
    Write sets that wait to be applied on this node.
wsrep_local_send_queue | write sets to send | write sets | gauge | lower | replication | saturation
    Write sets that wait to be sent to the cluster.
wsrep_local_cert_failures | certification failures | transactions | counter | lower | replication | errors
    Transactions rejected because another node changed the same row first.
wsrep_local_bf_aborts | transactions aborted by write sets | transactions | counter | lower | replication | errors
    Local transactions aborted by a replicated one.
wsrep_local_commits | local commits | transactions | counter | higher | replication | -
    Transactions of this node's clients that the cluster committed.
wsrep_replicated_bytes | write sets sent | bytes | counter | neutral | replication | utilization
    Bytes of write sets sent to the cluster.
wsrep_received_bytes | write sets received | bytes | counter | neutral | replication | utilization
    Bytes of write sets received from the cluster.
wsrep_cluster_size | nodes in the cluster | nodes | gauge | neutral | replication | -
    Nodes in the component that this node belongs to.
wsrep_local_state | state of the Galera node | - | gauge | neutral | replication | errors
    4: Synced; 2: Donor or desynced; 1 and 3: joining; 0: alone.
wsrep_cluster_status | node is in the primary component | - | gauge | higher | replication | errors
    1: it belongs to the majority that accepts writes; 0: it does not.
wsrep_evs_repl_latency_avg | time to replicate a message | s | gauge | lower | replication | saturation
    From sending a message to the group to its delivery in order; mean over Galera's report period, 1 min by default.
wsrep_evs_repl_latency_max | longest time to replicate a message | s | gauge | lower | replication | saturation
    The slowest message of Galera's report period.
wsrep_evs_repl_latency_samples | messages timed | messages | gauge | neutral | replication | -
    Messages of the report period so far.
Gr_data_messages_sent_count | messages sent to the group | messages | counter | neutral | replication | -
    Messages with transactions that this member sent to its MySQL group.
Gr_data_messages_sent_roundtrip_time_sum | time to replicate messages | µs | counter | lower | replication | saturation
    From sending each of them to its delivery in order, summed.
Gr_consensus_bytes_sent_sum | group messages sent | bytes | counter | neutral | replication | utilization
    Bytes that the member sent to agree on messages, those of other members passed on.
Gr_consensus_bytes_received_sum | group messages received | bytes | counter | neutral | replication | utilization
    Bytes that the member received to agree on messages.
Gr_flow_control_throttle_count | transactions throttled | transactions | counter | lower | replication | saturation
    Transactions that flow control of the group held back; counted by a component that is not installed by default.
Gr_flow_control_throttle_time_sum | time throttled by flow control | µs | counter | lower | replication | saturation
    Time for which they were held back, summed over them.
wsrep_ready | node accepts statements | - | gauge | higher | replication | errors
    1: the node accepts statements; 0: it refuses them.
Uptime | uptime | s | counter | neutral | - | -
    Time since the server started; it falls when the server restarted.
"""

HOST = """
host.cpu.user | CPU, user | s | counter | neutral | cpu | utilization
    CPU time in programs, over all CPUs; the rate is the number of CPUs busy with it.
host.cpu.nice | CPU, low priority | s | counter | neutral | cpu | utilization
    CPU time in programs of low priority.
host.cpu.system | CPU, kernel | s | counter | neutral | cpu | utilization
    CPU time in the kernel.
host.cpu.idle | CPU, idle | s | counter | neutral | cpu | utilization
    Idle CPU time.
host.cpu.iowait | CPU, waiting for disks | s | counter | neutral | disk | saturation
    Idle CPU time with a disk request pending.
host.cpu.irq | CPU, interrupts | s | counter | neutral | cpu | utilization
    CPU time in interrupts.
host.cpu.softirq | CPU, soft interrupts | s | counter | neutral | cpu | utilization
    CPU time in deferred interrupt work, mostly network.
host.cpu.steal | CPU, stolen | s | counter | lower | cpu | saturation
    CPU time that the hypervisor gave to other machines.
host.cpus | CPUs | CPUs | gauge | neutral | cpu | -
    CPUs of the machine.
host.load.1m | load average | tasks | gauge | neutral | cpu | saturation
    Tasks running or waiting, damped over a minute.
host.procs_running | tasks runnable | processes | gauge | neutral | cpu | saturation
    Tasks on a CPU or waiting for one.
host.procs_blocked | tasks blocked | processes | gauge | lower | disk | saturation
    Tasks that wait for a disk.
host.context_switches | context switches | switches | counter | neutral | cpu | -
    Context switches of the machine.
host.memory.MemTotal | memory | bytes | gauge | neutral | memory | -
    Memory of the machine.
host.memory.MemAvailable | memory available | bytes | gauge | neutral | memory | utilization
    Memory that programs can still allocate without swapping.
host.memory.Dirty | dirty page cache | bytes | gauge | neutral | memory | -
    File data in memory that is not yet on disk.
host.memory.SwapFree | swap free | bytes | gauge | neutral | memory | saturation
    Swap space that is not used.
host.vmstat.pswpin | pages swapped in | pages | counter | lower | memory | saturation
    Pages read back from swap.
host.vmstat.pswpout | pages swapped out | pages | counter | lower | memory | saturation
    Pages written to swap.
host.vmstat.pgmajfault | major page faults | faults | counter | lower | memory | saturation
    Page faults that had to read from disk.
host.pressure.cpu.some | waiting for CPU | s | counter | lower | cpu | saturation
    Time in which at least one task waited for a CPU; the rate is the share of time.
host.pressure.io.some | waiting for disks | s | counter | lower | disk | saturation
    Time in which at least one task waited for a disk.
host.pressure.io.full | all waiting for disks | s | counter | lower | disk | saturation
    Time in which every task waited for a disk.
host.pressure.memory.some | waiting for memory | s | counter | lower | memory | saturation
    Time in which at least one task waited for memory.
process.cpu.user | server CPU, user | s | counter | neutral | cpu | utilization
    CPU time of the node's server, a database or a proxy, in its own code.
process.cpu.system | server CPU, kernel | s | counter | neutral | cpu | utilization
    CPU time of the node's server in the kernel.
host.tcp.retransmits | TCP segments retransmitted | segments | counter | lower | network | errors
    Segments that this machine retransmitted, to all destinations.
host.tcp.errors | TCP segments in error | segments | counter | lower | network | errors
    Segments that arrived damaged.
host.tcp.failed_attempts | TCP connections refused | connections | counter | lower | network | errors
    Failed connection attempts, incoming and outgoing.
process.threads | server threads | threads | gauge | neutral | cpu | -
    Threads of the server's process.
process.faults.major | server page faults | faults | counter | lower | memory | saturation
    Page faults of the server's process that had to read from disk.
process.rss | server memory | bytes | gauge | neutral | memory | utilization
    Resident memory of the node's server; of PostgreSQL, that of each process, and of what they share the most of one.
process.io.read_bytes | server bytes read | bytes | counter | neutral | disk | utilization
    Bytes that the database server caused to be read from disks.
process.io.write_bytes | server bytes written | bytes | counter | neutral | disk | utilization
    Bytes that the database server caused to be written to disks.
"""
