"""The curated metrics of single workloads, in the form of apps.catalog.metrics. Pure."""

METRICS = """
ddl.gap | longest time without a transaction | s | gauge | lower | - | -
    Longest time, to 50 ms, in which no transaction ended, from a statement's start until 3 s after its end.
ddl.gap_before | longest time without a transaction, before | s | gauge | lower | - | -
    The same before the first statement: what the load does undisturbed.
ddl.duration | time of the statement | s | gauge | lower | - | -
    Time that the ALTER took with its waits; of several, the longest.
ddl.baseline | throughput before the statements | transactions/s | gauge | neutral | - | -
    Median of the whole seconds of the measured phase before the first statement.
ddl.stall.length | stall | s | gauge | lower | - | -
    Seconds with throughput under the stated share of the baseline, from a statement's start until 3 s after its end.
ddl.stall.depth | depth of the stall | % | gauge | lower | - | -
    Share of the baseline that was lost in the worst of these seconds.
ddl.stall.depth_before | deepest second before | % | gauge | lower | - | -
    The same before the first statement: how far the load varies undisturbed.
ddl.metadata_lock_wait | wait for the metadata lock | s | gauge | lower | table locks | saturation
    Time that the statement waited for its table's metadata lock, looked at every 50 ms; of several, the longest.
ddl.metadata_lock_queue | connections behind the statement | connections | gauge | lower | table locks | saturation
    Most other connections that waited for a metadata lock at once while the statement was under way.
"""
