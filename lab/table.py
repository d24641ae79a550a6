"""The lab's systems by name."""

from collections.abc import Callable, Mapping
from pathlib import Path

from lab.galera import QUICK, Galera
from lab.group_replication import AT_ONCE, GroupReplication
from lab.mariadb import OBSERVED
from lab.mha import MHA
from lab.multidc import MultiDC
from lab.packages import LabError
from lab.single import Single
from lab.systems import LabSystem


def _flush(slug: str, value: str) -> Callable[[Path], LabSystem]:
    settings = {"innodb_flush_log_at_trx_commit": value}
    return lambda var: Single(var, slug, f"MariaDB, flush log at commit {value}", settings)


RDS_LIKE = {
    **OBSERVED,
    "server_id": "1",
    "log_bin": "binlog",
    "binlog_format": "MIXED",
    "sync_binlog": "1",
    "innodb_flush_log_at_trx_commit": "1",
    "report_host": "127.0.0.1",
}

SYSTEMS: Mapping[str, Callable[[Path], LabSystem]] = {
    "single": lambda var: Single(var, "single", "MariaDB, one server", OBSERVED),
    # Like Amazon's MariaDB: every commit is flushed to the redo log and the binary log.
    "rds-like": lambda var: Single(var, "rds-like", "MariaDB, one server with binary log, as RDS has it", RDS_LIKE),
    "mariadb-flush1": _flush("mariadb-flush1", "1"),
    "mariadb-flush2": _flush("mariadb-flush2", "2"),
    "galera": Galera,
    "galera-suspect1": lambda var: Galera(var, "galera-suspect1", QUICK),
    "galera-3dc": MultiDC,
    "mha": MHA,
    "mha-semisync": lambda var: MHA(var, "mha-semisync", semi_sync=True),
    "group-replication": GroupReplication,
    "group-expel0": lambda var: GroupReplication(var, "group-expel0", AT_ONCE),
    # Two releases of one server with equal settings: the machine's own, and that of the next Debian.
    "release-old": lambda var: Single(var, "release-old", "MariaDB, the machine's release", OBSERVED),
    "release-new": lambda var: Single(var, "release-new", "MariaDB, a newer release", OBSERVED, debian="trixie"),
}
# Started by `up` without names.
USUAL = ("single", "rds-like", "mariadb-flush1", "mariadb-flush2", "galera", "mha")


def system_named(slug: str, var: str | Path) -> LabSystem:
    """Raises LabError."""
    if slug not in SYSTEMS:
        raise LabError(f"the lab has no system {slug}; it has {', '.join(SYSTEMS)}")
    return SYSTEMS[slug](Path(var))
