"""Addresses that several pages link to."""

from collections.abc import Iterable

from django.urls import reverse
from django.utils.http import urlencode


def runs_address(**filters: str | int | Iterable[str | int]) -> str:
    """The list of runs under these filters: `runs_address(workload=3, platform=["pxc", "mha"])`."""
    return f"{reverse('web:runs')}?{urlencode(filters, doseq=True)}"
