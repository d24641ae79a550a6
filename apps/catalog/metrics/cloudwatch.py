"""CloudWatch metrics of Aurora and RDS in the namespace AWS/RDS, one table. Pure.

Each entry: AWS name | scope, then as in curated: name | unit | kind | direction | resource | USE aspect, and its
meaning on indented lines. Scope: `cluster`; `aurora` or `rds`, instances of either; `instance`, those of both;
followed by the statistic and the period in seconds, where these are not Average and 60. Names, units and periods are
those of the vendor's user guides.
"""

import re
from dataclasses import dataclass

PREFIX = "aws.rds."
OF_WHAT = re.compile(r" \| [^|]+(?= \|)")

TABLE = """
CPUUtilization | instance | CPU busy | % | gauge | neutral | cpu | utilization
    Share of the instance's CPU in use.
CPUCreditBalance | instance Average 300 | CPU credits left | credits | gauge | higher | cpu | saturation
    Of a burstable class: at 0, db.t2 runs at its baseline, and later classes are charged for surplus credits.
CPUCreditUsage | instance Sum 300 | CPU credits used | credits/5 min | gauge | neutral | cpu | utilization
    Of a burstable class: one credit is a minute of one vCPU.
DBLoad | instance | sessions active | sessions | gauge | neutral | cpu | saturation
    Mean number of sessions that ran or waited, if Performance Insights is on.
DBLoadCPU | instance | sessions active on CPU | sessions | gauge | neutral | cpu | saturation
    Of the active sessions, those on CPU; above the number of vCPUs, they wait for CPU.
DBLoadNonCPU | instance | sessions waiting | sessions | gauge | lower | cpu | saturation
    Of the active sessions, those that waited for anything but CPU.
FreeableMemory | instance | memory free | bytes | gauge | neutral | memory | utilization
    Memory that the instance has available.
SwapUsage | instance | swap used | bytes | gauge | lower | memory | saturation
    Swap space in use.
DatabaseConnections | instance | connections open | connections | gauge | neutral | connections | utilization
    Client connections to the instance.
ConnectionAttempts | aurora | connection attempts | attempts | gauge | neutral | connections | -
    Connections tried, successful or not, as a mean of what the engine reported.
AbortedClients | aurora | connections lost | connections | gauge | lower | connections | errors
    Connections whose client ended without closing them.
LoginFailures | aurora | failed logins | logins/s | gauge | lower | connections | errors
    Login attempts that failed.
Queries | aurora | statements | statements/s | gauge | higher | statements | -
    Statements executed.
SelectThroughput | aurora | SELECT | statements/s | gauge | neutral | statements | -
    SELECT statements.
SelectLatency | aurora | SELECT, mean time | ms | gauge | lower | statements | -
    Mean time of a SELECT statement, on the server.
InsertThroughput | aurora | INSERT | statements/s | gauge | neutral | statements | -
    INSERT statements.
InsertLatency | aurora | INSERT, mean time | ms | gauge | lower | statements | -
    Mean time of an INSERT statement, on the server.
UpdateThroughput | aurora | UPDATE | statements/s | gauge | neutral | statements | -
    UPDATE statements.
UpdateLatency | aurora | UPDATE, mean time | ms | gauge | lower | statements | -
    Mean time of an UPDATE statement, on the server.
DeleteThroughput | aurora | DELETE | statements/s | gauge | neutral | statements | -
    DELETE statements.
DeleteLatency | aurora | DELETE, mean time | ms | gauge | lower | statements | -
    Mean time of a DELETE statement, on the server.
DMLThroughput | aurora | INSERT, UPDATE, DELETE | statements/s | gauge | neutral | statements | -
    Statements that change rows.
DMLLatency | aurora | INSERT, UPDATE, DELETE, mean time | ms | gauge | lower | statements | -
    Mean time of a statement that changes rows, on the server.
DDLThroughput | aurora | DDL | statements/s | gauge | neutral | statements | -
    CREATE, ALTER, DROP and the like.
DDLLatency | aurora | DDL, mean time | ms | gauge | lower | statements | -
    Mean time of a DDL statement, on the server.
CommitThroughput | aurora | commits | commits/s | gauge | higher | statements | -
    Transactions committed.
CommitLatency | aurora | commit, mean time | ms | gauge | lower | redo log | -
    Mean time of a commit: until four of six copies have the log.
ActiveTransactions | aurora | transactions active | transactions/s | gauge | neutral | row locks | utilization
    As counted by AWS; needs innodb_monitor_enable=all.
BlockedTransactions | aurora | transactions blocked | transactions/s | gauge | lower | row locks | saturation
    Transactions that waited for another one; needs innodb_monitor_enable=all.
Deadlocks | aurora | deadlocks | deadlocks/s | gauge | lower | row locks | errors
    Deadlocks that were resolved.
RowLockTime | aurora | row lock wait time | ms | gauge | lower | row locks | saturation
    Time spent to get row locks, as the engine reported it.
RollbackSegmentHistoryListLength | aurora | history list | entries | gauge | lower | purge | saturation
    Undo logs of committed transactions not yet purged.
BufferCacheHitRatio | aurora | buffer pool hits | % | gauge | higher | buffer pool | -
    Share of page requests that the buffer pool served.
ResultSetCacheHitRatio | aurora | query cache hits | % | gauge | neutral | query cache | -
    Share of requests that the result set cache served.
AuroraReplicaLag | aurora | replica lag | ms | gauge | lower | replication | saturation
    Lag of this reader's pages behind the writer; only for readers.
AuroraReplicaLagMaximum | aurora Maximum 60 | replica lag, longest | ms | gauge | lower | replication | saturation
    Longest lag of all readers; only for the writer.
AuroraBinlogReplicaLag | aurora | binary log lag | s | gauge | lower | replication | saturation
    Lag of a cluster that replicates from another by the binary log; -1: replication has stopped.
ReplicaLag | rds | replica lag | s | gauge | lower | replication | saturation
    Lag of a read replica behind its source; -1: replication has stopped.
EngineUptime | aurora | uptime | s | gauge | neutral | - | -
    Time since the engine started: it falls at a restart or a failover.
NetworkReceiveThroughput | instance | bytes received | bytes/s | gauge | neutral | network | utilization
    From clients; without Aurora's traffic with its storage.
NetworkTransmitThroughput | instance | bytes sent | bytes/s | gauge | neutral | network | utilization
    To clients; without Aurora's traffic with its storage.
StorageNetworkReceiveThroughput | aurora | from storage | bytes/s | gauge | neutral | storage network | utilization
    From the cluster's volume to the instance.
StorageNetworkTransmitThroughput | aurora | to storage | bytes/s | gauge | neutral | storage network | utilization
    From the instance to the cluster's volume.
ReadIOPS | instance | reads | reads/s | gauge | neutral | disk | utilization
    Read requests to storage.
WriteIOPS | instance | writes | writes/s | gauge | neutral | disk | utilization
    Write requests to storage; of Aurora, records of the log.
ReadThroughput | instance | bytes read | bytes/s | gauge | neutral | disk | utilization
    Bytes read from storage.
WriteThroughput | instance | bytes written | bytes/s | gauge | neutral | disk | utilization
    Bytes written to storage.
ReadLatency | instance | read, mean time | s | gauge | lower | disk | saturation
    Mean time of a read request to storage.
WriteLatency | instance | write, mean time | s | gauge | lower | disk | saturation
    Mean time of a write request to storage.
DiskQueueDepth | instance | requests waiting | requests | gauge | lower | disk | saturation
    Requests to storage that were not yet answered.
BurstBalance | rds | burst balance | % | gauge | higher | disk | saturation
    Of a gp2 volume: remaining burst credits.
EBSIOBalance% | instance | volume burst left, requests | % | gauge | higher | disk | saturation
    Remaining burst credits of the instance for requests to volumes.
EBSByteBalance% | instance | volume burst left, bytes | % | gauge | higher | disk | saturation
    Remaining burst credits of the instance for bytes to volumes.
FreeLocalStorage | aurora | local storage free | bytes | gauge | neutral | disk | utilization
    Of the instance, for temporary tables and logs.
FreeStorageSpace | rds | storage free | bytes | gauge | neutral | disk | utilization
    Of the instance's volume.
BinLogDiskUsage | rds | binary logs | bytes | gauge | neutral | disk | utilization
    Storage that binary logs take.
SumBinaryLogSize | aurora | binary logs | bytes | gauge | neutral | disk | utilization
    Storage that binary logs take.
VolumeReadIOPs | cluster Average 300 | volume reads billed | reads/5 min | gauge | lower | disk | utilization
    Read operations of the whole cluster that are billed, in five minutes: pages that no instance had in memory.
VolumeWriteIOPs | cluster Average 300 | volume writes billed | writes/5 min | gauge | lower | disk | utilization
    Write operations of the whole cluster that are billed, in five minutes.
VolumeBytesUsed | cluster Average 300 | volume used | bytes | gauge | neutral | disk | utilization
    Storage of the cluster that is billed.
AuroraVolumeBytesLeftTotal | cluster Average 300 | volume left | bytes | gauge | neutral | disk | utilization
    Space by which the cluster's volume can still grow.
ServerlessDatabaseCapacity | instance | capacity units | ACU | gauge | neutral | cpu | utilization
    Of a serverless instance: current capacity.
ACUUtilization | instance | capacity units in use | % | gauge | neutral | cpu | utilization
    Of a serverless instance: current capacity divided by its maximum.
"""


@dataclass(frozen=True)
class CloudWatchMetric:
    """A metric as CloudWatch publishes it: `of` is its scope, `period` the seconds that a value covers."""

    name: str
    of: str  # cluster, aurora, rds, instance
    statistic: str
    period: int

    @property
    def key(self) -> str:
        return PREFIX + self.name


def _published(line: str) -> CloudWatchMetric:
    name, of, *_ = line.split(" | ")
    of, statistic, period = (*of.split(), "Average", "60")[:3]
    return CloudWatchMetric(name, of, statistic, int(period))


# In the format that curated reads.
METRICS = "\n".join(line if line.startswith(" ") else OF_WHAT.sub("", line, 1) for line in TABLE.strip().splitlines())
PUBLISHED: dict[str, CloudWatchMetric] = {
    found.key: found for found in map(_published, re.findall(r"^\S.*", TABLE, re.MULTILINE))
}


def period_of(key: str) -> int | None:
    """Seconds that a value covers, up to its timestamp; None: not a CloudWatch metric."""
    found = PUBLISHED.get(key)
    return found.period if found else None
