"""fio's options as its JSON repeats them: which of them are the work, in one spelling. Pure."""

import re
from collections.abc import Mapping
from typing import Any

# Neither the data nor the work done on it: names, places, lengths, reports.
NO_PARAMETER = re.compile(
    r"name|description|directory|filename(_format)?|opendir|lockfile|runtime|timeout|time_based|numjobs|group_reporting"
    r"|new_group|stonewall|wait_for.*|ramp_time|startdelay|loops|number_ios|exitall.*|eta.*|status-interval|output.*|minimal"
    r"|write_.*_log|log_.*|per_job_logs|disable_.*|.*percentile.*|unified_rw_reporting|gtod_.*|clocksource|thread"
    r"|cpus_allowed.*|cpumask|numa_.*|prio.*|nice|unlink.*|create_.*|randseed|allrandrepeat|uid|gid|ioscheduler|kb_base"
    r"|unit_base|hostname|port|exec_.*|stats|significant_figures|read_iolog|write_iolog|.*pass.*|.*user.*|.*key.*|.*secret.*"
)
NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
PLAIN = re.compile(r"[\w.,:+-]{1,60}")
# Option -> the name under which it counts.
SAME = {"readwrite": "rw", "blocksize": "bs", "blocksize_range": "bsrange", "io_size": "io_size", "buffered": "direct"}
SIZES = ("bs", "size", "io_size", "filesize", "bsrange", "blockalign", "ba")
WHOLE = ("iodepth",)
SWITCHES = ("direct",)
SIZE = re.compile(r"([0-9]{1,18})(?:([kmgtp])(?:i?b)?|b)?", re.IGNORECASE)
UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}
TIME = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(us|ms|s|m|h|d)?", re.IGNORECASE)
SECONDS = {"us": 1e-6, "ms": 1e-3, "": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
# What fio does without the option.
DEFAULTS: Mapping[str, Any] = {"rw": "read", "bs": "4k", "ioengine": "psync", "iodepth": 1, "direct": False}


def of(tree: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
    """The parameters that the document states, and the ramp time in s that its figures leave out.

    Jobs that differ in an option state it once for each of its values: "randread,write".
    """
    options = [_job(tree, job) for job in tree["jobs"]]
    parameters: dict[str, Any] = {}
    for name in dict.fromkeys(name for each in options for name in each):
        if name in ("numjobs", "ramp_time") or NO_PARAMETER.fullmatch(name) or not NAME.fullmatch(name):
            continue
        values = list(dict.fromkeys(each.get(name, DEFAULTS.get(name, "-")) for each in options))
        value = values[0] if len(values) == 1 else ",".join(str(each).lower() for each in values)[:60]
        if not isinstance(value, str) or PLAIN.fullmatch(value):
            parameters[name] = value
    ramps = [_seconds(str(each.get("ramp_time", "0"))) for each in options]
    return {**_defaults(options), **parameters}, max(ramps, default=0.0)


def numjobs(tree: Mapping[str, Any]) -> int | None:
    """Of a document with one job or group."""
    stated = _options(tree, tree["jobs"][0]).get("numjobs", "1")
    return int(stated) if re.fullmatch(r"[0-9]{1,6}", str(stated)) else None


def _defaults(options: list[dict[str, Any]]) -> dict[str, Any]:
    """Of options that no job has. With a range or split of block sizes there is no one size."""
    sizes = any(name in each for each in options for name in ("bsrange", "bssplit"))
    return {
        name: value
        for name, value in DEFAULTS.items()
        if not any(name in each for each in options) and not (name == "bs" and sizes)
    }


def _options(tree: Mapping[str, Any], job: Mapping[str, Any]) -> dict[str, Any]:
    general = tree.get("global options")
    return {**(general if isinstance(general, dict) else {}), **job.get("job options", {})}


def _job(tree: Mapping[str, Any], job: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for given, text in _options(tree, job).items():
        name = SAME.get(str(given), str(given))
        value: Any = str(text)
        if name in SIZES:
            value = _size(value)
        elif name in WHOLE and re.fullmatch(r"[0-9]{1,9}", value):
            value = int(value)
        elif name in SWITCHES:
            value = (value in ("", "1")) is not (str(given) == "buffered")
        elif re.fullmatch(r"[0-9]{1,15}", value):
            value = int(value)
        elif name == "rw":
            value = value.lower()
        found[name] = 1 if value == "" else value
    return found


def _size(text: str) -> str:
    """In the largest unit that is exact: 4096, 4K and 4kib are "4k"; also of ranges and of read,write."""
    return re.sub(r"[0-9]+[A-Za-z]*", lambda found: _one_size(found[0]), text)


def _one_size(text: str) -> str:
    found = SIZE.fullmatch(text)
    if found is None:
        return text
    number = int(found[1]) * UNITS[(found[2] or "").lower()]
    unit = next((unit for unit in reversed(UNITS) if unit and number and number % UNITS[unit] == 0), "")
    return f"{number // UNITS[unit]}{unit}"


def _seconds(text: str) -> float:
    found = TIME.fullmatch(text)
    return float(found[1]) * SECONDS[(found[2] or "").lower()] if found else 0.0
