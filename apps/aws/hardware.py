"""Hardware of an instance class, from EC2's description of the instance type; RDS does not describe it."""

import re
from dataclasses import dataclass
from typing import Any

from apps.aws.clients import AwsTrouble, client

PREFIX = "db."
GIGABIT = 10**9
# "Up to 10 Gigabit" is a burst limit, not a guarantee.
STEADY_NETWORK = re.compile(r"([0-9.]+) Gigabit\Z")
NO_SUCH_TYPE = "InvalidInstanceType"


@dataclass(frozen=True)
class InstanceHardware:
    """None: not in EC2's description."""

    vcpu: int | None
    memory_bytes: int | None
    network_bits_per_second: int | None


def describe(instance_class: str, *, region: str) -> InstanceHardware | None:
    """None: EC2 has no such type, for example for db.serverless. Raises AwsTrouble."""
    if not instance_class.startswith(PREFIX) or instance_class.count(".") < 2:
        return None
    wanted = instance_class.removeprefix(PREFIX)
    try:
        with client("ec2", region=region) as ec2:
            found = ec2.describe_instance_types(InstanceTypes=[wanted])["InstanceTypes"]
    except AwsTrouble as trouble:
        if trouble.code == NO_SUCH_TYPE:
            return None
        raise
    return _of(found[0]) if found else None


def _of(found: dict[str, Any]) -> InstanceHardware:
    memory = found.get("MemoryInfo", {}).get("SizeInMiB")
    return InstanceHardware(
        vcpu=found.get("VCpuInfo", {}).get("DefaultVCpus"),
        memory_bytes=memory * 2**20 if memory else None,
        network_bits_per_second=_network(found.get("NetworkInfo", {})),
    )


def _network(found: dict[str, Any]) -> int | None:
    baselines = [card.get("BaselineBandwidthInGbps") for card in found.get("NetworkCards", [])]
    if baselines and all(baselines):
        return int(sum(baselines) * GIGABIT)
    steady = STEADY_NETWORK.match(found.get("NetworkPerformance", ""))
    return int(float(steady[1]) * GIGABIT) if steady else None
