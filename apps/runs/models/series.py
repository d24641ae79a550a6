"""Stored samples of sealed runs: nodes with their clocks, blocks of samples, statistics of series."""

from django.db import models

from apps.catalog.models import Metric
from apps.runs.models.run import Configuration, Run


class RunNode(models.Model):
    """A node of a run: its sample times (pcodec block of float64 seconds on the run's clock) and constant series.

    `number` is the node's index in the run (0: the load generator). `constants`: metric key -> value of the series
    that never changed. `defaults`: default values of the server's variables, as reported by the server; null: not
    asked.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="nodes")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=80)
    role = models.CharField(max_length=16, blank=True)
    samples = models.PositiveIntegerField(default=0)
    clock = models.BinaryField(default=b"")
    constants = models.JSONField(default=dict, blank=True)
    configuration = models.ForeignKey(Configuration, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    defaults = models.ForeignKey(Configuration, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["run", "number"]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="run_node_number_once"),
            models.UniqueConstraint(fields=["run", "name"], name="run_node_name_once"),
        ]


class Block(models.Model):
    """Compressed samples of a node's changing series, concatenated; Series rows hold offset and length. `data` is null
    once retention has moved it to the archive; `size`, in bytes, is kept.
    """

    pk = models.CompositePrimaryKey("run_id", "node")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="blocks", db_index=False)
    node = models.PositiveSmallIntegerField()
    size = models.BigIntegerField("size, bytes")
    data = models.BinaryField(null=True)


class Series(models.Model):
    """One metric on one node in one run: statistics over the measured phase and over the whole run (`whole_…`), and
    the location of its samples, `length` bytes at `offset` of the node's Block, on the node's clock.

    A counter's statistics are those of its rate (per second, over each measured interval); `increase` is the sum of
    its positive steps and `resets` the number of decreases. Null: not observed. `length` 0: a derived metric, computed
    from its inputs when read. Series with equal increments share their bytes and differ in `base`.
    """

    pk = models.CompositePrimaryKey("run_id", "metric_id", "node")
    # Without constraints, which PostgreSQL checks and locks for each of a run's thousand series, half of its time of a
    # seal: who writes series has created or locked their run, and metrics are never deleted.
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="series", db_index=False, db_constraint=False)
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)
    node = models.PositiveSmallIntegerField()
    base = models.BigIntegerField("what its integers are counted from", default=0)
    offset = models.PositiveIntegerField("place in the node's block, bytes", default=0)
    length = models.PositiveIntegerField("length in the node's block, bytes", default=0)
    count = models.PositiveIntegerField(default=0)
    mean = models.FloatField(null=True)
    stddev = models.FloatField(null=True)
    minimum = models.FloatField(null=True)
    maximum = models.FloatField(null=True)
    p1 = models.FloatField(null=True)
    p5 = models.FloatField(null=True)
    p50 = models.FloatField(null=True)
    p95 = models.FloatField(null=True)
    p99 = models.FloatField(null=True)
    first = models.FloatField(null=True)
    last = models.FloatField(null=True)
    increase = models.FloatField(null=True)
    resets = models.PositiveIntegerField(default=0)
    whole_count = models.PositiveIntegerField(default=0)
    whole_mean = models.FloatField(null=True)
    whole_stddev = models.FloatField(null=True)
    whole_minimum = models.FloatField(null=True)
    whole_maximum = models.FloatField(null=True)
    whole_p1 = models.FloatField(null=True)
    whole_p5 = models.FloatField(null=True)
    whole_p50 = models.FloatField(null=True)
    whole_p95 = models.FloatField(null=True)
    whole_p99 = models.FloatField(null=True)
    whole_first = models.FloatField(null=True)
    whole_last = models.FloatField(null=True)
    whole_increase = models.FloatField(null=True)
    whole_resets = models.PositiveIntegerField(default=0)
