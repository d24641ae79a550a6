"""The lab's systems by name."""

from collections.abc import Callable, Mapping
from pathlib import Path

from lab.galera import QUICK, Galera
from lab.mariadb import OBSERVED
from lab.mha import MHA
from lab.packages import LabError
from lab.single import Single
from lab.systems import System


def _flush(slug: str, value: str) -> Callable[[Path], System]:
    settings = {"innodb_flush_log_at_trx_commit": value}
    return lambda var: Single(var, slug, f"MariaDB, flush log at commit {value}", settings)


SYSTEMS: Mapping[str, Callable[[Path], System]] = {
    "single": lambda var: Single(var, "single", "MariaDB, one server", OBSERVED),
    "mariadb-flush1": _flush("mariadb-flush1", "1"),
    "mariadb-flush2": _flush("mariadb-flush2", "2"),
    "galera": Galera,
    "galera-suspect1": lambda var: Galera(var, "galera-suspect1", QUICK),
    "mha": MHA,
}
# What `up` without names brings up.
USUAL = ("single", "mariadb-flush1", "mariadb-flush2", "galera", "mha")


def system_named(slug: str, var: str | Path) -> System:
    """Raises LabError."""
    if slug not in SYSTEMS:
        raise LabError(f"the lab has no system {slug}; it has {', '.join(SYSTEMS)}")
    return SYSTEMS[slug](Path(var))
