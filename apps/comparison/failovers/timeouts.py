"""Settings that explain part of an outage: how long a monitor waits before it declares a node dead.
Pure; s unless stated otherwise."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

from apps.core.answers import Seconds, component

# Faults whose victim must be detected, by the detecting component; a planned switch needs no detection.
SILENT = re.compile("kill_|freeze_|cut_")
OF_WRITER = re.compile("(kill|freeze|cut|stop)_writer|crash")
# masterha_manager declares the source dead after this many failed pings in a row.
PINGS = 4
SUSPECT = "evs.suspect_timeout"
_SUSPECT = re.compile(r"evs\.suspect_timeout\s*=\s*([^;\s]+)")
EXPEL = "group_replication_member_expel_timeout"
_EXPEL = re.compile(rf"{EXPEL}\s*=\s*(\d+)")
# s for which a member of a MySQL group is silent before it is suspected, and between two looks at how long suspicions
# have lasted. Neither can be set; without a timeout there is no second look.
SUSPICION, LOOKS = 5.0, 15.0
_ISO = re.compile(r"PT(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?")
_PROXY = re.compile(r"(\d+)(us|ms|s|m|h|d)?")
_PROXY_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@component(text="A setting that explains part of the time. Several overlap and do not add up.")
@dataclass(frozen=True)
class TimeoutShare:
    """`seconds`: the longest wait of `who`, from `setting` as configured (`formula`)."""

    who: str
    setting: str
    formula: str
    seconds: Annotated[Seconds, "upper bound"]


def shares(
    fault: str, *, settings: Mapping[str, str], checks: Mapping[str, str], provider: Iterable[str] = ()
) -> list[TimeoutShare]:
    """`settings`: the system's own; `checks`: of its HAProxy; `provider`: wsrep_provider_options of its nodes, or
    `variable = value` of a group's members."""
    stated = tuple(provider)
    found = []
    if OF_WRITER.fullmatch(fault) and (share := _proxy(checks)):
        found.append(share)
    if SILENT.match(fault) and (share := _cluster(settings, stated) or _group(settings, stated)):
        found.append(share)
    if OF_WRITER.fullmatch(fault) and (share := _manager(settings)):
        found.append(share)
    return found


def _proxy(checks: Mapping[str, str]) -> TimeoutShare | None:
    """HAProxy's configuration manual, 5.2: a server is down after `fall` failed checks, one each `inter`."""
    interval, fall = _proxy_seconds(str(checks.get("inter", ""))), str(checks.get("fall", ""))
    if interval is None or not fall.isdecimal():
        return None
    return TimeoutShare(
        "the proxy", "interval \N{MULTIPLICATION SIGN} fall", f"{checks['inter']} × {fall}", interval * int(fall)
    )


def _cluster(settings: Mapping[str, str], provider: Iterable[str]) -> TimeoutShare | None:
    """Galera's documentation, evs.suspect_timeout: a node that is silent for this long is suspected. If the nodes
    differ, all values are shown and the longest counts."""
    timeouts = {found[1] for options in provider if (found := _SUSPECT.search(options))}
    if not timeouts and SUSPECT in settings:
        timeouts = {settings[SUSPECT]}
    known = {seconds for text in timeouts if (seconds := _iso_seconds(text)) is not None}
    if not known:
        return None
    formula = ", ".join(f"{seconds:g} s" for seconds in sorted(known))
    setting = SUSPECT if len(known) == 1 else f"{SUSPECT}, which differs between the nodes"
    return TimeoutShare("the cluster", setting, formula, max(known))


def _group(settings: Mapping[str, str], stated: Iterable[str]) -> TimeoutShare | None:
    """MySQL's manual, Expel Timeout: a suspected member is expelled after it, at the next look."""
    timeouts = {found[1] for text in stated if (found := _EXPEL.search(text))}
    if not timeouts and EXPEL in settings:
        timeouts = {settings[EXPEL]}
    known = sorted({float(text) for text in timeouts if text.isdecimal()})
    if not known:
        return None
    longest = known[-1]
    look = f" + up to {LOOKS:g} s to the next look" if longest else ""
    formula = f"{SUSPICION:g} s of silence + {', '.join(f'{seconds:g} s' for seconds in known)}{look}"
    setting = EXPEL if len(known) == 1 else f"{EXPEL}, which differs between the members"
    return TimeoutShare("the group", setting, formula, SUSPICION + longest + (LOOKS if longest else 0.0))


def _manager(settings: Mapping[str, str]) -> TimeoutShare | None:
    """MHA's manual, ping_interval: three more pings after the first failure."""
    interval = settings.get("ping_interval", "")
    if not interval.isdecimal():
        return None
    return TimeoutShare(
        "the manager", "ping_interval \N{MULTIPLICATION SIGN} pings", f"{interval} s × {PINGS}", PINGS * float(interval)
    )


def _iso_seconds(text: str) -> float | None:
    found = _ISO.fullmatch(text)
    if not found or not any(found.groups()):
        return None
    hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return 3600 * hours + 60 * minutes + seconds


def _proxy_seconds(text: str) -> float | None:
    """Without a unit: ms."""
    found = _PROXY.fullmatch(text)
    return float(found[1]) * _PROXY_UNITS[found[2] or "ms"] if found else None
