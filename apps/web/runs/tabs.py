"""The tabs of the Run page. All are in the page; the opened one is in its address."""

from dataclasses import dataclass

from django.http import QueryDict
from django.utils.http import urlencode

from apps.core.query import Address
from apps.web.runs.quality import Quality

# Name in addresses -> label, in page order.
TABS = {
    "counters": "Counters",
    "limits": "Limits (USE)",
    "latency": "Latency",
    "events": "Events",
    "checks": "Quality checks",
    "configuration": "Configuration",
    "files": "Raw files",
    "repetitions": "Repetitions",
}
# What an address without a tab opens; of a run that has steps the second.
USUAL, WITH_STEPS = "counters", "events"
# Of the page's address; all but the tab are read by its script and by the parts that it fetches.
PARAMETERS = ("tab", "use", "resources", "series", "from", "to", "over", "totals", "hide")
# A parameter of a tab opens it.
OPENED_BY = {"use": "limits", "resources": "limits"}


@dataclass(frozen=True)
class RunTab:
    """`mark`: that it holds a problem, in a sign, with the words `problem`."""

    name: str
    label: str
    url: str
    opened: bool
    mark: str = ""
    problem: str = ""


def tabs(given: QueryDict, quality: Quality, *, has_steps: bool) -> list[RunTab]:
    """Raises Invalid for an unknown tab or parameter."""
    address = Address(given, *PARAMETERS)
    address.choice("tab", TABS)
    address.check()
    opened = _opened(given, WITH_STEPS if has_steps else USUAL)
    return [
        RunTab(name, label, _url(given, name), name == opened, *_mark(name, quality)) for name, label in TABS.items()
    ]


def _opened(given: QueryDict, usual: str) -> str:
    return given.get("tab") or next((tab for name, tab in OPENED_BY.items() if given.get(name)), usual)


def _url(given: QueryDict, tab: str) -> str:
    kept = [(name, text) for name in given for text in given.getlist(name) if name != "tab"]
    return f"?{urlencode([*kept, ('tab', tab)])}"


def _mark(tab: str, quality: Quality) -> tuple[str, str]:
    failed = quality.failed
    return (f"! {failed}", f"{failed} failed") if tab == "checks" and failed else ("", "")
