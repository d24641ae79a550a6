"""Data for a page's script.

{{ chart|page_data:"run-data" }}    a script element with this id, read by `pageData` in frontend/src/api/client.ts
"""

from typing import Any

from django import template
from django.utils.html import json_script
from django.utils.safestring import SafeString

from apps.web.page_data import as_json

register = template.Library()


@register.filter
def page_data(value: Any, element_id: str) -> SafeString:
    return json_script(as_json(element_id, value), element_id)
