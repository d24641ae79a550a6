"""Which changes of a finding are one effect. Pure.

A slower release is often reported twice: compared with the one before it, and in the trend of its workload. The
comparison of the two sides is the gate and counts for both; the change in the trend is shown beneath and not counted.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol, TypeVar

T = TypeVar("T", bound="StoredChange")


class StoredChange(Protocol):
    """Of models.Change; "release" or "history" is its `kind`."""

    pk: int
    kind: str
    system_id: int
    workload_id: int
    load_level_id: int | None
    metric_id: int | None
    gone_at: datetime | None


def beneath(changes: Iterable[StoredChange]) -> Mapping[int, int]:
    """Changes in trends, by id, with the id of the change between releases that speaks for them: of the same
    system, workload, load level and metric. One that has gone speaks for none that holds."""
    rest = list(changes)
    speaks = {_key(each): each for each in rest if each.kind == "release"}
    return {
        each.pk: speaker.pk
        for each in rest
        if each.kind == "history"
        and (speaker := speaks.get(_key(each)))
        and (speaker.gone_at is None or each.gone_at is not None)
    }


def counted(changes: "Iterable[T]") -> list[T]:
    """Those that speak for themselves, in their order."""
    rest = list(changes)
    others = beneath(rest)
    return [each for each in rest if each.pk not in others]


def _key(each: StoredChange) -> tuple[int | None, ...]:
    return each.system_id, each.workload_id, each.load_level_id, each.metric_id
