"""Assets of a page's script.

{% preload_asset 'src/charts/bundle.ts' %}    fetched early: an asset that the page's script imports later
"""

from django import template
from django.utils.safestring import SafeString, mark_safe
from django_vite.core.asset_loader import DjangoViteAssetLoader

register = template.Library()


@register.simple_tag
def preload_asset(path: str) -> SafeString:
    """Vite's own links ask for styles with CORS: a preload without it is fetched twice, with a warning."""
    tags: str = DjangoViteAssetLoader.instance().preload_vite_asset(path)
    html = tags.replace('as="style"', 'as="style" crossorigin="anonymous"')
    return mark_safe(html)  # noqa: S308  from the build
