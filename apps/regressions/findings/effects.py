"""Changes of a finding that are the same effect. Pure.

A slower release is often reported twice: compared with its predecessor, and in the trend of its workload. The
comparison of the two releases is the gate and counts for both; the change in the trend is listed beneath, uncounted.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol, TypeVar

T = TypeVar("T", bound="StoredChange")


class StoredChange(Protocol):
    """Fields of models.Change; `kind` is "release" or "history"."""

    pk: int
    kind: str
    system_id: int
    workload_id: int
    load_level_id: int | None
    metric_id: int | None
    gone_at: datetime | None


def beneath(changes: Iterable[StoredChange]) -> Mapping[int, int]:
    """Id of a change in a trend -> id of the change between releases that is counted instead: the one of the same
    system, workload, load level and metric; of several, against other baselines, the one that holds. A gone change does
    not replace one that holds."""
    rest = list(changes)
    between = sorted((each for each in rest if each.kind == "release"), key=lambda each: each.gone_at is None)
    speaks = {_key(each): each for each in between}
    return {
        each.pk: speaker.pk
        for each in rest
        if each.kind == "history"
        and (speaker := speaks.get(_key(each)))
        and (speaker.gone_at is None or each.gone_at is not None)
    }


def counted(changes: "Iterable[T]") -> list[T]:
    """The changes that are not beneath another, in their order."""
    rest = list(changes)
    others = beneath(rest)
    return [each for each in rest if each.pk not in others]


def _key(each: StoredChange) -> tuple[int | None, ...]:
    return each.system_id, each.workload_id, each.load_level_id, each.metric_id
