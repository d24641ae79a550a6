"""Clients of AWS with short timeouts; every failure becomes a sentence with its remedy.

Credentials are the server's own, found by boto3's rules; `AWS_ENDPOINT_URL` selects another endpoint, as for any SDK.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from botocore import exceptions
from botocore.config import Config
from django.conf import settings

# Callers are a worker's task, which must be short, or an agent in the middle of a run, which uses ONCE.
CONNECT, READ, ATTEMPTS = 3.0, 10.0, 2
CONFIG = Config(
    connect_timeout=CONNECT, read_timeout=READ, retries={"total_max_attempts": ATTEMPTS, "mode": "standard"}
)
ONCE = Config(connect_timeout=CONNECT, read_timeout=READ, retries={"total_max_attempts": 1})

NO_CREDENTIALS = (
    exceptions.NoCredentialsError,
    exceptions.PartialCredentialsError,
    exceptions.CredentialRetrievalError,
    exceptions.ProfileNotFound,
    exceptions.TokenRetrievalError,
    exceptions.SSOError,
)
# Error code -> remedy.
LOOK_AT_PLACE = "look at region and identifier under [systems.aws] in the agent's configuration"
RENEW = "renew the credentials of the server's processes"
ALLOW = "allow it for the server's user or role in IAM; docs/howto/aurora.md has the policy"
REMEDIES = {
    **dict.fromkeys(("DBClusterNotFoundFault", "DBInstanceNotFound", "DBInstanceNotFoundFault"), LOOK_AT_PLACE),
    **dict.fromkeys(("AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "OptInRequired"), ALLOW),
    **dict.fromkeys(("ExpiredToken", "ExpiredTokenException", "RequestExpired"), RENEW),
    **dict.fromkeys(
        (
            *("InvalidClientTokenId", "UnrecognizedClientException", "InvalidAccessKeyId", "AuthFailure"),
            *(
                "SignatureDoesNotMatch",
                "IncompleteSignature",
                "InvalidSignatureException",
                "MissingAuthenticationToken",
            ),
        ),
        "AWS does not know the server's credentials, or its clock is wrong: correct them",
    ),
}
THROTTLED = {
    *("Throttling", "ThrottlingException", "ThrottledException", "RequestLimitExceeded", "TooManyRequestsException"),
    *("RequestThrottled", "RequestThrottledException", "SlowDown", "LimitExceededException"),
}
SERVER_ERROR = 500


class AwsTrouble(Exception):
    """AWS returned no usable answer; the text is a sentence with the remedy. `passes`: a later attempt may succeed."""

    def __init__(self, sentence: str, *, passes: bool = False, code: str = "") -> None:
        super().__init__(sentence)
        self.passes = passes
        self.code = code


@contextmanager
def client(service: str, *, region: str, config: Config = CONFIG) -> Iterator[Any]:
    """Closed at the end. Raises AwsTrouble, also for any error of botocore inside."""
    with asking(service, region=region):
        session = boto3.session.Session(profile_name=settings.AWS_PROFILE or None)
        made = session.client(service, region_name=region, config=config)
        try:
            yield made
        finally:
            made.close()


@contextmanager
def asking(service: str, *, region: str) -> Iterator[None]:
    try:
        yield
    except exceptions.ClientError as error:
        raise _refused(service, region, error) from error
    except NO_CREDENTIALS as error:
        raise AwsTrouble(
            f"The server has no credentials for AWS ({error}): give its programs AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, a profile (SPLASHBOARD_AWS_PROFILE) or a role",
            code=type(error).__name__,
        ) from error
    except exceptions.BotoCoreError as error:
        raise _unreachable(service, region, error) from error


def _refused(service: str, region: str, error: exceptions.ClientError) -> AwsTrouble:
    details = error.response.get("Error", {})
    code, words = str(details.get("Code", "")), str(details.get("Message", "")).strip().rstrip(".")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    what = f"AWS ({service} in {region}) refused {error.operation_name}"
    if code in THROTTLED:
        return AwsTrouble(f"{what}: throttled ({code}); retried later", passes=True, code=code)
    if status >= SERVER_ERROR:
        return AwsTrouble(f"{what}: AWS-side error ({code}: {words}); retried later", passes=True, code=code)
    remedy = REMEDIES.get(code, "")
    return AwsTrouble(f"{what}: {words or code}" + (f"; {remedy}" if remedy else ""), code=code)


def _unreachable(service: str, region: str, error: exceptions.BotoCoreError) -> AwsTrouble:
    code = type(error).__name__
    if isinstance(error, exceptions.HTTPClientError | exceptions.EndpointConnectionError):
        return AwsTrouble(
            f"AWS ({service} in {region}) cannot be reached ({error}): check the region's name, the network and "
            "HTTPS_PROXY",
            passes=True,
            code=code,
        )
    return AwsTrouble(f"AWS ({service} in {region}) request failed: {error}", code=code)
