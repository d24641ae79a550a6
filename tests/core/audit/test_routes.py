"""No address that changes something is without its place in the audit log."""

from collections.abc import Iterator
from uuid import UUID

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from apps.core.audit.api import Action
from tests.core.audit.routes import NOT_RECORDED, RECORDED

UNSAFE = ("post", "put", "patch", "delete")
ARGUMENTS = {"IntConverter": 1, "UUIDConverter": UUID(int=1)}


def patterns(resolver: URLResolver, namespace: str = "") -> Iterator[tuple[str, URLPattern]]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from patterns(pattern, f"{namespace}{pattern.namespace}:" if pattern.namespace else namespace)
        elif isinstance(pattern, URLPattern) and pattern.name:
            yield f"{namespace}{pattern.name}", pattern


def changes(name: str, pattern: URLPattern, client: Client) -> bool:
    """Whether the view takes a method that changes something: DRF's by its methods, a page by its answer."""
    view = getattr(pattern.callback, "cls", None)
    if view is not None:
        return any(hasattr(view, method) for method in UNSAFE)
    converters = pattern.pattern.converters
    values = {key: ARGUMENTS.get(type(each).__name__, "x") for key, each in converters.items()}
    regex = getattr(pattern.pattern, "regex", None)
    if regex is not None and not converters:
        values = {key: "md" if key == "ending" else "x" for key in regex.groupindex}
    return client.post(reverse(name, kwargs=values)).status_code != 405


def test_every_address_that_changes_something_is_recorded_or_says_why_not(db: None, client: Client) -> None:
    assert not RECORDED.keys() & NOT_RECORDED.keys()
    found = {name for name, pattern in patterns(get_resolver()) if changes(name, pattern, client)}
    assert found == RECORDED.keys() | NOT_RECORDED.keys()


def test_every_action_is_made_by_an_address_or_by_a_command() -> None:
    by_commands = {Action.AGENT_REGISTER, Action.AGENT_REVOKE, Action.AGENT_ROTATE, Action.AUDIT_PRUNE}
    by_commands |= {Action.PERSON_CHANGE, Action.PERSON_CREATE, Action.PERSON_PASSWORD, Action.RUN_DELETE}
    by_commands |= {Action.SIGN_IN_LINK, Action.RUN_RESTORE, Action.SYSTEM_DELETE}
    by_a_look = {Action.PERSON_BIND}  # at the address to which an OpenID Connect provider sends a browser back
    assert set().union(*RECORDED.values(), by_commands, by_a_look) == set(Action)
