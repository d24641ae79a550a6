"""Builds of servers: the version that a server reported, and the commit that it was built from where it states one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from apps.regressions.trends.series import SeriesRun
from apps.runs.models import Configuration, RunNode

COMMIT = "version_source_revision"


def with_commits(points: Mapping[int, Sequence[SeriesRun]]) -> dict[int, Sequence[SeriesRun]]:
    """The same runs with the commit of their first node that states one. Two queries: each configuration is read once,
    however many runs have it."""
    runs = {run.run for own in points.values() for run in own}
    nodes = list(RunNode.objects.filter(run__in=runs).order_by("-number").values_list("run", "configuration"))
    stated = Configuration.objects.filter(pk__in={own for _, own in nodes if own}, variables__has_key=COMMIT)
    commits = {pk: str(commit) for pk, commit in stated.values_list("pk", f"variables__{COMMIT}")}
    by_run = {run: commits[own] for run, own in nodes if own in commits}
    if not by_run:
        return dict(points)
    return {trend: [replace(run, commit=by_run.get(run.run, "")) for run in own] for trend, own in points.items()}
