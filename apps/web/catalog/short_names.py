"""The form for the short name of a system."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from apps.catalog.api import set_short_name
from apps.catalog.models import System
from apps.catalog.pure import LONGEST_SHORT_NAME
from apps.web.accounts.guards import writers_only
from apps.web.components.forms import PageForm
from apps.web.components.pages import render_page


class ShortNameForm(PageForm):
    short_name = forms.CharField(required=False)


@require_http_methods(["GET", "HEAD", "POST"])
@writers_only
def change(request: HttpRequest, slug: str) -> HttpResponse:
    system = get_object_or_404(System, slug=slug)
    form = ShortNameForm(request.POST if request.method == "POST" else None, initial={"short_name": system.short_name})
    if form.attempt(lambda: set_short_name(slug=slug, text=form.cleaned_data["short_name"])):
        system.refresh_from_db()
        messages.info(request, f"{system.name} is called {system.short_name} now.")
        return HttpResponseRedirect(f"{reverse('web:catalog')}#platforms")
    context = {"system": system, "form": form, "longest": LONGEST_SHORT_NAME}
    return render_page(request, "web/catalog/short_name.html", context, status=422 if form.errors else 200)
