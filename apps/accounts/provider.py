"""Sign-in at an OpenID Connect provider: where a browser is sent, and what the provider says of who comes back.

OpenID Connect Core 1.0, authorization code flow, with state, nonce and PKCE (RFC 7636). Authlib checks the token's
signature, issuer, audience, nonce and times.
"""

import logging
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.django_client import DjangoIntegration, DjangoOAuth2App
from django.conf import settings
from django.core import signing
from joserfc.errors import JoseError
from requests import RequestException

ATTEMPT_LASTS = 600  # s
TIMEOUT = 10  # s, of each request to the provider
SALT = "apps.accounts.provider"
FAILURES = (AuthlibBaseError, JoseError, RequestException, RuntimeError, LookupError, TypeError, ValueError)
log = logging.getLogger(__name__)


class ProviderError(Exception):
    """The provider did not answer, or not as it has to; the text is a sentence for whoever signs in."""


@dataclass(frozen=True)
class ProviderAttempt:
    """What a browser keeps while its owner is at the provider; `next`: the page to go on with."""

    state: str
    nonce: str
    code_verifier: str
    redirect_uri: str
    next: str

    def signed(self) -> str:
        return signing.dumps(asdict(self), salt=SALT)


@dataclass(frozen=True)
class ProviderClaims:
    """What the provider says of a person; `subject` never changes, the rest may be empty."""

    issuer: str
    subject: str
    email: str
    is_verified: bool
    username: str


def is_offered() -> bool:
    return bool(settings.OIDC_ISSUER)


def begin(*, redirect_uri: str, next_page: str) -> tuple[str, ProviderAttempt]:
    """The provider's address, and the attempt to keep. Raises ProviderError."""
    try:
        client = _client(settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET)
        made = client.create_authorization_url(redirect_uri)
        stated = client.load_server_metadata()["issuer"].rstrip("/")
    except FAILURES as error:
        raise _failed("did not answer as an OpenID Connect provider", error) from error
    if stated != settings.OIDC_ISSUER:
        raise ProviderError(f"The provider calls itself {stated!r:.200}: set SPLASHBOARD_OIDC_ISSUER to that address.")
    attempt = ProviderAttempt(made["state"], made["nonce"], made["code_verifier"], redirect_uri, next_page)
    return made["url"], attempt


def attempt_of(signed: str) -> ProviderAttempt | None:
    """None: it is none of ours, or too old."""
    try:
        return ProviderAttempt(**signing.loads(signed, salt=SALT, max_age=ATTEMPT_LASTS))
    except signing.BadSignature:
        return None


def claims_of(attempt: ProviderAttempt, code: str) -> ProviderClaims:
    """Exchanges the code of the provider. Raises ProviderError."""
    client = _client(settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET)
    try:
        token = client.fetch_access_token(attempt.redirect_uri, code=code, code_verifier=attempt.code_verifier)
        told = dict(client.parse_id_token(token, nonce=attempt.nonce) or {})
        if not told.get("email") and client.server_metadata.get("userinfo_endpoint"):
            more = client.userinfo(token=token)
            if more["sub"] == told["sub"]:  # OpenID Connect Core 5.3.2
                told |= dict(more)
        return _claims(told)
    except FAILURES as error:
        raise _failed("gave no valid answer about who signed in", error) from error


def _claims(told: dict[str, Any]) -> ProviderClaims:
    return ProviderClaims(
        issuer=settings.OIDC_ISSUER,
        subject=str(told["sub"]),
        email=str(told.get("email") or ""),
        is_verified=told.get("email_verified") in (True, "true") or settings.OIDC_TRUSTS_EMAIL,
        username=str(told.get("preferred_username") or ""),
    )


def _failed(what: str, error: Exception) -> ProviderError:
    log.warning("The OpenID Connect provider %s %s: %s", settings.OIDC_ISSUER, what, error)
    return ProviderError(f"{settings.OIDC_NAME} {what}. The server's log has the reason.")


@cache
def _client(issuer: str, client_id: str, secret: str) -> Any:
    """It keeps what the provider publishes of itself, and reads its keys again when it meets an unknown one."""
    return DjangoOAuth2App(
        DjangoIntegration("provider"),
        client_id=client_id,
        client_secret=secret or None,
        server_metadata_url=f"{issuer}/.well-known/openid-configuration",
        client_kwargs={
            "scope": "openid email profile",
            "code_challenge_method": "S256",
            "default_timeout": TIMEOUT,
            **({} if secret else {"token_endpoint_auth_method": "none"}),
        },
    )
