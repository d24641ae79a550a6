"""The form for the price of a hardware class."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from apps.catalog.api import prices
from apps.catalog.models import HardwareClass
from apps.web.accounts.guards import writers_only
from apps.web.components.addresses import way_back
from apps.web.components.forms import PageForm
from apps.web.components.pages import render_page


class PriceForm(PageForm):
    """An empty price deletes the current one."""

    usd_per_hour = forms.DecimalField(
        required=False, error_messages={"invalid": "is not a number: write USD per hour, for example 0.286"}
    )
    source = forms.CharField(required=False)
    date = forms.DateField(required=False, error_messages={"invalid": "is not a day: write YYYY-MM-DD"})

    def keep(self, hardware: HardwareClass) -> None:
        prices.set_price(
            slug=hardware.slug,
            usd_per_hour=self.cleaned_data["usd_per_hour"],
            source=self.cleaned_data["source"],
            stated_on=self.cleaned_data["date"],
            today=timezone.now().date(),
        )


@require_http_methods(["GET", "HEAD", "POST"])
@writers_only
def state(request: HttpRequest, slug: str) -> HttpResponse:
    hardware = get_object_or_404(HardwareClass, slug=slug)
    if request.method != "POST":
        known = {"source": hardware.price_source, "date": hardware.price_date}
        if hardware.price_per_hour is not None:
            known["usd_per_hour"] = f"{hardware.price_per_hour.normalize():f}"
        return _page(request, hardware, PriceForm(initial=known))
    form = PriceForm(request.POST)
    form.attempt(lambda: form.keep(hardware))
    if form.errors:
        return _page(request, hardware, form, status=422)
    words = "is saved" if form.cleaned_data["usd_per_hour"] is not None else "is removed"
    messages.info(request, f"The price of {hardware.name} {words}.")
    return HttpResponseRedirect(_back(request))


def _page(request: HttpRequest, hardware: HardwareClass, form: PriceForm, *, status: int = 200) -> HttpResponse:
    context: dict[str, Any] = {
        "hardware": hardware,
        "form": form,
        "longest": prices.LONGEST_SOURCE,
        "back": _back(request),
    }
    return render_page(request, "web/catalog/price.html", context, status=status)


def _back(request: HttpRequest) -> str:
    return way_back(request, usual=f"{reverse('web:catalog')}#hardware")
