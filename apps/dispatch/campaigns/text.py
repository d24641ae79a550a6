"""Exports a campaign as a campaign file, from which the same campaign can be planned again."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import yaml

from apps.catalog.models import LoadLevel
from apps.dispatch.campaigns.file import LEAST_GAIN, SCHEMA, ramp_levels
from apps.dispatch.campaigns.plan import loads_itself
from apps.dispatch.models import Campaign, Entry
from workers.protocol.workloads import WORKLOADS

LEAST_FACTOR = float(SCHEMA["$defs"]["workload"]["properties"]["climb"]["properties"]["factor"]["minimum"])


class _Dumper(yaml.SafeDumper):
    """Writes lists of plain values on one line."""


def _list(dumper: yaml.SafeDumper, values: list[Any]) -> yaml.SequenceNode:
    entries = any(isinstance(each, dict) and "tool" in each for each in values)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=not entries)


_Dumper.add_representer(list, _list)
_Dumper.ignore_aliases = lambda *_: True  # type: ignore[method-assign]


def of(campaign: Campaign) -> str:
    """The campaign as YAML; load levels that no `climb` produces become plain lists, with a comment."""
    jobs = list(campaign.jobs.select_related("system").order_by("position"))
    slugs = list(dict.fromkeys(job.system.slug for job in jobs))
    entries = list(campaign.entries.select_related("workload").prefetch_related("load_levels"))
    taking_part = {
        entry.pk: list(dict.fromkeys(job.system.slug for job in jobs if job.entry_id == entry.pk)) for entry in entries
    }
    remarks = [_remark(entry) for entry in entries if _remark(entry)]
    stated: dict[str, Any] = {"name": campaign.name, "systems": slugs, "repetitions": campaign.repetitions}
    if campaign.sessions > 1:
        stated["sessions"] = campaign.sessions
    if campaign.until:
        stated["until"] = campaign.until if campaign.until == "verdict" else _plain(float(campaign.until))
    stated["workloads"] = [_entry(entry, taking_part[entry.pk], slugs) for entry in entries]
    text = yaml.dump(stated, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110, default_flow_style=False)
    return "".join(f"# {remark}\n" for remark in dict.fromkeys(remarks)) + text


def _entry(entry: Entry, systems: Sequence[str], all_systems: Sequence[str]) -> dict[str, Any]:
    workload = entry.workload
    stated: dict[str, Any] = {"tool": workload.tool, "name": workload.name, "parameters": workload.parameters}
    if set(systems) != set(all_systems):
        stated["systems"] = [slug for slug in all_systems if slug in systems]
    spec = WORKLOADS.get(workload.tool)
    if not loads_itself(workload):
        stated |= _load(entry)
    if spec is not None and not spec.is_timed:
        return stated
    return stated | {"warmup": _plain(entry.warmup), "duration": _plain(entry.duration)}


def _load(entry: Entry) -> dict[str, Any]:
    levels = list(entry.load_levels.all())
    threads = [level.threads for level in levels]
    if any(level.rate is not None for level in levels):
        return {"load_levels": [_level(level) for level in levels]}
    if entry.ends_when_refused and entry.least_gain is None:
        return {"storm": {"base": 1, "factors": threads}}
    factor = _factor(threads) if entry.least_gain is not None else None
    if factor is None:
        return {"load_levels": threads}
    ramp: dict[str, Any] = {"from": threads[0], "to": threads[-1], "factor": factor}
    if entry.least_gain != LEAST_GAIN:
        ramp["least_gain"] = entry.least_gain
    return {"climb": ramp}


def _remark(entry: Entry) -> str:
    if "load_levels" in _load(entry) and entry.ends_when_refused:
        return "Measured at every load level: a stop at saturation can be written only for even steps."
    return ""


def _factor(threads: Sequence[int]) -> float | None:
    """The factor with which `climb` gives these load levels; None if there is none."""
    ratios = [_plain(round(after / before, 3)) for before, after in pairwise(threads)]
    ratios = [2, *(ratio for ratio in ratios if ratio >= LEAST_FACTOR)]
    return next((ratio for ratio in ratios if ramp_levels(threads[0], threads[-1], ratio) == list(threads)), None)


def _level(level: LoadLevel) -> Any:
    return level.threads if level.rate is None else {"threads": level.threads, "rate": _plain(level.rate)}


def _plain(number: float) -> float:
    return int(number) if number == int(number) else number
