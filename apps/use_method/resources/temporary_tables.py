"""Internal temporary tables and sorts."""

from apps.use_method.indicators import Indicator, Resource, on_mysql
from apps.use_method.levels import LevelLimits
from apps.use_method.resources.connections import MANUAL, SHOWN
from apps.use_method.resources.counters import (
    FEWEST_SERVED,
    QUESTIONS,
    SAMPLING,
    STATUS,
    for_each_statement,
    gauge,
    stall_words,
    stalls,
)
from apps.use_method.values import Aspect

MADE = STATUS + "Created_tmp_tables"
ON_DISK, SHARE = STATUS + "Created_tmp_disk_tables", "derived.tables.temporary_on_disk_share"
PASSES = STATUS + "Sort_merge_passes"
MADE_LIMITS = LevelLimits(None, None)
DISK_LIMITS = LevelLimits(watch=1.0, saturated=10.0)
PASS_LIMITS = LevelLimits(watch=None, saturated=1.0)

RESOURCE = Resource(
    key="temporary_tables",
    title="Temporary tables",
    layer="server",
    question="Do intermediate results fit in memory?",
    on=on_mysql,
    indicators=(
        Indicator(
            key="temporary_tables.made",
            aspect=Aspect.UTILIZATION,
            title="temporary tables created",
            unit="tables/s",
            metrics=(MADE,),
            formula="rate of Created_tmp_tables; sampling the counters creates some itself",
            limits="none: those in memory are cheap",
            reason="It shows how many statements need one at all.",
            literature=f"{MANUAL}, 10.4.4 Internal Temporary Table Use in MySQL",
            sources=SHOWN,
            rule=gauge(MADE, MADE_LIMITS, "tables/s"),
        ),
        Indicator(
            key="temporary_tables.on_disk",
            aspect=Aspect.SATURATION,
            title="statements with a temporary table on disk",
            unit="%",
            metrics=(ON_DISK, QUESTIONS, SAMPLING, SHARE),
            formula="Created_tmp_disk_tables / Questions",
            limits=f"{DISK_LIMITS.words('%')}, while there are {FEWEST_SERVED:g} statements/s",
            reason="Such a statement takes many times as long as one in memory: from one in ten on they dominate the "
            "mean. Their share of all temporary tables means little if few are created.",
            literature=f"{MANUAL}, 10.4.4; Schwartz et al., High Performance MySQL, 3rd ed., ch. 6",
            sources=SHOWN,
            rule=for_each_statement(ON_DISK, DISK_LIMITS, by=100.0, unit="%", opens=SHARE),
        ),
        Indicator(
            key="temporary_tables.merges",
            aspect=Aspect.SATURATION,
            title="merge passes of sorts",
            unit="passes",
            metrics=(PASSES,),
            formula="rise of Sort_merge_passes",
            limits=stall_words(PASS_LIMITS, "passes"),
            reason="sort_buffer_size did not hold the rows, so that they were written to files and merged.",
            literature=f"{MANUAL}, 10.2.1.16 ORDER BY Optimization",
            sources=SHOWN,
            rule=stalls(PASSES, PASS_LIMITS, "passes"),
        ),
    ),
)
