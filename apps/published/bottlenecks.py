"""Published bottlenecks: what limited a side according to articles, never combined with measurements."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated

from apps.core.answers import Hidden
from apps.published.models import Article
from apps.published.wording import label, plain


@dataclass(frozen=True)
class StatedLimit:
    """`saturated`: resources in the article's terms; `conditions` of the load, empty: not stated."""

    article: str
    slug: Hidden[str]
    published: Hidden[str]
    platform: Annotated[str, "slug"]
    side: Annotated[str, "as the article names it"]
    workload: str
    conditions: str
    saturated: tuple[str, ...]


def stated_limits(platforms: Collection[str]) -> tuple[StatedLimit, ...]:
    """For sides on these platforms (slugs), the newest article first. One query."""
    rows = Article.objects.filter(setup__has_key="bottlenecks").order_by("-published", "title")
    found = []
    for article in rows:
        sides = article.setup.get("sides", {})
        for stated in article.setup["bottlenecks"]:
            side = sides.get(stated["side"], {})
            if side.get("platform") in platforms and stated.get("saturated"):
                found.append(
                    StatedLimit(
                        article=article.title,
                        slug=article.slug,
                        published=article.published,
                        platform=side["platform"],
                        side=side["name"],
                        workload=label(stated["workload"]),
                        conditions="; ".join(f"{plain(v)} {label(k)}" for k, v in stated.get("conditions", {}).items()),
                        saturated=tuple(label(each) for each in stated["saturated"]),
                    )
                )
    return tuple(found)
