"""Loading published results: a file is stored as a whole, in one transaction, or rejected as a whole."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from django.db import DataError, transaction

from apps.catalog.models import HardwareClass, Metric, Platform
from apps.core import yaml_text
from apps.core.audit.api import Action, record
from apps.core.problems import FieldProblem, Invalid
from apps.core.text import counted
from apps.published.format import RATIO, ArticleSide, Document, MalformedFile, StatedFigure
from apps.published.models import Article, Figure
from apps.published.parse import content_of, read

__all__ = ["LARGEST", "OWN_DATA", "MalformedFile", "load_all", "load_file", "load_upload"]

OWN_DATA = Path(__file__).resolve().parent / "data"
# Part of the content hash: raise it when the same file would be stored differently.
LOADER = 1
RESERVED = ("new", "figures", "side-by-side")  # addresses of pages beside the articles
LARGEST = 1024 * 1024  # bytes of an uploaded file
HELP = "correct it and send the file again; docs/reference/published-format.md has the format"


def load_upload(content: bytes, *, name: str = "the file") -> Article:
    """The article of an uploaded file; one of the same slug is replaced. `name`: of the file, in errors.

    Raises Invalid, with the entry of the file as its field; the rows loaded before are kept.
    """
    if len(content) > LARGEST:
        raise Invalid([FieldProblem("file", f"is larger than {LARGEST:,} bytes", "send one article in a file")])
    try:
        # Aliases may make a short text long.
        yaml_text.load_with_lines(content, aliases=False)
        document = read(name, content)
        if document.slug in RESERVED or (OWN_DATA / f"{document.slug}.yaml").exists():
            taken = f"{document.slug!r} is that of a page or of an article that comes with the product"
            raise Invalid([FieldProblem("slug", taken, "use another slug")])
        return _store(document, _hash(content))
    except yaml_text.NotYaml as error:
        line = f"line {error.line}: " if error.line else ""
        raise Invalid([FieldProblem("file", f"{line}{error}", HELP)]) from error
    except MalformedFile as error:
        place = ".".join(part for part in (error.entry, error.field) if part)
        raise Invalid([FieldProblem(place or "file", error.message, HELP)]) from error


def load_file(path: Path) -> Article:
    """The article of `path`; an unchanged file changes nothing, a changed one replaces its figures.

    Raises MalformedFile; the rows loaded before are kept.
    """
    content = content_of(path)
    fingerprint = _hash(content)
    known = Article.objects.filter(content_hash=fingerprint).first()
    return known or _store(read(path.name, content), fingerprint)


def load_all(directory: Path) -> list[Article]:
    """Every *.yaml of `directory`, or none: raises MalformedFile if one is malformed or two have the same slug."""
    paths = sorted(directory.glob("*.yaml"))
    if not paths:
        raise MalformedFile(str(directory), "", "", "holds no *.yaml file")
    with transaction.atomic():
        articles: dict[str, str] = {}
        loaded = []
        for path in paths:
            article = load_file(path)
            if article.slug in articles:
                raise MalformedFile(path.name, "", "slug", f"{article.slug!r} is also that of {articles[article.slug]}")
            articles[article.slug] = path.name
            loaded.append(article)
    return loaded


def _hash(content: bytes) -> str:
    return hashlib.sha256(b"%d\n" % LOADER + content).hexdigest()


def _store(document: Document, fingerprint: str) -> Article:
    """Raises MalformedFile, also for what the parser should have refused."""
    try:
        return _stored(document, fingerprint)
    except DataError as error:
        raise MalformedFile(document.file, "", "", f"cannot be stored: {error}") from error


@transaction.atomic
def _stored(document: Document, fingerprint: str) -> Article:
    catalog = _Catalog(document)
    source = document.source
    fields = {
        "title": source.title,
        "author": source.author,
        "publisher": source.publisher,
        "published": str(source.published),
        "tested": str(source.tested),
        "address": source.address,
        "setup": _setup(document),
        "content_hash": fingerprint,
    }
    # Locks the row until the figures are replaced, so that concurrent loads leave one complete set.
    article, is_new = Article.objects.select_for_update().update_or_create(slug=document.slug, defaults=fields)
    before = "" if is_new else counted(article.figures.count(), "figure")
    article.figures.all().delete()
    Figure.objects.bulk_create(catalog.figure(article, stated) for stated in document.figures)
    record(
        Action.ARTICLE_LOAD, f"article {article.slug}", before=before, after=counted(len(document.figures), "figure")
    )
    return article


def _setup(document: Document) -> dict[str, Any]:
    """Test setup as stated in the file, without empty fields."""
    setup: dict[str, Any] = {}
    for name in ("hardware", "sides", "workloads", "conditions", "topology", "client", "releases"):
        setup[name] = getattr(document, name)
    for name in ("load_levels", "bottlenecks", "errors", "notes"):
        setup[name] = getattr(document, name)
    setup["tables"] = document.tables
    plain: dict[str, Any] = msgspec.to_builtins(setup)
    return {name: _without_empty(value) for name, value in plain.items() if value}


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_empty(entry) for key, entry in value.items() if entry not in ("", None, [], {})}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_without_empty(entry) for entry in value]
    return value


class _Catalog:
    """Catalog rows of a document's platforms, machines and metrics: three queries."""

    def __init__(self, document: Document) -> None:
        self.document = document
        platforms = {side.platform for side in document.sides.values()}
        machines = {machine.hardware_class for machine in document.hardware.values()}
        self.platforms = Platform.objects.in_bulk(_named(platforms), field_name="slug")
        self.machines = HardwareClass.objects.in_bulk(_named(machines), field_name="slug")
        self.metrics = {
            metric.key: metric for metric in Metric.objects.filter(key__in={s.figure.metric for s in document.figures})
        }
        for key, side in document.sides.items():
            self._known(side.platform, self.platforms, f"sides.{key}", "platform")
        for key, machine in document.hardware.items():
            self._known(machine.hardware_class, self.machines, f"hardware.{key}", "hardware_class")
        for stated in document.figures:
            self._check_metric(stated)

    def figure(self, article: Article, stated: StatedFigure) -> Figure:
        given = stated.figure
        sides = self.document.sides
        side = sides.get(given.side)
        numerator, denominator = sides.get(given.numerator), sides.get(given.denominator)
        return Figure(
            article=article,
            entry=stated.entry,
            question=self.document.workloads[given.workload].question,
            workload=given.workload,
            conditions=given.conditions,
            metric=self.metrics[given.metric],
            unit=given.unit,
            value=given.value,
            low=given.low,
            high=given.high,
            qualifier=given.qualifier,
            side=side.name if side else "",
            platform=self._platform(side),
            hardware_class=self._hardware_class(given.hardware, side),
            numerator=numerator.name if numerator else "",
            numerator_platform=self._platform(numerator),
            denominator=denominator.name if denominator else "",
            denominator_platform=self._platform(denominator),
            of_which=given.of_which,
            note=given.note,
        )

    def _platform(self, side: ArticleSide | None) -> Platform | None:
        return self.platforms.get(side.platform) if side else None

    def _hardware_class(self, key: str, side: ArticleSide | None) -> HardwareClass | None:
        """The figure's class, else that of its side if it has only one."""
        if not key and side and len(side.hardware) == 1:
            key = side.hardware[0]
        return self.machines.get(self.document.hardware[key].hardware_class) if key else None

    def _known(self, slug: str, there: Mapping[str, Any], entry: str, field: str) -> None:
        if slug and slug not in there:
            message = (
                f"{slug!r} is not in the catalog: use a slug of the Catalog page (manage.py seed_catalog fills it)"
            )
            raise MalformedFile(self.document.file, entry, field, message)

    def _check_metric(self, stated: StatedFigure) -> None:
        given = stated.figure
        self._known(given.metric, self.metrics, stated.entry, "metric")
        unit = self.metrics[given.metric].unit
        stated_number = given.value is not None or given.low is not None
        if stated_number and given.unit not in {unit, RATIO}:
            message = f"{given.unit!r} must be {unit!r}, the unit of {given.metric}, or {RATIO!r}"
            raise MalformedFile(self.document.file, stated.entry, "unit", message)


def _named(slugs: Iterable[str]) -> list[str]:
    return sorted(slug for slug in slugs if slug)
