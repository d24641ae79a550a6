"""Figures stated by articles, separate from measured runs. One row per figure."""

from django.db import models
from django.db.models import Q

from apps.catalog.models import SHA256, HardwareClass, Metric, Platform


class Article(models.Model):
    """A published source, loaded from one YAML file; `content_hash` changes with the file."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    author = models.CharField(max_length=120, blank=True)
    publisher = models.CharField(max_length=120, blank=True)
    published = models.CharField("date as stated (YYYY, YYYY-MM or YYYY-MM-DD)", max_length=10)
    tested = models.CharField("date of the tests as stated", max_length=10, blank=True)
    address = models.URLField(blank=True)
    # The test setup as stated in the file: hardware, topology, workloads, conditions.
    setup = models.JSONField(default=dict, blank=True)
    content_hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["-published", "title"]
        constraints = [models.CheckConstraint(condition=Q(content_hash__regex=SHA256), name="article_hash_is_sha256")]

    def __str__(self) -> str:
        return self.title


class Figure(models.Model):
    """One stated figure. A ratio has numerator and denominator and no absolute value; an outcome has only a note.

    `side`: the subject in the article's terms; `platform`: that of the catalog, if any. A range has `low` and `high`,
    with or without a `value`. `of_which`: parts of the value, in the same unit.
    """

    class Qualifier(models.TextChoices):
        EXACT = "exact"
        APPROX = "approx", "about"
        AT_LEAST = "at_least", "at least"
        AT_MOST = "at_most", "at most"

    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="figures")
    entry = models.CharField("entry of the file, for example results[3]", max_length=80)
    # Key of QUESTIONS in format.py; pages group by it.
    question = models.CharField(max_length=40)
    workload = models.CharField(max_length=80)
    conditions = models.JSONField(default=dict, blank=True)
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="+")
    unit = models.CharField(max_length=40, blank=True)
    value = models.FloatField(null=True, blank=True)
    low = models.FloatField(null=True, blank=True)
    high = models.FloatField(null=True, blank=True)
    qualifier = models.CharField(max_length=10, choices=Qualifier.choices, blank=True)
    side = models.CharField(max_length=80, blank=True)
    platform = models.ForeignKey(Platform, on_delete=models.PROTECT, null=True, blank=True, related_name="figures")
    hardware_class = models.ForeignKey(
        HardwareClass, on_delete=models.PROTECT, null=True, blank=True, related_name="figures"
    )
    numerator = models.CharField(max_length=80, blank=True)
    denominator = models.CharField(max_length=80, blank=True)
    numerator_platform = models.ForeignKey(Platform, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    denominator_platform = models.ForeignKey(
        Platform, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    of_which = models.JSONField(default=dict, blank=True)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["article", "id"]
        constraints = [
            models.UniqueConstraint(fields=["article", "entry"], name="figure_once"),
            # A ratio has two sides, any other figure one.
            models.CheckConstraint(
                condition=Q(unit="ratio") & ~Q(numerator="") & ~Q(denominator="") & Q(side="")
                | ~Q(unit="ratio") & Q(numerator="", denominator=""),
                name="figure_ratio_names_both_sides",
            ),
            models.CheckConstraint(
                condition=Q(qualifier__in=["exact", "approx", "at_least", "at_most"])
                & (Q(value__isnull=False) | Q(low__isnull=False, high__isnull=False))
                | Q(value__isnull=True, low__isnull=True, high__isnull=True, qualifier="") & ~Q(note=""),
                name="figure_has_value_or_note",
            ),
            models.CheckConstraint(
                condition=Q(low__isnull=True, high__isnull=True) | Q(low__lte=models.F("high")),
                name="figure_low_to_high",
            ),
        ]
