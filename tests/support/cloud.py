"""AWS for tests: moto's server in a thread of this process, with an Aurora cluster, and botocore's Stubber."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import boto3
import httpx
import pytest
from botocore.stub import Stubber
from moto.server import ThreadedMotoServer

from tests.support import waiting

REGION = "eu-west-1"
CLUSTER = "blast"
# What boto3 would read of the machine that the tests run on.
FOREIGN = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE")


@contextmanager
def aws_server() -> Iterator[str]:
    """Its address, while it runs."""
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    try:
        yield f"http://127.0.0.1:{server.get_host_and_port()[1]}"
    finally:
        server.stop()


def lead_to(endpoint: str, patch: pytest.MonkeyPatch) -> None:
    """From now on AWS is at `endpoint`, and knows nothing."""
    httpx.post(f"{endpoint}/moto-api/reset", timeout=waiting.LIMIT).raise_for_status()
    for name in [name for name in os.environ if name in FOREIGN or name.startswith("AWS_ENDPOINT_URL")]:
        patch.delenv(name)
    for name, value in {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }.items():
        patch.setenv(name, value)


@contextmanager
def client(service: str) -> Iterator[Any]:
    made = boto3.session.Session().client(service, region_name=REGION)
    try:
        yield made
    finally:
        made.close()


def a_cluster(*instances: str, instance_class: str = "db.r6g.large", engine: str = "aurora-mysql") -> None:
    """An Aurora cluster `blast`; the first of `instances` is its writer."""
    with client("rds") as rds:
        rds.create_db_cluster(
            DBClusterIdentifier=CLUSTER,
            Engine=engine,
            EngineVersion="8.0.mysql_aurora.3.05.2",
            MasterUsername="admin",
            MasterUserPassword="not-a-secret",
        )
        for number, name in enumerate(instances):
            rds.create_db_instance(
                DBInstanceIdentifier=name,
                DBClusterIdentifier=CLUSTER,
                DBInstanceClass=instance_class,
                Engine=engine,
                AvailabilityZone=f"{REGION}{'abc'[number % 3]}",
            )


def an_instance(name: str, *, multi_az: bool = False, engine: str = "mysql") -> None:
    """An RDS instance."""
    with client("rds") as rds:
        rds.create_db_instance(
            DBInstanceIdentifier=name,
            DBInstanceClass="db.m5.xlarge",
            Engine=engine,
            AllocatedStorage=100,
            MasterUsername="admin",
            MasterUserPassword="not-a-secret",
            MultiAZ=multi_az,
        )


def measured(identifier: str, metric: str, points: Mapping[datetime, float], *, dimension: str = "") -> None:
    """As if CloudWatch had taken these values of an instance (or of the `dimension` named) itself."""
    dimensions = [{"Name": dimension or "DBInstanceIdentifier", "Value": identifier}]
    data = [
        {"MetricName": metric, "Dimensions": dimensions, "Timestamp": at, "Value": value}
        for at, value in points.items()
    ]
    with client("cloudwatch") as cloudwatch:
        cloudwatch.put_metric_data(Namespace="AWS/RDS", MetricData=data)


@contextmanager
def stubbed(service: str, patch: pytest.MonkeyPatch) -> Iterator[Stubber]:
    """Whoever asks this service through apps.aws.clients gets the stub's answers; botocore checks requests and answers
    against the service's model."""
    with client(service) as real:
        made = boto3.session.Session.client

        def give(self: boto3.session.Session, name: str, **options: Any) -> Any:
            return real if name == service else made(self, name, **options)

        patch.setattr(boto3.session.Session, "client", give)
        with Stubber(real) as stub:
            yield stub
            stub.assert_no_pending_responses()
