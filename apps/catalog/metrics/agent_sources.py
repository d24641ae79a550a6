"""Metrics that the agent samples beside SHOW GLOBAL STATUS, host and process, in the format of curated. Pure.

METRICS have fixed keys. Keys of FAMILIES contain a name: a backend and server, a class of waits, a source of samples,
or a replication connection of a multi-source replica.
"""

REPLICATION = """
seconds_behind | replication delay | s | gauge | lower | replication | saturation
    Seconds_Behind_Master: age of the event that the replica applies now; not observed while its threads are stopped.
io_running | replication receives | - | gauge | higher | replication | errors
    1: the thread that receives from the source runs and is connected; 0: it is not.
sql_running | replication applies | - | gauge | higher | replication | errors
    1: the thread that applies what was received runs; 0: it does not.
io_error | error of receiving | code | gauge | lower | replication | errors
    Number of the receiving thread's last error; 0: none.
sql_error | error of applying | code | gauge | lower | replication | errors
    Number of the applying thread's last error; 0: none.
relay_log_space | relay logs | bytes | gauge | neutral | replication | utilization
    Size of all relay logs on the replica.
received_position | received up to | bytes | gauge | neutral | replication | -
    Position in the source's binary log up to which the replica has received it.
applied_position | applied up to | bytes | gauge | neutral | replication | -
    Position in the source's binary log up to which the replica has applied it.
unapplied_bytes | received and not applied | bytes | gauge | lower | replication | saturation
    Binary log that waits to be applied; not observed while the two positions are in different files.
unapplied_transactions | transactions received and not applied | transactions | gauge | lower | replication | saturation
    By GTID: transactions received after the last applied one; not observed without GTIDs.
transactional_groups | transactions applied | transactions | counter | neutral | replication | -
    Groups of changes that can be rolled back, applied by the replica.
non_transactional_groups | other groups applied | groups | counter | neutral | replication | -
    Groups of changes that cannot be rolled back, applied by the replica.
ddl_groups | schema changes applied | groups | counter | neutral | replication | -
    Schema changes applied by the replica.
"""
REPLICATION_PREFIX = "mysql.replication."

# Of a member of a MySQL group.
GROUP = """
state | state in the group | - | gauge | higher | replication | errors
    4: ONLINE; 3: RECOVERING, it takes what it missed; 2: UNREACHABLE; 1: ERROR; 0: OFFLINE.
primary | primary of the group | - | gauge | neutral | replication | -
    1: the member takes writes; 0: it is a secondary. Several are primaries in multi-primary mode.
members | members of the group | members | gauge | neutral | replication | -
    Members in this one's view, of whatever state.
online | members ONLINE | members | gauge | higher | replication | errors
    Members that this one sees as ONLINE, itself included.
certification_queue | transactions to certify | transactions | gauge | lower | replication | saturation
    COUNT_TRANSACTIONS_IN_QUEUE: transactions of all members that wait for the check for conflicts.
certified | transactions certified | transactions | counter | neutral | replication | -
    Transactions of all members that this one checked for conflicts.
conflicts | conflicts | transactions | counter | lower | replication | errors
    Transactions that failed the check: another member changed a row of theirs first.
certification_rows | rows remembered for certification | rows | gauge | neutral | replication | -
    Rows of earlier transactions that later ones are checked against; removed once all members have them.
applier_queue | transactions to apply | transactions | gauge | lower | replication | saturation
    COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE: certified transactions of other members that wait to be applied.
applied | transactions applied | transactions | counter | neutral | replication | -
    Transactions of other members that this one applied.
proposed | transactions sent to the group | transactions | counter | neutral | replication | -
    Transactions of this member's clients.
rolled_back | transactions rolled back by the group | transactions | counter | lower | replication | errors
    Of those, transactions that were rolled back after they were sent.
"""
GROUP_PREFIX = "mysql.group."

METRICS = """
mysql.replication.read_only | server is read-only | - | gauge | neutral | replication | -
    1: the server refuses writes of ordinary accounts; 0: it accepts them.
mysql.replication.gtid_position | GTID position | transactions | counter | neutral | replication | -
    Sequence numbers of all domains, or transactions of all sources, summed; the difference of two nodes is the lag.
haproxy.process.CurrConns | proxy connections | connections | gauge | neutral | proxy | utilization
    Open connections of HAProxy, to clients and to servers.
haproxy.process.CumConns | proxy connections made | connections | counter | neutral | proxy | -
    Connections that HAProxy has accepted.
haproxy.process.Maxconn | proxy connections allowed | connections | gauge | neutral | proxy | -
    Connections that HAProxy accepts at once at most.
haproxy.process.Run_queue | proxy tasks runnable | tasks | gauge | lower | proxy | saturation
    Tasks of HAProxy that wait for its threads.
haproxy.process.Idle_pct | proxy idle | % | gauge | neutral | proxy | utilization
    Share of time in which HAProxy was idle.
haproxy.process.Uptime_sec | proxy uptime | s | counter | neutral | - | -
    Time since HAProxy started; it falls when HAProxy restarted.
agent.cpu.seconds | agent CPU | s | counter | lower | cpu | -
    CPU time of the agent's process, all threads, without the load tool and other child processes.
agent.cpu.wait | agent waits for a CPU | s | counter | lower | cpu | saturation
    Time for which threads of the agent were ready to run and had no CPU, summed over them. It samples late then.
agent.tool.cpu.seconds | load tool CPU | s | counter | neutral | cpu | utilization
    CPU time of the load tool's processes; the rate is the number of CPUs that it kept busy.
agent.tool.quota.periods | periods of the load tool's CPU quota | periods | counter | neutral | cpu | -
    Periods in which a CPU quota of its control groups was enforced; not observed without a quota.
agent.tool.quota.throttled | periods in which the quota was used up | periods | counter | lower | cpu | saturation
    Those of them in which the quota was used up: the tool then stood still until the next one.
agent.memory.rss | agent memory | bytes | gauge | neutral | memory | -
    Resident memory of the agent's process.
agent.threads | agent threads | threads | gauge | neutral | - | -
    Threads of the agent's process.
agent.statements | statements of the agent | statements | counter | neutral | statements | -
    Statements that sampling executed on this node; its own counters include them.
"""

FAMILIES = """
mysql.waits.<class>.count | waits | waits | counter | neutral | waits | -
    Waits of the server's threads for this class of events, counted by performance_schema.
mysql.waits.<class>.seconds | time waited | s | counter | lower | waits | saturation
    Time that the server's threads waited for this class of events, summed; the rate is the number waiting.
agent.sampling.<source>.seconds | time that sampling took | s | gauge | lower | - | -
    Time from the request to this source until its response, per sample.
haproxy.<backend>.<server>.up | up | - | gauge | higher | proxy | errors
    1: available for requests; 0: down, stopped or in maintenance.
haproxy.<backend>.<server>.qcur | requests queued | requests | gauge | lower | proxy | saturation
    Requests that wait for a free connection to it.
haproxy.<backend>.<server>.qmax | most requests queued | requests | gauge | lower | proxy | saturation
    Most requests that waited at once since HAProxy started.
haproxy.<backend>.<server>.scur | sessions | sessions | gauge | neutral | proxy | utilization
    Sessions open now.
haproxy.<backend>.<server>.smax | most sessions | sessions | gauge | neutral | proxy | utilization
    Most sessions open at once since HAProxy started.
haproxy.<backend>.<server>.stot | sessions, total | sessions | counter | neutral | proxy | -
    Sessions opened.
haproxy.<backend>.<server>.rate | sessions in the last second | sessions/s | gauge | neutral | proxy | utilization
    Sessions opened per second, as HAProxy counts over its last second.
haproxy.<backend>.<server>.bin | bytes in | bytes | counter | neutral | network | utilization
    Bytes from clients.
haproxy.<backend>.<server>.bout | bytes out | bytes | counter | neutral | network | utilization
    Bytes to clients.
haproxy.<backend>.<server>.dreq | requests denied | requests | counter | lower | proxy | errors
    Requests denied by a rule.
haproxy.<backend>.<server>.dresp | responses denied | answers | counter | lower | proxy | errors
    Responses denied by a rule.
haproxy.<backend>.<server>.ereq | requests in error | requests | counter | lower | proxy | errors
    Requests that were aborted or invalid.
haproxy.<backend>.<server>.econ | connections failed | connections | counter | lower | proxy | errors
    Connection attempts to the server that failed after all retries.
haproxy.<backend>.<server>.eresp | responses in error | answers | counter | lower | proxy | errors
    Responses that were aborted.
haproxy.<backend>.<server>.wretr | connections retried | connections | counter | lower | proxy | errors
    Retried connection attempts to the server.
haproxy.<backend>.<server>.wredis | requests sent elsewhere | requests | counter | lower | proxy | errors
    Requests redispatched to another server.
haproxy.<backend>.<server>.act | servers in use | servers | gauge | neutral | proxy | -
    Active servers, without backups.
haproxy.<backend>.<server>.bck | backups ready | servers | gauge | neutral | proxy | -
    Backup servers that are up.
haproxy.<backend>.<server>.chkfail | checks failed | checks | counter | lower | proxy | errors
    Health checks that failed while it was up.
haproxy.<backend>.<server>.chkdown | falls | times | counter | lower | proxy | errors
    Times that it went from up to down.
haproxy.<backend>.<server>.downtime | time down | s | counter | lower | proxy | errors
    Time for which it was down.
haproxy.<backend>.<server>.lbtot | times chosen | times | counter | neutral | proxy | -
    Times that load balancing chose it for a session.
haproxy.<backend>.<server>.cli_abrt | transfers broken off by clients | transfers | counter | lower | proxy | errors
    Sessions aborted by the client.
haproxy.<backend>.<server>.srv_abrt | transfers broken off by servers | transfers | counter | lower | proxy | errors
    Sessions aborted by the server.
haproxy.<backend>.<server>.qtime | time in the queue | ms | gauge | lower | proxy | saturation
    Mean over the last 1,024 sessions.
haproxy.<backend>.<server>.ctime | time to connect | ms | gauge | lower | proxy | saturation
    Mean over the last 1,024 sessions.
haproxy.<backend>.<server>.rtime | time to answer | ms | gauge | lower | proxy | -
    Mean over the last 1,024 sessions; 0 unless the protocol is HTTP.
haproxy.<backend>.<server>.ttime | length of a session | ms | gauge | neutral | proxy | -
    Mean over the last 1,024 sessions.
haproxy.<backend>.<server>.connect | connections to servers | connections | counter | neutral | proxy | -
    Connections made to the servers.
haproxy.<backend>.<server>.reuse | connections reused | connections | counter | neutral | proxy | -
    Requests sent on an existing connection.
"""


def of_connections(table: str) -> str:
    """`table` of a single replication connection as a family, for multi-source replicas."""
    lines = table.strip().splitlines()
    return "\n".join(line if line.startswith(" ") else f"{REPLICATION_PREFIX}<connection>.{line}" for line in lines)
