"""InnoDB's redo log."""

from apps.use_method.indicators import Indicator, Resource, on_mysql
from apps.use_method.levels import LevelLimits, judge
from apps.use_method.resources.connections import MANUAL
from apps.use_method.resources.counters import STATUS, stall_words, stalls
from apps.use_method.values import Aspect, NodeFacts, RuleResult, RunFacts

AGE = "derived.redo.checkpoint_age"  # MariaDB and Percona Server
IN_USE = "derived.redo.in_use"  # MySQL since 8.0.30
WAITS = STATUS + "Innodb_log_waits"
PENDING = tuple(STATUS + name for name in ("Innodb_os_log_pending_fsyncs", "Innodb_data_pending_fsyncs"))
# % at which all writers wait: of MySQL's capacity, 30/32 of which 5 % and once more 5 % stay free.
FULL = {AGE: 100.0, IN_USE: 84.0}
LIMITS = {key: LevelLimits(watch=round(0.9 * full), saturated=round(0.95 * full)) for key, full in FULL.items()}
WAIT_LIMITS = LevelLimits(watch=None, saturated=1.0)
PENDING_LIMITS = LevelLimits(watch=1.0, saturated=None)
AURORA = "Aurora has no redo log of its own: its storage applies the changes"


def age(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    for key, limits in LIMITS.items():
        if key in node.series:
            return judge(node.series[key], limits, unit="%", metric=key)
    return None


def pending(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    for key in PENDING:
        if key in node.series:
            return judge(node.series[key], PENDING_LIMITS, unit="fsyncs", metric=key)
    return None


RESOURCE = Resource(
    key="redo_log",
    title="Redo log",
    layer="server",
    question="Do writers wait for room in the redo log, or for its fsync?",
    on=on_mysql,
    indicators=(
        Indicator(
            key="redo_log.age",
            aspect=Aspect.UTILIZATION,
            title="checkpoint age",
            unit="%",
            metrics=tuple(LIMITS),
            formula="Innodb_checkpoint_age / Innodb_checkpoint_max_age; "
            "MySQL: (current_lsn - checkpoint_lsn) / capacity of Innodb_redo_log_*",
            limits=f"{LIMITS[AGE].words('%')}; MySQL: {LIMITS[IN_USE].words('%')}",
            reason=f"From about 7/8 on the server flushes ahead of need, and at 100 % (MySQL: {FULL[IN_USE]:g} %) all "
            "writers wait until pages are written; MariaDB keeps it near 7/8 under a light load, which is harmless.",
            literature="MariaDB, MDEV-25113 (page cleaner before furious flush); MySQL 8.4 Reference Manual, 17.6.5; "
            "MySQL's source, log0files_capacity.cc",
            sources={
                "MariaDB": "SHOW GLOBAL STATUS",
                "MySQL": "SHOW GLOBAL STATUS from 8.0.30 on; not reported before",
                "Aurora": AURORA,
            },
            rule=age,
        ),
        Indicator(
            key="redo_log.waits",
            aspect=Aspect.SATURATION,
            title="waits for the log buffer",
            unit="waits",
            metrics=(WAITS,),
            formula="rise of Innodb_log_waits",
            limits=stall_words(WAIT_LIMITS, "waits"),
            reason="innodb_log_buffer_size was full, and a statement had to wait for it to be written.",
            literature=f"{MANUAL}, 17.14, innodb_log_buffer_size; 10.5.4 Optimizing InnoDB Redo Logging",
            sources={"MariaDB and MySQL": "SHOW GLOBAL STATUS", "Aurora": AURORA},
            rule=stalls(WAITS, WAIT_LIMITS, "waits"),
        ),
        Indicator(
            key="redo_log.pending",
            aspect=Aspect.SATURATION,
            title="fsyncs pending",
            unit="fsyncs",
            metrics=PENDING,
            formula="Innodb_os_log_pending_fsyncs, else Innodb_data_pending_fsyncs",
            limits=PENDING_LIMITS.words("fsyncs"),
            reason="At every sample a commit waited for an fsync; for how long is shown in the disk's row.",
            literature="Schwartz et al., High Performance MySQL, 3rd ed., ch. 8, InnoDB I/O Configuration",
            sources={"MariaDB and MySQL": "SHOW GLOBAL STATUS", "Aurora": AURORA},
            rule=pending,
        ),
    ),
)
