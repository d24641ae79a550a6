"""Authentication: a person's token (`Authorization: Token …`) or an agent's secret (`Authorization: Agent …`)."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.http.cookie import parse_cookie
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import HTTP_HEADER_ENCODING
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from apps.accounts import tokens
from apps.accounts.models import ApiToken, User
from apps.accounts.sessions.store import SessionStore
from apps.dispatch.api import agent_of_secret
from apps.dispatch.models import Agent

# Of each scheme: where its secrets come from.
REMEDY = {
    "Token": "Create one on the page Account, or with manage.py create_token USER NAME.",
    "Agent": "Create one with manage.py register_agent NAME.",
}


def secret_of(meta: Mapping[str, Any], scheme: str) -> str | None:
    """None when the header has another scheme; raises AuthenticationFailed when it is malformed."""
    words: list[bytes] = meta.get("HTTP_AUTHORIZATION", "").encode(HTTP_HEADER_ENCODING).split()
    if not words or words[0].lower() != scheme.lower().encode():
        return None
    if len(words) != 2:
        raise AuthenticationFailed(f"Write the header as 'Authorization: {scheme} <secret>', with one secret.")
    return words[1].decode("utf-8", "surrogateescape")


def is_known(meta: Mapping[str, Any]) -> bool:
    """Whether the headers are those of a person or an agent. What they may do is decided by each view."""
    now = timezone.now()
    try:
        token, secret = secret_of(meta, "Token"), secret_of(meta, "Agent")
    except AuthenticationFailed:
        return False
    if token is not None:
        try:
            return tokens.of_secret(token, now) is not None
        except tokens.TokenExpired:
            return False
    if secret is not None:
        return agent_of_secret(secret=secret, now=now) is not None
    session = parse_cookie(meta.get("HTTP_COOKIE", "")).get(settings.SESSION_COOKIE_NAME)
    return session is not None and SESSION_KEY in SessionStore(session)


class TokenAuthentication(BaseAuthentication):
    """A person, by a token from the page Account; `request.auth` is the ApiToken."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        secret = secret_of(request.META, "Token")
        if secret is None:
            return None
        try:
            token = tokens.of_secret(secret, timezone.now())
        except tokens.TokenExpired as expired:
            raise AuthenticationFailed(f"{expired} {REMEDY['Token']}") from expired
        if token is None:
            raise AuthenticationFailed(f"This token is unknown or revoked. {REMEDY['Token']}")
        return token.user, token

    def authenticate_header(self, _request: Request) -> str:
        return "Token"


class AgentAuthentication(BaseAuthentication):
    """An agent, by the secret that `manage.py register_agent` printed; `request.auth` is the Agent."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, Agent] | None:
        secret = secret_of(request.META, "Agent")
        if secret is None:
            return None
        agent = agent_of_secret(secret=secret, now=timezone.now())
        if agent is None:
            raise AuthenticationFailed(f"This secret is unknown or revoked. {REMEDY['Agent']}")
        return AnonymousUser(), agent

    def authenticate_header(self, _request: Request) -> str:
        return "Agent"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped
    target_class = "apps.rest.framework.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, _schema: object) -> dict[str, str]:
        return {"type": "apiKey", "in": "header", "name": "Authorization", "description": "`Token <secret>`"}


class AgentScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped
    target_class = "apps.rest.framework.authentication.AgentAuthentication"
    name = "agent"

    def get_security_definition(self, _schema: object) -> dict[str, str]:
        return {"type": "apiKey", "in": "header", "name": "Authorization", "description": "`Agent <secret>`"}
