"""The page Trends: a board of changes by night, campaign, build or release."""

from dataclasses import dataclass, field

from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from apps.catalog.models import Platform
from apps.core.problems import FieldProblem, Invalid
from apps.core.query import Address
from apps.regressions.api import Board, BoardFilter, trend_board, trend_columns
from apps.regressions.models import Trend
from apps.web.components.lists import this_page
from apps.web.components.pages import render_page
from apps.web.trends.board_sheet import SORTS, WORST, board_sheet

NAMES = {"headline": "Headline", "p95": "p95", "p99": "p99", "errors": "Errors"}
EMPTY = Board(trend_columns.NIGHT, (), (), 0, 0, more=False)


@dataclass(frozen=True)
class BoardChoice:
    """`chosen` for the statistics; `sort`: a key of SORTS; `changed`: changed rows only."""

    chosen: BoardFilter = field(default_factory=BoardFilter)
    sort: str = WORST
    changed: bool = False


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    platforms = list(Platform.objects.filter(pk__in=Trend.objects.order_by().values("platform")))
    status, problems, board, choice = 200, tuple[FieldProblem, ...](), EMPTY, BoardChoice()
    try:
        choice = read(request.GET, [each.slug for each in platforms])
        board = trend_board.load_board(choice.chosen)
    except Invalid as error:
        status, problems = 400, error.errors
    chosen = choice.chosen
    sheet = board_sheet(board, sort=choice.sort, changed=choice.changed)
    names = {**NAMES, "headline": sheet.headline or NAMES["headline"]}
    context = {
        "board": board,
        "sheet": sheet,
        "choice": choice,
        "chosen": chosen,
        "problems": problems,
        "title": f"{sheet.metric or names[chosen.metric]} by {board.by}, change from the baseline",
        "platforms": [(each, this_page(request, platform=each.slug, baseline="")) for each in platforms],
        "every_platform": this_page(request, platform=""),
        "metrics": [(key, words, _link(request, "metric", key)) for key, words in names.items()],
        "columns": [(key, words, _link(request, "by", key)) for key, words in trend_columns.COLUMNS.items()],
        "sorts": SORTS.items(),
        "baselines": _baselines(board),
        "hidden": [(name, request.GET[name]) for name in ("by", "metric", "platform") if request.GET.get(name)],
    }
    return render_page(request, "web/trends/board.html", context, part="web/trends/board_part.html", status=status)


def read(given: QueryDict, platforms: list[str]) -> BoardChoice:
    """Raises Invalid naming each parameter that is not known."""
    address = Address(given, "by", "metric", "platform", "baseline", "sort", "changed")
    chosen = BoardFilter(
        by=address.choice("by", trend_columns.COLUMNS),
        metric=address.choice("metric", trend_board.METRICS) or trend_board.HEADLINE,
        platform=address.choice("platform", platforms),
        baseline=address.text("baseline"),
    )
    choice = BoardChoice(chosen, address.choice("sort", SORTS) or WORST, bool(address.choice("changed", ("1",))))
    address.check()
    return choice


def _link(request: HttpRequest, name: str, key: str) -> str:
    """The page with another metric or other columns; a baseline is a column's name."""
    return this_page(request, **{name: key}, **({"baseline": ""} if name == "by" else {}))


def _baselines(board: Board) -> list[tuple[str, str]]:
    keys = dict.fromkeys(board.times) or dict.fromkeys(
        column.key for group in board.groups for column in group.columns if column
    )
    return [(key, key) for key in keys]
