"""The lines of sysbench 1.0.20 and 1.1, as patterns with the names of their numbers. Pure."""

import re

# A comma between digits is a decimal one where sysbench prints time or rates with it: in a locale, or after pasting.
COMMAS = re.compile(
    rb"^ {4}(?:total time|time elapsed): +\d+,\d{4}s|^\[ \d+s \] .*\d,\d\d|^ {9}read: +IOPS=\d+,\d\d ", re.MULTILINE
)
DECIMAL_COMMA = re.compile(rb"(?<=\d),(?=\d)")
# With exactly the decimals of sysbench's format, so that a truncated line is not read as a smaller number.
# No number of sysbench's has more digits; Python refuses to read 5,000.
N, N3, N4 = (rb"(-?\d{1,18}\.\d{%d}|-?nan|-?inf)" % decimals for decimals in (2, 3, 4))
I = rb"(\d{1,18})"  # noqa: E741  (an integer, short in patterns)
SECOND = rb"^\[ (?P<second>\d{1,18})s \] "

INTERVALS: tuple[tuple[re.Pattern[bytes], tuple[str, ...]], ...] = tuple(
    (re.compile(SECOND + pattern + rb"$"), names)
    for pattern, names in (
        (
            rb"thds: (?P<threads>\d{1,9}) tps: %s qps: %s \(r/w/o: %s/%s/%s\) lat \(ms,(?P<percentile>\d{1,9})%%\): %s "
            rb"err/s: %s reconn/s: %s" % ((N,) * 8),
            ("throughput", "queries", "reads", "writes", "others", "latency", "errors", "reconnects"),
        ),
        (rb"queue length: %s,? concurrency: %s" % (I, I), ("queue_length", "concurrency")),
        (
            rb"thds: (?P<threads>\d{1,9}) eps: %s lat \(ms,(?P<percentile>\d{1,9})%%\): %s" % (N, N),
            ("events", "latency"),
        ),
        (rb"%s MiB/sec" % N, ("memory_mib",)),
        (
            rb"reads: %s MiB/s writes: %s MiB/s fsyncs: %s/s latency \(ms,(?P<percentile>\d{1,9})%%\): %s"
            % (N, N, N, N3),
            ("file_reads_mib", "file_writes_mib", "file_fsyncs", "latency"),
        ),
    )
)

FILES_OF_1_1 = "file_read_mb_per_second"  # printed by fileio of 1.1 alone
PER_SECOND = rb" +%s +\(%s per sec\.\)" % (I, N)
FIGURES: tuple[tuple[re.Pattern[bytes], tuple[str, ...]], ...] = tuple(
    (re.compile(rb"^" + pattern + rb"$"), names)
    for pattern, names in (
        (rb" {8}read: +" + I, ("reads",)),
        (rb" {8}write: +" + I, ("writes",)),
        (rb" {8}other: +" + I, ("others",)),
        (rb" {8}total: +" + I, ("queries_performed",)),
        (rb" {4}transactions:" + PER_SECOND, ("transactions", "transactions_per_second")),
        (rb" {4}queries:" + PER_SECOND, ("queries", "queries_per_second")),
        (rb" {4}ignored errors:" + PER_SECOND, ("errors", "errors_per_second")),
        (rb" {4}reconnects:" + PER_SECOND, ("reconnects", "reconnects_per_second")),
        (rb" {4}total time: +%ss" % N4, ("total_time",)),
        (rb" {4}total number of events: +" + I, ("events",)),
        (rb" {9}min: +" + N, ("latency_min",)),
        (rb" {9}avg: +" + N, ("latency_avg",)),
        (rb" {9}max: +" + N, ("latency_max",)),
        (rb" {9}sum: +" + N, ("latency_sum",)),
        (rb" {8} *(?P<percentile>\d{1,9})th percentile: +" + N, ("", "latency_p")),
        (rb" {4}events \(avg/stddev\): +%s/%s" % (N4, N), ("thread_events_avg", "thread_events_stddev")),
        (rb" {4}execution time \(avg/stddev\): +%s/%s" % (N4, N), ("thread_time_avg", "thread_time_stddev")),
        (rb" {4}events per second: +" + N, ("events_per_second",)),
        # Version 1.1, instead of "total time".
        (rb" {4}time elapsed: +%ss" % N4, ("total_time",)),
        (rb" {4}events/s \(eps\): +" + N4, ("",)),
        (rb"Total operations: %s \( *%s per second\)" % (I, N), ("operations", "operations_per_second")),
        (rb"%s MiB transferred \(%s MiB/sec\)" % (N, N), ("memory_mib", "memory_mib_per_second")),
        (rb" {4}reads/s: +" + N, ("file_reads_per_second",)),
        (rb" {4}writes/s: +" + N, ("file_writes_per_second",)),
        (rb" {4}fsyncs/s: +" + N, ("file_fsyncs_per_second",)),
        (rb" {4}read, MiB/s: +" + N, ("file_read_mib_per_second",)),
        (rb" {4}written, MiB/s: +" + N, ("file_written_mib_per_second",)),
        # Version 1.1, which prints latencies after them and nothing more.
        (
            rb" {9}read: +IOPS=%s %s MiB/s \(%s MB/s\)" % (N, N, N),
            ("file_reads_per_second", "file_read_mib_per_second", FILES_OF_1_1),
        ),
        (
            rb" {9}write: +IOPS=%s %s MiB/s \(%s MB/s\)" % (N, N, N),
            ("file_writes_per_second", "file_written_mib_per_second", ""),
        ),
        (rb" {9}fsync: +IOPS=" + N, ("file_fsyncs_per_second",)),
    )
)

HEADER: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"^sysbench (\S+)(?: \(using .+\))?$"), "version"),
    (re.compile(rb"^Number of threads: (\d{1,18})$"), "threads"),
    (re.compile(rb"^Target transaction rate: (\d{1,18})/sec$"), "rate"),
    (re.compile(rb"^Report intermediate results every (\d{1,18}) second\(s\)$"), "report_interval"),
)
CHECKPOINT = re.compile(SECOND + rb"Checkpoint report:$")
BUCKET = re.compile(rb"^ *(\d{1,18}\.\d{3}) \|\** +(\d{1,18})$")
MESSAGE = re.compile(
    rb"^(?:(?P<level>FATAL|ALERT|CRITICAL|ERROR|WARNING|DEBUG|PANIC): (?P<text>.*)"
    rb"|(?P<bare>Error in my_thread_global_end\(\).*|Segmentation fault.*|Aborted.*|Killed|invalid option: .*))$"
)
REPEATED = re.compile(rb"^\(last message repeated (\d{1,18}) times\)$")
END_OF_REPORT = "thread_time_avg"

# Progress messages without results.
NOTICE = re.compile(
    rb"^(?:\s*"
    rb"|Running the test with following options:|Debug mode enabled\.|Report checkpoint\(s\) at .+ seconds"
    rb"|Initializing random number generator from (?:current time|seed \(\d+\)\.)|Initializing worker threads\.\.\."
    rb"|Threads started!|Done\.|(?:Time|Event) limit exceeded, exiting\.\.\.|Forcing shutdown in \d+ seconds"
    rb"|Number of unfinished transactions on forced shutdown: \d+|Additional request validation enabled\."
    rb"|SQL statistics:|    queries performed:|General statistics:|Latency \(ms\):|Threads fairness:"
    rb"|         percentile stats: +disabled|Latency histogram \(values are in milliseconds\)"
    rb"|       value  -+ distribution -+ count"
    # prepare, prewarm, cleanup
    rb"|Creating table '\w+'\.\.\.|Inserting \d+ records into '\w+'|Creating a secondary index on '\w+'\.\.\."
    rb"|Dropping table '\w+'\.\.\.|Prewarming table \w+|(?:real|user|sys)\t\d+m[\d.]+s"
    # cpu, memory
    rb"|Prime numbers limit: \d+|CPU speed:|Running memory speed test with the following options:"
    rb"|  block size: \d+KiB|  total size: \d+MiB|  operation: \w+|  scope: \w+"
    # fileio
    rb"|File operations:|Throughput:|\d+ files, \S+ each(?:, \S+ total)?|\S+ total file size|Block size \S+"
    rb"|Extra file open flags: .+|Number of IO requests: \d+|Read/Write ratio for combined random IO test: [\d.]+"
    rb"|(?:Periodic FSYNC|Calling fsync\(\)|Using|Doing) .+|Creating files for the test\.\.\."
    rb"|(?:Creating|Reusing existing|Extending existing) file \S+|Removing test files\.\.\."
    rb"|\d+ bytes written in [\d.]+ seconds \([\d.]+ MiB/sec\)\."
    rb")$"
)


def with_points(output: bytes) -> bytes:
    """`output` with decimal points, of the same length."""
    return DECIMAL_COMMA.sub(b".", output) if COMMAS.search(output) else output
