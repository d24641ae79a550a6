"""The table cache and the server's open files."""

from apps.use_method.indicators import Indicator, Resource, on_mysql
from apps.use_method.levels import LevelLimits
from apps.use_method.resources.connections import MANUAL, SHOWN
from apps.use_method.resources.counters import STATUS, gauge, share_of, stall_words, stalls
from apps.use_method.values import Aspect

TABLES, FILES = STATUS + "Open_tables", STATUS + "Open_files"
OVERFLOWS, OPENED = STATUS + "Table_open_cache_overflows", STATUS + "Opened_tables"
CACHE_LIMITS = LevelLimits(None, None)
FILE_LIMITS = LevelLimits(watch=80.0, saturated=95.0)
OVERFLOW_LIMITS = LevelLimits(watch=None, saturated=10.0)
OPENED_LIMITS = LevelLimits(watch=50.0, saturated=None)

RESOURCE = Resource(
    key="table_cache",
    title="Table cache and open files",
    layer="server",
    question="Are tables opened repeatedly?",
    on=on_mysql,
    indicators=(
        Indicator(
            key="table_cache.used",
            aspect=Aspect.UTILIZATION,
            title="open tables of the cache",
            unit="%",
            metrics=(TABLES,),
            formula="Open_tables / table_open_cache",
            limits="none: a full cache is harmless until evicted tables are needed again",
            reason="Each connection that uses a table needs an entry of its own.",
            literature=f"{MANUAL}, 10.4.3.1 How MySQL Opens and Closes Tables",
            sources=SHOWN,
            rule=share_of(TABLES, "table_open_cache", CACHE_LIMITS),
        ),
        Indicator(
            key="table_cache.files",
            aspect=Aspect.UTILIZATION,
            title="open files of open_files_limit",
            unit="%",
            metrics=(FILES,),
            formula="Open_files / open_files_limit",
            limits=FILE_LIMITS.words("%"),
            reason="At 100 % no further table can be opened, and statements fail with error 24.",
            literature=f"{MANUAL}, B.3.2.16 File Not Found and Similar Errors",
            sources=SHOWN,
            rule=share_of(FILES, "open_files_limit", FILE_LIMITS),
        ),
        Indicator(
            key="table_cache.overflows",
            aspect=Aspect.SATURATION,
            title="tables closed because the cache was full",
            unit="tables",
            metrics=(OVERFLOWS,),
            formula="rise of Table_open_cache_overflows",
            limits=stall_words(OVERFLOW_LIMITS, "tables"),
            reason="Each must be opened again by the next statement that needs it, under one lock for all.",
            literature=f"{MANUAL}, 7.1.10 Server Status Variables; 10.4.3.1",
            sources=SHOWN,
            rule=stalls(OVERFLOWS, OVERFLOW_LIMITS, "tables"),
        ),
        Indicator(
            key="table_cache.opened",
            aspect=Aspect.SATURATION,
            title="tables opened",
            unit="tables/s",
            metrics=(OPENED,),
            formula="rate of Opened_tables",
            limits=OPENED_LIMITS.words("tables/s"),
            reason="A cache that is large enough opens a table once for each connection; DDL and FLUSH empty it.",
            literature="Schwartz et al., High Performance MySQL, 3rd ed., ch. 8, The Table Cache",
            sources=SHOWN,
            rule=gauge(OPENED, OPENED_LIMITS, "tables/s"),
        ),
    ),
)
