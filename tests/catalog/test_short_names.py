"""Short names tell a system's platform and nodes, and beside others like it what differs."""

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from apps.catalog import services
from apps.catalog.models import System
from apps.catalog.short_names import LONGEST, Traits, short_name
from tests.support.builders import a_system, a_user
from tests.support.pages import text
from workers.protocol.wire import HardwareMessage, NodeMessage, SystemMessage

ROLES = {
    "galera": ["writer", "reader", "reader", "proxy"],
    "mha": ["writer", "reader", "reader", "manager", "proxy"],
    "mariadb": ["writer"],
}
PLATFORMS = {"galera": "MariaDB Galera", "mha": "MHA", "mariadb": "MariaDB"}


def traits(platform: str = "galera", **fields: Any) -> Traits:
    return Traits(
        **{
            "slug": "a-system-with-a-long-slug",
            "name": "Described by its owner at some length",
            "platform_slug": platform,
            "platform": PLATFORMS.get(platform, platform),
            "version": "10.11.19-MariaDB",
            "hardware": "db.r5.4xlarge",
            "settings": {},
            "roles": ROLES.get(platform, ["writer"]),
            **fields,
        }
    )


def name(own: Traits, *others: Traits, taken: tuple[str, ...] = ()) -> str:
    return short_name(own, others=others, taken=taken)


@pytest.mark.parametrize(
    ("platform", "expected"), [("galera", "Galera ×3"), ("mha", "MHA 1+2"), ("mariadb", "MariaDB single")]
)
def test_a_system_is_named_by_platform_and_nodes_that_hold_data(platform: str, expected: str) -> None:
    assert name(traits(platform)) == expected


def test_a_short_name_given_by_its_owner_is_kept() -> None:
    assert name(traits(name="Blue cluster")) == "Blue cluster"
    assert name(traits(name="Blue cluster"), taken=("blue CLUSTER",)) == "Galera ×3"


@pytest.mark.parametrize(
    ("difference", "expected"),
    [
        ({"version": "11.4.2"}, "Galera 10.11.19"),
        ({"version": "10.11.8"}, "Galera 10.11.19"),
        ({"hardware": "i3.8xlarge"}, "Galera ×3 r5"),
        ({"hardware": "db.r5.xlarge"}, "Galera ×3 r5.4xl"),
        ({"settings": {"innodb_flush_log_at_trx_commit": "2"}}, "Galera flush=1"),
    ],
)
def test_a_system_like_another_is_named_by_what_differs(difference: dict[str, Any], expected: str) -> None:
    own = traits(settings={"innodb_flush_log_at_trx_commit": "1"})
    other = traits(**{"settings": own.settings, **difference})
    assert name(own, other, taken=("Galera ×3",)) == expected


def test_what_a_third_system_shares_does_not_distinguish() -> None:
    others = traits(version="11.4.2"), traits(hardware="i3.large")
    assert name(traits(), *others) == "Galera 10.11 r5", "a full version leaves no room"


def test_equal_systems_are_named_by_slug_or_number() -> None:
    assert name(traits(slug="galera-b"), traits(), taken=("Galera ×3",)) == "galera-b"
    assert name(traits(), traits(), taken=("Galera ×3", "Galera")) == "Galera ×3 #2"


@pytest.mark.parametrize(
    ("variant", "expected"), [("after", "MariaDB after"), ("pool-of-8-GiB", "pool-of-8-GiB"), ("x" * 17, "MariaDB #2")]
)
def test_a_variant_is_named_as_a_person_called_it(variant: str, expected: str) -> None:
    own, before = (traits("mariadb", settings={"variant": each}) for each in (variant, "before"))
    assert name(own, before, taken=("MariaDB single", "MariaDB")) == expected


def test_the_first_of_two_variants_is_named_by_its_own() -> None:
    own = traits("mariadb", settings={"variant": "w1"})
    assert name(own) == "MariaDB w1"
    assert name(own, traits("mariadb", version="10.11.20"), taken=("MariaDB w1",)) == "w1 10.11.19"


def test_names_are_short_and_unique_whatever_the_platform_is_called() -> None:
    taken: list[str] = []
    own = traits("postgres-with-patroni-and-more", roles=["writer", "reader"])
    for _ in range(120):
        taken.append(name(own, own, taken=tuple(taken)))
    assert len({each.casefold() for each in taken}) == 120
    assert max(map(len, taken)) <= LONGEST


def registered(slug: str, **fields: Any) -> System:
    message = SystemMessage(
        **{
            "slug": slug,
            "name": f"{slug}, described at length",
            "platform": "galera",
            "version": "10.11.19",
            "hardware_class": "box",
            "nodes": [
                NodeMessage(name="a"),
                NodeMessage(name="b", role="reader"),
                NodeMessage(name="c", role="reader"),
            ],
            **fields,
        }
    )
    hardware = [HardwareMessage(slug="box", name="Box", vcpu=2, memory_bytes=2**30)]
    return services.register_system(message=message, hardware=hardware).system


@pytest.mark.django_db
def test_registered_systems_get_different_names_that_stay() -> None:
    services.seed()
    assert registered("first-galera-cluster").short_name == "Galera ×3"
    assert registered("second-galera-cluster", version="11.4.2").short_name == "Galera ×3 11.4.2"
    assert System.objects.get(slug="first-galera-cluster").short_name == "Galera ×3"


def an_api() -> APIClient:
    api = APIClient()
    api.force_authenticate(a_user())
    return api


PAGE, API = "/catalog/systems/one/short-name/", "/api/v1/systems/one/short-name"


@pytest.mark.django_db
def test_an_engineer_changes_a_short_name_on_its_page(client: Client) -> None:
    system = a_system("one")
    client.force_login(a_user())
    assert PAGE in client.get("/catalog/").content.decode()
    assert text(client.get(PAGE).content.decode(), "h1") == "Short name of one"
    assert client.post(PAGE, {"short_name": "  Blue   cluster "}).status_code == 302
    system.refresh_from_db()
    assert system.short_name == "Blue cluster"
    assert "Blue cluster" in client.get("/catalog/").content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("", ""),
        ("seventeen letters", "has 17 characters (at most 16 are allowed)"),
        ("TWO", "is the short name of two (choose another one)"),
        ("a\u200bb", "has an unprintable character"),
    ],
)
def test_a_wrong_short_name_is_refused_with_the_reason(client: Client, wrong: str, message: str) -> None:
    system = a_system("one")
    a_system("two")
    client.force_login(a_user())
    page = client.post(PAGE, {"short_name": wrong})
    assert page.status_code == 422
    api = an_api()
    answer = api.put(API, {"short_name": wrong}, format="json")
    assert answer.status_code == 422
    assert answer.data["errors"][0]["field"] == "short_name"
    if wrong:
        assert message in page.content.decode()
        assert message in str(answer.data)
    system.refresh_from_db()
    assert system.short_name == "one"


@pytest.mark.django_db
def test_a_program_changes_a_short_name() -> None:
    a_system("one")
    api = an_api()
    assert api.put(API, {"short_name": "Blue"}, format="json").data["short_name"] == "Blue"
    assert api.get("/api/v1/systems/").data["results"][0]["short_name"] == "Blue"
    assert api.put("/api/v1/systems/none/short-name", {"short_name": "x"}, format="json").status_code == 404


@pytest.mark.django_db
def test_readers_change_no_short_name(client: Client) -> None:
    a_system("one")
    client.force_login(a_user(role="reader"))
    assert client.post(PAGE, {"short_name": "x"}).status_code == 403
