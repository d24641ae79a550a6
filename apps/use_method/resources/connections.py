"""Client connections to a server."""

from dataclasses import replace

import numpy as np

from apps.use_method.indicators import Indicator, Resource, on_mysql
from apps.use_method.levels import LevelLimits, counted
from apps.use_method.resources.counters import (
    CONNECTED,
    FROM_THE_FIRST,
    STATUS,
    events,
    share_of,
    stall_words,
    stalls,
    together,
)
from apps.use_method.values import Aspect, NodeFacts, RuleResult, RunFacts

REFUSED = STATUS + "Connection_errors_max_connections"
LOST, FAILED = STATUS + "Aborted_clients", STATUS + "Aborted_connects"
INTERNAL = STATUS + "Connection_errors_internal"
USED_LIMITS = LevelLimits(watch=80.0, saturated=95.0)
REFUSED_LIMITS = LevelLimits(watch=None, saturated=1.0)
SHOWN = {"MariaDB and MySQL": "SHOW GLOBAL STATUS", "Aurora": "SHOW GLOBAL STATUS, where an agent may ask it"}
MANUAL = "MySQL 8.4 Reference Manual"


def failed(node: NodeFacts, _: RunFacts) -> RuleResult | None:
    if FAILED not in node.series or REFUSED not in node.series:
        samples = node.series.get(FAILED)
        return counted(samples, unit="connections", metric=FAILED) if samples else None
    all_of_them, refused = together(node.series, (FAILED, REFUSED))
    rest = replace(all_of_them, values=np.maximum(all_of_them.values - refused.values, 0.0))
    return counted(rest, unit="connections", metric=FAILED)


RESOURCE = Resource(
    key="connections",
    title="Connections",
    layer="server",
    question="Does a client find a free connection, and does it keep it?",
    on=on_mysql,
    indicators=(
        Indicator(
            key="connections.used",
            aspect=Aspect.UTILIZATION,
            title="connections of max_connections",
            unit="%",
            metrics=(CONNECTED,),
            formula="Threads_connected / max_connections",
            limits=USED_LIMITS.words("%"),
            reason="At 100 % the next client is refused; pools that grow in a stall take the last fifth in seconds.",
            literature=f"{MANUAL}, 7.1.12.1 Connection Interfaces, max_connections",
            sources=SHOWN,
            rule=share_of(CONNECTED, "max_connections", USED_LIMITS),
        ),
        Indicator(
            key="connections.refused",
            aspect=Aspect.SATURATION,
            title="connections refused, all in use",
            unit="connections",
            metrics=(REFUSED,),
            formula="rise of Connection_errors_max_connections",
            limits=stall_words(REFUSED_LIMITS, "connections"),
            reason="The server does not queue clients beyond max_connections but refuses them with error 1040.",
            literature=f"{MANUAL}, 7.1.10 Server Status Variables; B.3.2.5 Too many connections",
            sources=SHOWN,
            rule=stalls(REFUSED, REFUSED_LIMITS, "connections"),
        ),
        Indicator(
            key="connections.lost",
            aspect=Aspect.ERRORS,
            title="connections lost",
            unit="connections",
            metrics=(LOST,),
            formula="rise of Aborted_clients",
            limits=f"error {FROM_THE_FIRST}",
            reason="The client exited without closing it, was killed or idle for wait_timeout, or the network failed: "
            "its open transaction was rolled back.",
            literature=f"{MANUAL}, B.3.2.9 Communication Errors and Aborted Connections",
            sources=SHOWN,
            rule=events(LOST, unit="connections"),
        ),
        Indicator(
            key="connections.failed",
            aspect=Aspect.ERRORS,
            title="attempts to connect that failed",
            unit="connections",
            metrics=(FAILED, REFUSED),
            formula="rise of Aborted_connects without those refused because of max_connections",
            limits=f"error {FROM_THE_FIRST}",
            reason="Wrong password or handshake, connect_timeout, or a check that opens a port and sends nothing.",
            literature=f"{MANUAL}, B.3.2.9 Communication Errors and Aborted Connections",
            sources=SHOWN,
            rule=failed,
        ),
        Indicator(
            key="connections.internal",
            aspect=Aspect.ERRORS,
            title="connections that the server could not serve",
            unit="connections",
            metrics=(INTERNAL,),
            formula="rise of Connection_errors_internal",
            limits=f"error {FROM_THE_FIRST}",
            reason="It had no memory or could start no thread: look at its limits of memory and processes.",
            literature=f"{MANUAL}, 7.1.10 Server Status Variables",
            sources=SHOWN,
            rule=events(INTERNAL, unit="connections"),
        ),
    ),
)
