"""Findings with their changes, reviews and thresholds, and the state of the analysis."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.accounts.models import User
from apps.catalog.models import HardwareClass, LoadLevel, Metric, Platform, Release, System, Workload
from apps.dispatch.models import Campaign, Schedule, ScheduledRun
from apps.runs.models import Run


class Finding(models.Model):
    """Related changes: those of one release on one hardware class in one family of workloads, or missing results of a
    schedule. People review it; `part` numbers the findings split from it.

    `baseline`: the release that it is compared with. `family`: the load tool of its workloads. `verdict` and `largest`
    summarise the changes that hold now: `largest` is the largest relative change (0.12 for 12 %) for the worse, else
    for the better, by its metric's direction; null: none holds.
    """

    class Kind(models.TextChoices):
        CHANGE = "change"
        MISSING = "missing"

    class State(models.TextChoices):
        NEW = "new"
        UNDER_REVIEW = "under review"
        CONFIRMED = "confirmed"
        ACCEPTED = "accepted"
        FIXED = "fixed"
        NOT_REPRODUCIBLE = "not reproducible"
        VERIFY = "verify"

    class Verdict(models.TextChoices):
        WORSE = "worse"
        BETTER = "better"
        MIXED = "mixed", "better and worse"
        MISSING = "missing"
        GONE = "gone"

    kind = models.CharField(max_length=8, choices=Kind.choices)
    platform = models.ForeignKey(Platform, on_delete=models.PROTECT, null=True, blank=True, related_name="findings")
    hardware_class = models.ForeignKey(
        HardwareClass, on_delete=models.PROTECT, null=True, blank=True, related_name="findings"
    )
    release = models.ForeignKey(Release, on_delete=models.PROTECT, null=True, blank=True, related_name="findings")
    baseline = models.ForeignKey(Release, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    schedule = models.ForeignKey(Schedule, on_delete=models.PROTECT, null=True, blank=True, related_name="findings")
    family = models.CharField(max_length=40, blank=True)
    part = models.PositiveSmallIntegerField(default=0)
    title = models.CharField(max_length=250)
    verdict = models.CharField(max_length=8, choices=Verdict.choices)
    largest = models.FloatField(null=True, blank=True)
    state = models.CharField(max_length=16, choices=State.choices, default=State.NEW)
    # Reason of an acceptance or of closing; an acceptance ends after `accepted_until`.
    reason = models.TextField(blank=True)
    accepted_until = models.DateField(null=True, blank=True)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="findings")
    due_on = models.DateField(null=True, blank=True)
    labels = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    merged_into = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="merged")
    campaigns = models.ManyToManyField(Campaign, through="Repetition", related_name="findings")
    found_at = models.DateTimeField(auto_now_add=True)
    # Time of the last activity: lists, feeds and notifications are ordered by it.
    changed_at = models.DateTimeField()

    class Meta:
        ordering = ["-changed_at", "-id"]
        indexes = [
            models.Index(fields=["-changed_at", "-id"], name="finding_newest"),
            models.Index(fields=["state", "-changed_at"], name="finding_by_state"),
            models.Index(fields=["owner", "-changed_at"], name="finding_by_owner"),
        ]
        constraints = [
            # One finding per key, also with concurrent workers.
            models.UniqueConstraint(
                fields=["kind", "platform", "hardware_class", "release", "schedule", "family", "part"],
                nulls_distinct=False,
                name="finding_once",
            ),
            models.CheckConstraint(condition=Q(kind__in=["change", "missing"]), name="finding_kind_known"),
            models.CheckConstraint(
                condition=Q(verdict__in=["worse", "better", "mixed", "missing", "gone"]), name="finding_verdict_known"
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in=[
                        *("new", "under review", "confirmed", "accepted"),
                        *("fixed", "not reproducible", "verify"),
                    ]
                ),
                name="finding_state_known",
            ),
            models.CheckConstraint(
                condition=~Q(state="accepted") | (~Q(reason="") & Q(accepted_until__isnull=False)),
                name="finding_accepted_with_reason_and_end",
            ),
        ]

    def __str__(self) -> str:
        return self.title


class Trend(models.Model):
    """A monitored series of runs: one metric of one workload at one load level on one platform, hardware class and
    configuration, ordered by release, then time. `analysed`: number of its runs analysed, up to `last_run` in that
    order, by the rules of version `rules` (detection.RULES; 0: before versions were recorded).

    `runs`, `variation`, `effect` and `reason`: as in detection.Detectable. `resets`: ids of runs from which on hardware
    or configuration differ.
    """

    platform = models.ForeignKey(Platform, on_delete=models.PROTECT, related_name="+")
    hardware_class = models.ForeignKey(HardwareClass, on_delete=models.PROTECT, related_name="+")
    settings_hash = models.CharField(max_length=64)
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="histories")
    load_level = models.ForeignKey(LoadLevel, on_delete=models.PROTECT, related_name="+")
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="+")
    analysed = models.PositiveIntegerField(default=0)
    last_run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    # Hash of the analysed runs, in order: it differs if earlier runs have changed.
    past_hash = models.CharField(max_length=64, blank=True)
    resets = ArrayField(models.BigIntegerField(), default=list, blank=True)
    runs = models.PositiveIntegerField(default=0)
    variation = models.FloatField(null=True, blank=True)
    effect = models.FloatField(null=True, blank=True)
    reason = models.CharField(max_length=200, blank=True)
    rules = models.PositiveSmallIntegerField(default=0)
    analysed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "regressions_history"
        ordering = ["platform", "workload", "load_level", "metric"]
        constraints = [
            models.UniqueConstraint(
                fields=["platform", "hardware_class", "settings_hash", "workload", "load_level", "metric"],
                name="history_once",
            )
        ]


class Change(models.Model):
    """One change of a finding: of a release relative to another, from one run of a trend on, or a missing result of a
    schedule.

    `ratio` with its 95 % interval (`low`, `high`) is after / before; `p` is corrected for the tests of a release.
    `before` and `after` are values in the metric's unit; `runs_before` and `runs_after` the runs behind them.
    `gone_at`: time since which newer runs do not confirm it. `accepted_ratio`: `ratio` when people last decided about
    it (accepted, confirmed or closed its finding), or were last notified of growth; null: neither.
    """

    class Kind(models.TextChoices):
        RELEASE = "release", "between releases"
        HISTORY = "history", "in the trend"
        MISSING = "missing"

    class Verdict(models.TextChoices):
        WORSE = "worse"
        BETTER = "better"
        MISSING = "missing"

    finding = models.ForeignKey(Finding, on_delete=models.PROTECT, related_name="changes")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    verdict = models.CharField(max_length=8, choices=Verdict.choices)
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="+")
    load_level = models.ForeignKey(LoadLevel, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="changes")
    baseline_system = models.ForeignKey(System, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    history = models.ForeignKey(Trend, on_delete=models.PROTECT, null=True, blank=True, related_name="changes")
    first_run = models.ForeignKey(Run, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    slot = models.ForeignKey(ScheduledRun, on_delete=models.PROTECT, null=True, blank=True, related_name="changes")
    before = models.FloatField(null=True, blank=True)
    after = models.FloatField(null=True, blank=True)
    ratio = models.FloatField(null=True, blank=True)
    low = models.FloatField(null=True, blank=True)
    high = models.FloatField(null=True, blank=True)
    p = models.FloatField(null=True, blank=True)
    accepted_ratio = models.FloatField(null=True, blank=True)
    runs_before = ArrayField(models.BigIntegerField(), default=list, blank=True)
    runs_after = ArrayField(models.BigIntegerField(), default=list, blank=True)
    reason = models.TextField(blank=True)
    found_at = models.DateTimeField(auto_now_add=True)
    judged_at = models.DateTimeField()
    gone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["finding", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["system", "baseline_system", "workload", "load_level", "metric"],
                condition=Q(kind="release"),
                name="change_of_release_once",
            ),
            models.UniqueConstraint(
                fields=["history", "first_run"], condition=Q(kind="history"), name="change_of_history_once"
            ),
            models.UniqueConstraint(
                fields=["slot", "system", "workload"], condition=Q(kind="missing"), name="change_missing_once"
            ),
            models.CheckConstraint(
                condition=Q(kind="release", baseline_system__isnull=False, metric__isnull=False)
                | Q(kind="history", history__isnull=False, first_run__isnull=False, metric__isnull=False)
                | Q(kind="missing", slot__isnull=False),
                name="change_is_whole",
            ),
        ]


class Repetition(models.Model):
    """A campaign that measures both sides of a finding again."""

    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="repetitions")
    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="repetition")
    asked_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]


class Note(models.Model):
    """Activity of a finding, in order: who did what, and comments. `by` null: the system.

    `what` names the action ("found", "state", "owner", "due", "labels", "comment", "link", "unlink", "merged", "split",
    "reopened", "repetitions", "changed", "grown", "gone", "back"); `detail` has its values, `text` the person's text.
    """

    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="notes")
    what = models.CharField(max_length=16)
    by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    text = models.TextField(blank=True)
    detail = models.JSONField(default=dict, blank=True)
    mentions = models.ManyToManyField(User, related_name="mentioned_in", blank=True)

    class Meta:
        ordering = ["id"]


class Link(models.Model):
    """A link from a finding to an external issue."""

    finding = models.ForeignKey(Finding, on_delete=models.CASCADE, related_name="links")
    url = models.URLField(max_length=500)
    title = models.CharField(max_length=200, blank=True)
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["finding", "url"], name="link_once")]


class Threshold(models.Model):
    """Smallest difference that counts as a finding: for one workload and metric, for one of them alone, or (neither)
    for all. `smallest`: relative difference (0.02 for 2 %); `significant`: p in the trend; `margin`: share by which a
    row of the release gate may be worse and pass; null: that of the next more general one."""

    workload = models.ForeignKey(Workload, on_delete=models.CASCADE, null=True, blank=True, related_name="thresholds")
    metric = models.ForeignKey(Metric, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    smallest = models.FloatField()
    significant = models.FloatField()
    margin = models.FloatField(null=True, blank=True)
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["workload", "metric"], nulls_distinct=False, name="threshold_once"),
            models.CheckConstraint(
                condition=Q(smallest__gt=0, smallest__lt=1, significant__gt=0, significant__lte=1e-4),
                name="threshold_in_range",
            ),
            models.CheckConstraint(
                condition=Q(margin__isnull=True) | Q(margin__gt=0, margin__lte=1), name="threshold_margin_in_range"
            ),
        ]


class SignOff(models.Model):
    """A person's approval of a release on a hardware class; `seen` is the summary that was shown."""

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="sign_offs")
    hardware_class = models.ForeignKey(HardwareClass, on_delete=models.PROTECT, related_name="+")
    by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    note = models.TextField(blank=True)
    seen = models.JSONField(default=dict)
    withdrawn_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]


class Looked(models.Model):
    """State in which a run was analysed: when it was sealed, and whether it was excluded. A run in another state is
    analysed again."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="looked")
    sealed_at = models.DateTimeField()
    is_excluded = models.BooleanField()
    at = models.DateTimeField(auto_now=True)


class Pending(models.Model):
    """A release on a hardware class queued for comparison because of new runs. Locked while it is compared."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="+")
    hardware_class = models.ForeignKey(HardwareClass, on_delete=models.CASCADE, related_name="+")
    since = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "hardware_class"], name="pending_once")]


class CheckedRelease(models.Model):
    """Last comparison of a release on a hardware class with its predecessor, from which lists, badges and the release's
    page are shown without statistics. `baseline` null: there is none. `told` is the whole comparison as JSON, written
    by releases.stored_checks; `counts` its rows by verdict; `result` is "fine", "regression" or "cannot tell"."""

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="checks")
    hardware_class = models.ForeignKey(HardwareClass, on_delete=models.PROTECT, related_name="+")
    baseline = models.ForeignKey(Release, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    result = models.CharField(max_length=12)
    counts = models.JSONField(default=dict)
    told = models.JSONField(default=dict)
    checked_at = models.DateTimeField()

    class Meta:
        ordering = ["-checked_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["release", "hardware_class"], name="checked_release_once"),
            models.CheckConstraint(
                condition=Q(result__in=["fine", "regression", "cannot tell"]), name="checked_release_result_known"
            ),
        ]
