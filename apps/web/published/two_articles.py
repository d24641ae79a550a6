"""The page of two published articles side by side."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from apps.core.problems import FieldProblem, Invalid
from apps.core.query import Address
from apps.published import queries
from apps.published.side_by_side import side_by_side
from apps.published.wording import NO_INTERVAL
from apps.web.components.pages import render_page


@require_safe
def show(request: HttpRequest) -> HttpResponse:
    articles = queries.list_articles()
    problems, found = tuple[FieldProblem, ...](), None
    address = Address(request.GET, "one", "other")
    known = [article.slug for article in articles]
    chosen = {name: address.choice(name, known) for name in ("one", "other")}
    try:
        address.check()
    except Invalid as refused:
        problems = refused.errors
    else:
        found = side_by_side(chosen["one"], chosen["other"]) if all(chosen.values()) else None
    context = {
        "articles": [(article.slug, f"{article.by}, {article.published}: {article.title}") for article in articles],
        "chosen": chosen,
        "found": found,
        "no_interval": NO_INTERVAL,
        "problems": problems,
    }
    return render_page(request, "web/published/two_articles.html", context, status=400 if problems else 200)
