"""Published results as small frozen values: for pages, the API, and beside measured comparisons."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from django.db.models import Count, Q

from apps.catalog.models import HardwareClass, Platform
from apps.published import wording
from apps.published.format import QUESTIONS
from apps.published.models import Article, Figure
from apps.published.values import (
    ArticleDetail,
    ArticleValue,
    Bar,
    BarChart,
    FigureFilter,
    FigureValue,
    PublishedComparison,
    PublishedPlatform,
    QuestionGroup,
    SideValue,
    TableCell,
    TableHead,
    TableNote,
    TableValue,
)

TABLE = re.compile(r"tables\[(\d+)\]")
# A file was once accepted without.
UNTITLED = "table without a title"
NOT_STATED = "not stated"


def list_articles() -> list[ArticleValue]:
    """The newest first."""
    rows = Article.objects.annotate(figures_held=Count("figures")).order_by("-published", "title")
    return [_article(article) for article in rows]


def list_figures(chosen: FigureFilter | None = None) -> list[FigureValue]:
    """In the order of questions, then articles (newest first), then entries of the file. Two queries."""
    chosen = chosen or FigureFilter()
    articles = {article.slug: article for article in list_articles()}
    rows = Figure.objects.select_related(
        "article", "metric", "platform", "numerator_platform", "denominator_platform", "hardware_class"
    )
    if chosen.platforms:
        rows = rows.filter(_about(chosen.platforms))
    if chosen.questions:
        rows = rows.filter(question__in=chosen.questions)
    if chosen.articles:
        rows = rows.filter(article__slug__in=chosen.articles)
    order = {question: place for place, question in enumerate(QUESTIONS)}
    places = {slug: place for place, slug in enumerate(articles)}
    figures = [_figure(row, articles[row.article.slug]) for row in rows]
    return sorted(figures, key=lambda f: (order.get(f.question, len(order)), places[f.article.slug], f.id))


def figures_about(platform_slugs: Sequence[str], *, questions: Sequence[str] = ()) -> list[FigureValue]:
    """Figures relevant to a comparison of these platforms: every ratio and absolute value about one of them. With two
    or more platforms: only from comparisons that include at least two of them."""
    found = list_figures(FigureFilter(platforms=tuple(platform_slugs), questions=tuple(questions)))
    wanted = set(platform_slugs)
    if len(wanted) < 2:
        return found
    kept: list[FigureValue] = []
    for comparison in compared(found):
        named = {side.platform for figure in comparison.figures for side in figure.sides}
        if len(named & wanted) >= 2:
            kept += [f for f in comparison.figures if {side.platform for side in f.sides} <= wanted]
    return kept


def list_questions(figures: Iterable[FigureValue]) -> list[QuestionGroup]:
    """The figures by question, comparisons with most platforms first; `figures` as from list_figures."""
    groups = []
    for question, found in groupby(figures, key=lambda f: f.question):
        singles, tables = _without_long_tables(list(found))
        groups.append(
            QuestionGroup(
                question=question,
                text=QUESTIONS.get(question, question),
                comparisons=tuple(sorted(compared(singles), key=lambda c: -len(c.platforms))),
                tables=tuple(tables),
            )
        )
    return groups


def narrowed(figures: Iterable[FigureValue], chosen: FigureFilter) -> list[FigureValue]:
    """Figures that match `chosen`, in whole comparisons: a platform's figures come with those beside them."""
    return [
        figure
        for comparison in compared(figures)
        if (not chosen.platforms or comparison.platforms & set(chosen.platforms))
        and (not chosen.questions or comparison.question in chosen.questions)
        and (not chosen.articles or comparison.article.slug in chosen.articles)
        for figure in comparison.figures
    ]


def compared(figures: Iterable[FigureValue]) -> list[PublishedComparison]:
    """Figures of the same article, workload, conditions and metric, grouped, in the order of each group's first; those
    of several machines apart where a side has some of each."""
    groups: dict[tuple[str, str, str, str], list[FigureValue]] = {}
    for figure in figures:
        key = (figure.article.slug, figure.workload, figure.conditions_text, figure.metric)
        groups.setdefault(key, []).append(figure)
    return [_comparison(own, machine) for group in groups.values() for machine, own in _by_machine(group)]


def list_charts(figures: Iterable[FigureValue]) -> list[BarChart]:
    """Bar charts, only where at least two sides have absolute values under equal conditions."""
    charts: dict[tuple[str, str, str], list[PublishedComparison]] = {}
    for comparison in compared(figures):
        absolute = [f for f in comparison.figures if f.side and f.value is not None]
        if len({f.side.name for f in absolute if f.side}) >= 2:
            key = (comparison.article.slug, comparison.workload, comparison.metric)
            charts.setdefault(key, []).append(comparison)
    return [_chart("-".join(key).replace(" ", "_"), group) for key, group in charts.items()]


def list_platforms(figures: Iterable[FigureValue]) -> list[PublishedPlatform]:
    """The platforms of the figures, in the order of their colours."""
    slugs = {side.platform for figure in figures for side in figure.sides if side.platform}
    found = [PublishedPlatform(p.slug, p.name, p.color) for p in Platform.objects.filter(slug__in=slugs)]
    return sorted(found, key=lambda p: (p.color is None, p.color, p.name))


def load_article(slug: str) -> ArticleDetail | None:
    article = Article.objects.filter(slug=slug).first()
    if article is None:
        return None
    figures = list_figures(FigureFilter(articles=(slug,)))
    by_entry = {figure.entry: figure for figure in figures}
    setup = dict(article.setup)
    tables = tuple(_table(i, table, setup, by_entry) for i, table in enumerate(setup.pop("tables", [])))
    return ArticleDetail(
        article=figures[0].article if figures else _article(article),
        setup=setup,
        figures=tuple(sorted((f for f in figures if not f.entry.startswith("tables[")), key=lambda f: f.id)),
        tables=tables,
        all_figures=tuple(figures),
    )


# ---------------------------------------------------------------- helpers


def _without_long_tables(figures: Sequence[FigureValue]) -> tuple[list[FigureValue], list[TableNote]]:
    """Figures to be listed one by one, and the tables left out."""
    tables: dict[tuple[str, int], list[FigureValue]] = {}
    for figure in figures:
        number = TABLE.match(figure.entry)
        if number:
            tables.setdefault((figure.article.slug, int(number.group(1))), []).append(figure)
    notes, left_out = [], set()
    for (_, index), cells in tables.items():
        if not list_charts(cells):
            article = cells[0].article
            notes.append(TableNote(article, index, article.tables[index], len(cells)))
            left_out |= {cell.id for cell in cells}
    return [figure for figure in figures if figure.id not in left_out], notes


def _about(slugs: Sequence[str]) -> Q:
    return Q(platform__slug__in=slugs) | Q(numerator_platform__slug__in=slugs) | Q(denominator_platform__slug__in=slugs)


def _article(article: Article) -> ArticleValue:
    return ArticleValue(
        slug=article.slug,
        title=article.title,
        author=article.author,
        publisher=article.publisher,
        published=article.published,
        tested=article.tested,
        address=article.address,
        figures=getattr(article, "figures_held", 0),
        tables=tuple(table.get("title", UNTITLED) for table in article.setup.get("tables", [])),
    )


def _side(name: str, platform: Platform | None) -> SideValue | None:
    if not name:
        return None
    return SideValue(name, platform.slug if platform else "", platform.color if platform else None)


def _machine(hardware: HardwareClass, setup: dict[str, Any]) -> str:
    described = setup.get("hardware", {}).values()
    labels = {each.get("label", "") for each in described if each.get("hardware_class") == hardware.slug}
    return (labels.pop() if len(labels) == 1 else "") or hardware.name


def _figure(row: Figure, article: ArticleValue) -> FigureValue:
    return FigureValue(
        id=row.pk,
        article=article,
        entry=row.entry,
        question=row.question,
        workload=row.workload,
        conditions=row.conditions,
        metric=row.metric.key,
        metric_name=row.metric.name,
        direction=row.metric.direction,
        unit=row.unit,
        value=row.value,
        low=row.low,
        high=row.high,
        qualifier=row.qualifier,
        side=_side(row.side, row.platform),
        numerator=_side(row.numerator, row.numerator_platform),
        denominator=_side(row.denominator, row.denominator_platform),
        hardware=row.hardware_class.name if row.hardware_class else "",
        machine=_machine(row.hardware_class, row.article.setup) if row.hardware_class else "",
        of_which=row.of_which,
        note=row.note,
    )


def _by_machine(group: Sequence[FigureValue]) -> list[tuple[str, list[FigureValue]]]:
    """Sides may differ in their machines; figures of one side on several are not about the same."""
    machines: dict[tuple[SideValue, ...], set[str]] = {}
    for figure in group:
        machines.setdefault(figure.sides, set()).add(figure.machine)
    if all(len(found) == 1 for found in machines.values()):
        return [("", list(group))]
    return [
        (machine, [figure for figure in group if figure.machine == machine])
        for machine in dict.fromkeys(figure.machine for figure in group)
    ]


def _comparison(group: Sequence[FigureValue], machine: str) -> PublishedComparison:
    first = group[0]
    return PublishedComparison(
        article=first.article,
        question=first.question,
        workload=wording.label(first.workload),
        conditions_text="; ".join(part for part in (first.conditions_text, machine and f"on {machine}") if part),
        machine=machine,
        metric=first.metric,
        metric_name=first.metric_name,
        unit=next((f.unit for f in group if not f.is_ratio and f.unit), first.unit),
        direction_words=first.direction_words,
        figures=tuple(group),
    )


def _chart(anchor: str, group: Sequence[PublishedComparison]) -> BarChart:
    first = group[0]
    several = len(group) > 1
    bars = [
        Bar(
            group=comparison.conditions_text if several else "",
            side=figure.side.name,
            color=figure.side.color,
            value=figure.value,
            stated=figure.stated,
            text=figure.text,
        )
        for comparison in group
        for figure in comparison.figures
        if figure.side and figure.value is not None
    ]
    return BarChart(
        anchor=f"chart-{anchor}",
        title=first.metric_name[:1].upper() + first.metric_name[1:],
        subtitle=first.workload + ("" if several or not first.conditions_text else f", {first.conditions_text}"),
        metric_name=first.metric_name,
        unit="" if first.unit in wording.UNSPOKEN else first.unit,
        direction_words=first.direction_words,
        source=f"{first.article.by}, {first.article.published}",
        bars=tuple(bars),
    )


def _table(index: int, table: dict[str, Any], setup: dict[str, Any], by_entry: dict[str, FigureValue]) -> TableValue:
    sides = setup.get("sides", {})
    columns, rows = table.get("columns", []), table.get("rows", [])

    def cell(r: int, c: int) -> TableCell:
        axis = columns[c].get("axis", "")
        raw = rows[r][c]
        if axis:
            side = sides.get(str(raw), {}) if axis == "side" else {}
            return TableCell(label=side.get("name") or _axis_label(raw), figure=None, is_axis=True)
        figure = by_entry.get(f"tables[{index}].rows[{r}][{c}]")
        if figure is None or figure.value is None:
            return TableCell(label=NOT_STATED, figure=None, is_axis=False)
        words = wording.WORDS[figure.qualifier]
        return TableCell(label=f"{words} {figure.value:,.{decimals[c]}f}".strip(), figure=figure, is_axis=False)

    # Decimals per column: digits align, and stated trailing zeros are restored.
    decimals = [max((_decimals(row[c]) for row in rows), default=0) for c in range(len(columns))]
    cells = tuple(tuple(cell(r, c) for c in range(len(columns))) for r in range(len(rows)))
    return TableValue(
        title=table.get("title", UNTITLED),
        workload=wording.label(table["workload"]),
        conditions_text=wording.conditions(table.get("conditions", {})),
        note=table.get("note", ""),
        heads=tuple(_head(column, [row[c] for row in cells]) for c, column in enumerate(columns)),
        rows=cells,
    )


def _axis_label(value: Any) -> str:
    return NOT_STATED if value is None else wording.plain(value)


def _decimals(value: Any) -> int:
    return len(wording.plain(value).partition(".")[2]) if isinstance(value, float) else 0


def _head(column: dict[str, Any], below: Sequence[TableCell]) -> TableHead:
    if column.get("axis"):
        return TableHead(label=wording.label(column["axis"]), unit="", direction_words="", is_axis=True)
    figure = next((cell.figure for cell in below if cell.figure), None)
    if figure is None:
        return TableHead(
            label=wording.label(column["metric"]), unit=column.get("unit", ""), direction_words="", is_axis=False
        )
    if figure.numerator and figure.denominator:
        label, unit = f"{figure.numerator.name} \N{DIVISION SIGN} {figure.denominator.name}", "ratio"
    elif column.get("side") and figure.side:
        label, unit = f"{figure.metric_name}, {figure.side.name}", figure.unit
    else:
        label, unit = figure.metric_name, figure.unit
    return TableHead(label=label, unit=unit, direction_words=figure.direction_words, is_axis=False)
