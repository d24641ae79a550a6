"""The resources in the order of the panel; source of docs/reference/use-method.md. Pure."""

from apps.use_method.indicators import Indicator, Resource
from apps.use_method.resources import (
    aurora,
    buffer_pool,
    client,
    connections,
    cpu,
    disk,
    errors,
    galera,
    group_replication,
    memory,
    network,
    postgresql,
    proxy,
    purge,
    redo_log,
    replication,
    row_locks,
    semi_sync,
    service,
    table_cache,
    table_locks,
    temporary_tables,
    threads,
)

RESOURCES: tuple[Resource, ...] = (
    cpu.RESOURCE,
    memory.RESOURCE,
    disk.RESOURCE,
    network.RESOURCE,
    connections.RESOURCE,
    threads.RESOURCE,
    row_locks.RESOURCE,
    table_locks.RESOURCE,
    buffer_pool.RESOURCE,
    redo_log.RESOURCE,
    table_cache.RESOURCE,
    temporary_tables.RESOURCE,
    purge.RESOURCE,
    postgresql.RESOURCE,
    service.RESOURCE,
    aurora.RESOURCE,
    aurora.VOLUME,
    galera.RESOURCE,
    group_replication.RESOURCE,
    replication.RESOURCE,
    semi_sync.RESOURCE,
    proxy.RESOURCE,
    errors.RESOURCE,
    client.RESOURCE,
)
INDICATORS: dict[str, Indicator] = {
    indicator.key: indicator for resource in RESOURCES for indicator in resource.indicators
}
RESOURCE_OF: dict[str, Resource] = {
    indicator.key: resource for resource in RESOURCES for indicator in resource.indicators
}
# Keys and patterns of all series that rules read.
METRICS = tuple(dict.fromkeys(key for indicator in INDICATORS.values() for key in indicator.metrics))
