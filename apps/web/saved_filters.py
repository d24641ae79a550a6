"""A reader's own filters of the list of runs: saved under a name, removed by it."""

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from apps.accounts.current_user import signed_in
from apps.accounts.services import remove_filter, save_filter
from apps.core.problems import Invalid
from apps.web.runs import filters


@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest) -> HttpResponse:
    """`query`: of the list that is shown, saved under `name`; `remove`: the name of a filter to remove."""
    query = QueryDict(request.POST.get("query", ""))
    back = f"{reverse('web:runs')}?{query.urlencode()}" if query else reverse("web:runs")
    if request.method != "POST":
        return redirect(back)
    user = signed_in(request)
    if user is None:
        return redirect_to_login(back)
    if removed := request.POST.get("remove", ""):
        if remove_filter(user=user, name=removed):
            messages.info(request, f"Filter “{removed}” removed.")
        return redirect(back)
    try:
        if problems := filters.read(query).problems:
            raise Invalid(problems)
        saved = save_filter(user=user, name=request.POST.get("name", ""), query=filters.kept(query))
    except Invalid as error:
        for problem in error.errors:
            messages.error(request, problem.sentence())
        return redirect(back)
    messages.success(request, f"Filter “{saved.name}” saved.")
    return redirect(f"{reverse('web:runs')}?{saved.query}")
