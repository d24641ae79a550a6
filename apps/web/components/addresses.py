"""Addresses that several pages link to."""

from collections.abc import Iterable

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode

from apps.comparison.pure import Comparison


def way_back(request: HttpRequest, *, usual: str) -> str:
    """The page of this site that the parameter `next` names; `usual` where it names none or one elsewhere."""
    asked = (request.POST if request.method == "POST" else request.GET).get("next", "")
    return asked if url_has_allowed_host_and_scheme(asked, allowed_hosts={request.get_host()}) else usual


def price_address(hardware: str, *, back: str) -> str:
    """The form for the price of a hardware class, which returns to `back`."""
    return f"{reverse('web:price', args=[hardware])}?{urlencode({'next': back})}"


def runs_address(**filters: str | int | Iterable[str | int]) -> str:
    """The list of runs under these filters: `runs_address(workload=3, platform=["pxc", "mha"])`."""
    return f"{reverse('web:runs')}?{urlencode(filters, doseq=True)}"


def matrix_address(comparison: Comparison) -> str:
    """The matrix of a comparison's systems over all shared workloads; empty if all sides are one system."""
    systems = list(dict.fromkeys(side.system for side in comparison.sides))
    asked: dict[str, str | int | list[str]] = {"side": systems}
    if comparison.campaign:
        asked["campaign"] = comparison.campaign.id
    return f"{reverse('web:matrix')}?{urlencode(asked, doseq=True)}" if len(systems) > 1 else ""


def timeline_address(series: Iterable[tuple[int, str, str]], **view: str) -> str:
    """The Timeline page with these series (run, metric, node)."""
    asked = [*(("series", f"{run}:{metric}:{node}") for run, metric, node in series), *view.items()]
    return f"{reverse('web:timeline')}?{urlencode(asked)}".replace("%3A", ":")
