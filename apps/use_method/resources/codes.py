"""Server errors by number: meaning for a load, and remedy. Pure."""

from dataclasses import dataclass

CONNECTION, CONFLICT, REFUSED, STORAGE, OTHER = "connection", "conflict", "refused", "storage", "other"
TABLE = """
1040 | connection | too many connections | fewer connections or a pool, else a higher max_connections
1047 | connection | the cluster node is not ready for statements | let the proxy check wsrep_ready; find out why it left
1053 | connection | the server is shutting down | connect again, elsewhere
1129 | connection | the host is blocked after failed connects | FLUSH HOSTS, and find what fails to connect
1152 | connection | connection aborted | look for kills, timeouts and the proxy's own limits
1158 | connection | network error while reading | look at the network between client and server
1159 | connection | timeout while reading | look at net_read_timeout and the network
1160 | connection | network error while writing | look at the network between client and server
1161 | connection | timeout while writing | look at net_write_timeout and the network
1184 | connection | new connection aborted | look for kills and timeouts
1203 | connection | the user has too many connections | a smaller pool, else a higher max_user_connections
1226 | connection | a limit of the user is used up | raise the account's limits
1927 | connection | connection killed | find who kills: a person, a proxy, a failover script
2002 | connection | no server at the socket | is it up? look at its error log
2003 | connection | no server at the address | is it up, does the proxy have a server, is the network whole?
2005 | connection | unknown host | look at the name and its resolver
2006 | connection | the server has gone away | connect again; look for restarts, wait_timeout, max_allowed_packet
2013 | connection | connection lost in a statement | retry if it is idempotent; look for a crash or failover
2026 | connection | TLS failed | look at certificates and versions
2055 | connection | connection lost while reading | look for a crash, a failover or the proxy's timeouts
1020 | conflict | the row changed since it was read | try the transaction again; innodb_snapshot_isolation raises it
1180 | conflict | the commit failed | try the transaction again; on Galera another node wrote first
1205 | conflict | waited too long for a lock | shorter transactions; find who holds the lock; then try again
1213 | conflict | deadlock, or on Galera another node changed the row first | try again; same order of rows; one writer
1223 | refused | a read lock is held | release it; it may be a backup's
1290 | refused | the server is read-only | the address leads to a reader: repoint it, or finish the promotion
1792 | refused | the transaction is read-only | send writes to the writer
1836 | refused | the server is in read-only mode | the address leads to a reader: repoint it, or finish the promotion
188 | storage | the engine aborted the transaction | fewer connections at once; try again
1005 | storage | a table could not be created | read the engine's number behind it
1021 | storage | the disk is full | make room
1026 | storage | a file could not be written | look at the disk and the server's error log
1030 | storage | the storage engine failed | read the engine's number behind it; look at the server's error log
1034 | storage | a damaged index | check and repair the table
1041 | storage | out of memory | smaller buffers, or a larger machine
1114 | storage | the table is full | make room on the disk or in the temporary table's limit
1118 | storage | the row is too large | change the columns or the row format
1135 | storage | no thread could be created | raise the limits of processes and memory
1206 | storage | no memory for more locks | a larger buffer pool or smaller transactions
1297 | storage | a temporary failure of the engine | try again
1062 | other | duplicate key | expected if a client repeats a write that it took for failed
1146 | other | there is no such table | was the data loaded, and on this node?
1317 | other | the statement was interrupted | find who kills
1064 | other | syntax error in the statement | look at the workload and the server's version
1412 | other | the table changed since the transaction began | try the transaction again
1452 | other | a foreign key has no matching row | look at the workload's order of rows
1969 | other | the statement took longer than max_statement_time | a higher limit or a better plan
3024 | other | the statement took longer than max_execution_time | a higher limit or a better plan
"""


@dataclass(frozen=True)
class Code:
    """`kind`: one of the above; `meaning` and `remedy` as text."""

    number: int
    kind: str
    meaning: str
    remedy: str


def _read(table: str) -> dict[int, Code]:
    found = {}
    for line in table.strip().splitlines():
        number, kind, meaning, remedy = line.split(" | ")
        found[int(number)] = Code(int(number), kind, meaning, remedy)
    return found


CODES = _read(TABLE)


def describe(number: int) -> Code:
    """An unknown number gets a generic entry."""
    return CODES.get(number) or Code(number, OTHER, "not known here", "look it up in the server's manual")
