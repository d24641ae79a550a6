"""Components: templates of web/components that take HTML. The first lines of each document its use.

No {% load %} is needed, nor for splash: settings.TEMPLATES names both.

{% component "page_head" title="Runs" %}       the template, with these variables and no others
  {% slot actions %}<a …>…</a>{% endslot %}    HTML for its variable `actions`
  …                                            the rest is its variable `content`
{% endcomponent %}
{% component "input" field=form.rate %}         a form's field stands for its name, label, value, errors and choices
<input {% described "source" errors "hint" %}>  aria attributes of a control with a hint and errors
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django import template
from django.forms import BoundField
from django.template.base import FilterExpression, Node, NodeList, Parser, Token, token_kwargs
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()
SLOTS = "_slots"


@dataclass
class ComponentNode(Node):
    path: str
    values: dict[str, FilterExpression]
    nodelist: NodeList

    def render(self, context: template.Context) -> SafeString:
        values: dict[str, Any] = {name: value.resolve(context) for name, value in self.values.items()}
        if isinstance(bound := values.pop("field", None), BoundField):
            values = _variables(bound) | values
        with context.push(**{SLOTS: values}):
            values["content"] = mark_safe(self.nodelist.render(context).strip())  # noqa: S308  a template's output
        engine = context.template.engine  # type: ignore[union-attr]  # set while a template renders
        return engine.get_template(self.path).render(context.new(values))


def _variables(bound: BoundField) -> dict[str, Any]:
    """What the components of a control take."""
    value = bound.value()
    return {
        "name": bound.html_name,
        "label": bound.label,
        "value": value,
        "errors": bound.errors,
        "choices": getattr(bound.field.widget, "choices", ()),
        "chosen": value,
    }


@dataclass
class SlotNode(Node):
    name: str
    nodelist: NodeList = field(default_factory=NodeList)

    def render(self, context: template.Context) -> SafeString:
        context[SLOTS][self.name] = mark_safe(self.nodelist.render(context).strip())  # noqa: S308  as above
        return SafeString("")


@register.tag
def component(parser: Parser, token: Token) -> ComponentNode:
    _, name, *words = token.split_contents()
    values = token_kwargs(words, parser)
    if words:
        raise template.TemplateSyntaxError(f"component {name}: {words[0]!r} is not name=value")
    nodelist = parser.parse(("endcomponent",))
    parser.delete_first_token()
    name = name.strip("\"'")
    return ComponentNode(f"web/components/{name}.html", values, nodelist)


@register.tag
def slot(parser: Parser, token: Token) -> SlotNode:
    _, name = token.split_contents()
    nodelist = parser.parse(("endslot",))
    parser.delete_first_token()
    return SlotNode(name, nodelist)


@register.filter
def id_and_name(rows: Iterable[Any]) -> list[tuple[Any, str]]:
    """Choices of a select."""
    return [(row.id, row.name) for row in rows]


@register.simple_tag
def described(base: str, errors: object, hint: str = "") -> SafeString:
    """`base`: what the ids of hint and errors begin with; `hint`: anything if the control has a hint."""
    ids = [f"{base}-hint"] * bool(hint) + [f"{base}-error"] * bool(errors)
    attributes = format_html('aria-describedby="{}"', " ".join(ids)) if ids else SafeString("")
    return attributes + mark_safe(' aria-invalid="true"') if errors else attributes
