"""The page that loads an article's file."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from apps.core.problems import FieldProblem, Invalid
from apps.published import services
from apps.web.accounts.guards import writers_only
from apps.web.components.pages import file_or_text, render_page

EXAMPLE = """\
format: 1
slug: two-servers-2026
source:
  title: Two servers under sysbench
  author: A. Author
  published: 2026-11
sides:
  one: {name: MariaDB 10.11, platform: mariadb}
  two: {name: MariaDB Galera, platform: galera}
workloads:
  oltp: {question: oltp, tool: sysbench, parameters: {tables: 8}}
figures:
  - {workload: oltp, metric: transactions_per_second, unit: transactions/s, side: one, value: 1850, qualifier: exact}
  - {workload: oltp, metric: transactions_per_second, unit: transactions/s, side: two, value: 1210, qualifier: approx}
"""


@require_http_methods(["GET", "HEAD", "POST"])
@writers_only
def load(request: HttpRequest) -> HttpResponse:
    """Takes an uploaded file or text, as a whole or not at all."""
    if request.method != "POST":
        return _page(request, EXAMPLE)
    content = file_or_text(request, largest=services.LARGEST)
    try:
        article = services.load_upload(content)
    except Invalid as refused:
        text = content[: services.LARGEST].decode(errors="replace")
        return _page(request, text, problems=refused.errors, status=422)
    return redirect("web:article", article.slug)


def _page(
    request: HttpRequest, text: str, *, problems: tuple[FieldProblem, ...] = (), status: int = 200
) -> HttpResponse:
    return render_page(request, "web/published/upload.html", {"text": text, "problems": problems}, status=status)
