"""Our metrics under names and labels that Prometheus' query language can write. Pure.

    host.disk.sda.reads                  host_disk_reads_total{device="sda"}     a counter, as its total
    derived.cpu.busy                     derived_cpu_busy
    prometheus.up{job="mysql"}           up{job="mysql"}                         attached under its own name

Each also has the labels run, node, metric (our key) and those of its run.
"""

import re
from collections.abc import Mapping

from apps.runs.pure import COUNTER

NAME = "__name__"
OWN = "prometheus."
# Labels of a run, the same for all of its series.
OF_RUN = ("run", "system", "platform", "release", "workload", "threads")
DEVICE = re.compile(r"(host|derived)\.(disk|net)\.(.+)\.([a-z_]+)")
LABEL = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)="([^"]*)"')


def labels_of(key: str, kind: str, *, node: str, of_run: Mapping[str, str]) -> dict[str, str]:
    """`kind`: counter or gauge, as the catalog has it."""
    found = {**of_run, "node": node, "metric": key}
    if key.startswith(OWN):
        name, _, rest = key.removeprefix(OWN).partition("{")
        # A label of the series' own does not hide where it is from.
        own = dict(LABEL.findall(rest)) if rest.endswith("}") else {}
        return {**own, **found, NAME: _word(name.partition("~")[0])}
    device = DEVICE.fullmatch(key)
    if device:
        found["device"] = device[3]
        key = f"{device[1]}.{device[2]}.{device[4]}"
    return {**found, NAME: _word(key) + ("_total" if kind == COUNTER else "")}


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_:]", "_", text)
