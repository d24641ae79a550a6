"""CPU of a node's machine."""

from apps.use_method.indicators import Indicator, Resource
from apps.use_method.judging import Limits, judge
from apps.use_method.values import Aspect, Facts, Found, Node

BUSY = "derived.cpu.busy"
BUSY_LIMITS = Limits(watch=70.0, saturated=95.0)


def busy(node: Node, _: Facts) -> Found | None:
    samples = node.series.get(BUSY)
    return judge(samples, BUSY_LIMITS, unit="%", metric=BUSY) if samples else None


RESOURCE = Resource(
    key="cpu",
    title="CPU",
    layer="machine",
    question="Do tasks wait for a CPU?",
    indicators=(
        Indicator(
            key="cpu.busy",
            aspect=Aspect.UTILIZATION,
            title="busy",
            unit="%",
            metrics=(BUSY,),
            formula="(user + nice + system + irq + softirq) / all CPU time",
            limits=BUSY_LIMITS.words("%"),
            reason="Above 70 % bursts of arrivals already queue; near 100 % all do.",
            literature="Gregg, Systems Performance, 2nd ed., 2.3.11",
            sources={"Linux": "/proc/stat", "Aurora": "CPUUtilization of CloudWatch"},
            rule=busy,
        ),
    ),
)
