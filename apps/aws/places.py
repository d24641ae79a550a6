"""Location of a system at AWS."""

from dataclasses import dataclass

from apps.catalog.models import System


@dataclass(frozen=True)
class AwsPlace:
    region: str
    identifier: str
    is_cluster: bool

    def __str__(self) -> str:
        return f"{'cluster' if self.is_cluster else 'instance'} {self.identifier} in {self.region}"


def place_of(system: System) -> AwsPlace | None:
    """None: not at AWS."""
    if not system.aws_region:
        return None
    is_cluster = system.aws_kind == System.AwsKind.CLUSTER
    return AwsPlace(region=system.aws_region, identifier=system.aws_identifier, is_cluster=is_cluster)
