"""Initial catalog: platforms, and the hardware classes named in published results. Pure.

vCPU, memory and network are the vendor's, storage and label the articles'; facts stated by neither are left out.
"""

from datetime import date
from decimal import Decimal
from typing import Any

GIB = 2**30

# Colours are indices in the palette, one for each architecture: PXC and MariaDB Galera share one, single servers too.
PLATFORMS: tuple[dict[str, Any], ...] = (
    {
        "slug": "aurora",
        "name": "Aurora",
        "color": 0,
        "replication": "shared storage: six copies in three zones, write quorum of four",
        "description": "Amazon Aurora: one writer and its readers on one distributed volume, reached by the cluster "
        "endpoint. Only the redo log crosses the network.",
    },
    {
        "slug": "pxc",
        "name": "PXC",
        "color": 1,
        "replication": "virtually synchronous (Galera): every node certifies each write set before the commit",
        "description": "Percona XtraDB Cluster, usually behind a proxy with one writer and the others as backups.",
    },
    {
        "slug": "mha",
        "name": "MHA",
        "color": 2,
        "replication": "asynchronous or semi-synchronous: a source and its replicas",
        "description": "Source and replicas watched by MHA, whose manager promotes the most advanced replica and "
        "repoints the proxy.",
    },
    {
        "slug": "galera",
        "name": "MariaDB Galera",
        "color": 1,
        "replication": "virtually synchronous (Galera): every node certifies each write set before the commit",
        "description": "MariaDB with Galera, a relative of PXC but not the same software: never shown as PXC.",
    },
    {
        "slug": "group-replication",
        "name": "MySQL GR",
        "color": 5,
        "replication": "virtually synchronous: a majority orders the transactions, every member certifies them",
        "description": "MySQL Group Replication, the replication of InnoDB Cluster: usually one primary, elected by "
        "the members, and secondaries that refuse writes.",
    },
    {
        "slug": "mysql",
        "name": "MySQL",
        "color": 3,
        "replication": "none: a single server",
        "description": "A single MySQL server.",
    },
    {
        "slug": "mariadb",
        "name": "MariaDB",
        "color": 3,
        "replication": "none: a single server",
        "description": "A single MariaDB server.",
    },
    {
        "slug": "postgresql",
        "name": "PostgreSQL",
        "color": 6,
        "replication": "none: a single server",
        "description": "A single PostgreSQL server, measured by pgbench or BenchBase; agents do not sample it.",
    },
    {
        "slug": "rds-mysql",
        "name": "RDS MySQL",
        "color": 4,
        "replication": "none, or a standby in another zone kept by copying the volume's blocks",
        "description": "MySQL as Amazon RDS runs it, on EBS volumes.",
    },
)

RESERVED = "Percona, 2018-08-20: {} USD/month, one-year reserved, US East; over 730 hours"


def _ec2(name: str, vcpu: int, gib: float, **more: Any) -> dict[str, Any]:
    """An Amazon instance type; `gib`: memory stated by the vendor."""
    return {
        "slug": name,
        "name": name,
        "provider": "Amazon RDS" if name.startswith("db.") else "Amazon EC2",
        "instance_type": name,
        "vcpu": vcpu,
        "memory_bytes": int(gib * GIB),
        **more,
    }


HARDWARE_CLASSES: tuple[dict[str, Any], ...] = (
    _ec2("m4.xlarge", 4, 16, storage="EBS SSD, 3000 provisioned IOPS", iops=3000, label="small box"),
    _ec2("db.r3.xlarge", 4, 30.5, storage="Aurora volume", label="small box"),
    _ec2(
        "c3.8xlarge",
        32,
        60,
        storage="EBS SSD, 5000 provisioned IOPS",
        iops=5000,
        network_bits_per_second=10**10,
        label="large box",
    ),
    _ec2("db.r3.8xlarge", 32, 244, network_bits_per_second=10**10, label="large box"),
    _ec2("m2.4xlarge", 8, 68.4, storage="eight 200 GB EBS volumes, RAID 10", storage_bytes=8 * 200 * 10**9),
    _ec2("c4.4xlarge", 16, 30),
    _ec2(
        "r4.4xlarge",
        16,
        122,
        storage="EBS, 14 TB",
        storage_bytes=14 * 10**12,
        region="US East",
        price_per_hour=Decimal("0.672"),
        price_date=date(2018, 8, 20),
        price_source=RESERVED.format("490.56"),
    ),
    _ec2(
        "i3.4xlarge",
        16,
        122,
        storage="2 x 1900 GB NVMe",
        storage_bytes=2 * 1900 * 10**9,
        region="US East",
        price_per_hour=Decimal("0.857"),
        price_date=date(2018, 8, 20),
        price_source=RESERVED.format("625.61"),
    ),
    _ec2(
        "i3.8xlarge",
        32,
        244,
        storage="4 x 1900 GB NVMe",
        storage_bytes=4 * 1900 * 10**9,
        network_bits_per_second=10**10,
        region="US East",
        price_per_hour=Decimal("1.714"),
        price_date=date(2018, 8, 20),
        price_source=RESERVED.format("1251.22"),
    ),
    _ec2("t3.xlarge", 4, 16),
    _ec2("m5.xlarge", 4, 16),
    {
        "slug": "fileio-nvme-2017",
        "name": "4 vCPU with Intel 750 NVMe SSD",
        "vcpu": 4,
        "storage": "Intel 750 NVMe SSD",
    },
    {
        "slug": "vm-8-raid10-2015",
        "name": "Virtual machine, 8 vCPU, 16 GB, RAID 10",
        "vcpu": 8,
        "memory_bytes": 16 * GIB,
        "storage": "RAID10, six 10k spindles",
    },
    {
        "slug": "large-server-2017",
        "name": "Large server, 48 hardware threads, 256 GB",
        "vcpu": 48,
        "memory_bytes": 256 * GIB,
        "storage": "fast SSD",
    },
)
# Updated by each seeding. Prices are only set at first; afterwards they are the installation's own.
HARDWARE_FIELDS = (
    "name",
    "provider",
    "instance_type",
    "vcpu",
    "memory_bytes",
    "storage",
    "storage_bytes",
    "iops",
    "network_bits_per_second",
    "label",
)
