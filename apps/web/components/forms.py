"""Django forms whose rules lie in a service: what it refuses stands at the form's fields."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from django import forms

from apps.core.problems import FieldProblem, Invalid

Found = TypeVar("Found")


@dataclass(frozen=True)
class FormProblem:
    """`field` and `label` empty: of the form as a whole. `control`: its id, if not id_FIELD."""

    field: str
    label: str
    message: str
    control: str = ""


class Texts(forms.MultipleChoiceField):
    """Any texts: the service decides which it knows."""

    def valid_value(self, _value: str) -> bool:
        return True


class PageForm(forms.Form):
    """`names`: the service's names of fields -> the form's, where they differ.

    A problem within a field (`plan.systems.1`) stands at that field.
    """

    names: ClassVar[Mapping[str, str]] = {}

    def attempt(self, call: Callable[[], Found]) -> Found | None:
        """What `call` returns; None: nothing was done, and the form's errors give the reasons."""
        if not self.is_valid():
            return None
        try:
            return call()
        except Invalid as refused:
            for problem in refused.errors:
                self._refuse(problem)
        return None

    def _refuse(self, problem: FieldProblem) -> None:
        name = self.names.get(problem.field, problem.field)
        outer, _, inner = name.partition(".")
        if name in self.fields:
            self.add_error(name, problem.text())
        elif outer in self.fields:
            self.add_error(outer, f"{inner}: {problem.text()}")
        else:
            self.add_error(None, problem.sentence())

    def problems(self) -> list[FormProblem]:
        """Of the form as a whole, then of its fields in their order."""
        found = [FormProblem("", "", str(text)) for text in self.non_field_errors()]
        return found + [
            FormProblem(each.name, str(each.label), str(text), each.auto_id) for each in self for text in each.errors
        ]
