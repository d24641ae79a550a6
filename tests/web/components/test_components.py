from typing import Any

import pytest
from django import forms
from django.template import Context, Template, TemplateSyntaxError
from django.template.loader import get_template

from tests.paths import ROOT


def rendered(source: str, **values: Any) -> str:
    return " ".join(Template(source).render(Context(values)).split())


def test_what_stands_in_a_slot_is_that_variable_of_the_component() -> None:
    page = rendered(
        '{% component "page_head" title=name %}'
        '{% slot actions %}<a href="/x">{{ name }}</a>{% endslot %}{% endcomponent %}',
        name="a & b",
    )
    assert "<h1>a &amp; b</h1>" in page
    assert '<div class="actions"><a href="/x">a &amp; b</a></div>' in page
    assert "lede" not in page


def test_a_heading_and_its_lede_take_attributes() -> None:
    page = rendered(
        '{% component "page_head" title="Runs" lede="3 runs" lede_attributes="data-answer" lede_class="row" %}'
        '{% slot title_attributes %}data-runs="{{ runs }}"{% endslot %}{% endcomponent %}',
        runs=3,
    )
    assert '<h1 data-runs="3">Runs</h1> <p class="lede row" data-answer>3 runs</p>' in page


def test_a_table_without_rows_shows_what_is_missing() -> None:
    source = (
        '{% component "table" label="Runs" %}{% slot head %}<th scope="col">Run</th>{% endslot %}'
        "{% for run in runs %}<tr><td>{{ run }}</td></tr>{% endfor %}"
        "{% slot empty %}<strong>No runs yet</strong>{% endslot %}{% endcomponent %}"
    )
    assert rendered(source, runs=[]) == '<div class="empty" data-state="empty"><strong>No runs yet</strong></div>'
    table = rendered(source, runs=[7])
    assert "<tbody><tr><td>7</td></tr></tbody>" in table
    assert 'aria-label="Runs"' in table
    assert "empty" not in table


@pytest.mark.parametrize("rows", ["", "{% slot bodies %}<tbody> </tbody>{% endslot %}"])
def test_a_table_without_rows_is_no_empty_shell_unless_a_script_fills_it(rows: str) -> None:
    source = (
        '{% component "table" filled=filled %}{% slot head %}<th>Run</th>{% endslot %}' + rows + "{% endcomponent %}"
    )
    assert rendered(source, filled=False) == '<div class="empty" data-state="empty">No data</div>'
    assert "<thead><tr><th>Run</th></tr></thead>" in rendered(source, filled=True)
    assert "role=" not in rendered(source), "without a name the box is no group"


def test_a_table_may_have_several_rows_of_headings_and_do_without_the_box() -> None:
    source = (
        '{% component "table" class="jobs" caption="Jobs" bare=True %}'
        '{% slot attributes %}data-jobs="{{ jobs }}"{% endslot %}'
        "{% slot heads %}<tr><th>A</th></tr><tr><th>B</th></tr>{% endslot %}"
        "{% slot bodies %}<tbody><tr><td>1</td></tr></tbody>{% endslot %}{% endcomponent %}"
    )
    assert rendered(source, jobs='"') == (
        '<table class="data jobs" data-jobs="&quot;"> <caption class="visually-hidden">Jobs</caption> '
        "<thead><tr><th>A</th></tr><tr><th>B</th></tr></thead> <tbody><tr><td>1</td></tr></tbody> </table>"
    )


def test_what_is_missing_may_be_a_paragraph_or_have_a_heading() -> None:
    paragraph = rendered('{% component "empty" state="no-series" %}No series.{% endcomponent %}')
    assert paragraph == '<p class="empty" data-state="no-series">No series.</p>'
    box = rendered('{% component "empty" title="No runs" heading="h2" id="none" %}{% endcomponent %}')
    assert box == '<div class="empty" data-state="empty"> <h2 id="none">No runs</h2> </div>'


def test_a_control_is_described_by_its_hint_and_errors() -> None:
    source = (
        '{% component "input" name="rate" value=value label="Rate" hint="1/s" errors=errors %}'
        'size="4"{% endcomponent %}'
    )
    with_error = rendered(source, value="x", errors=["Enter a number."])
    assert 'size="4" aria-describedby="rate-hint rate-error" aria-invalid="true"' in with_error
    assert '<span class="field__error" id="rate-error">Enter a number.</span>' in with_error
    assert 'aria-describedby="rate-hint"' in rendered(source, value="5", errors=[])
    assert 'value=""' in rendered(source, value=None, errors=[])


def test_all_errors_of_a_control_stand_under_one_id_that_begins_with_that_of_the_control() -> None:
    source = '{% component "textarea" id="own-note" name="note" value=value errors=errors %}rows="2"{% endcomponent %}'
    page = rendered(source, value="a <b>", errors=["Too long.", "No words."])
    assert page.count('id="own-note-error"') == 1
    assert "Too long.<br>No words.</span>" in page
    assert 'rows="2" aria-describedby="own-note-error" aria-invalid="true" >a &lt;b&gt;</textarea>' in page


def test_a_form_s_field_stands_for_all_that_it_knows() -> None:
    class Plan(forms.Form):
        threads = forms.IntegerField(label="Threads")
        digest = forms.CharField(label="Sent", widget=forms.Select(choices=[(1, "at once"), (2, "daily")]))

    form = Plan({"threads": "x", "digest": "2"})
    control = rendered('{% component "input" field=form.threads %}{% endcomponent %}', form=form)
    assert '<label for="id_threads">Threads</label>' in control
    assert 'name="threads" value="x" aria-describedby="threads-error" aria-invalid="true"' in control
    choice = rendered('{% component "select" field=form.digest label="When" %}{% endcomponent %}', form=form)
    assert '<label for="id_digest">When</label>' in choice
    assert '<option value="1">at once</option> <option value="2" selected>daily</option>' in choice


def test_a_password_is_not_sent_back() -> None:
    source = '{% component "input" name="password" type="password" value="secret" label="Password" %}{% endcomponent %}'
    assert "secret" not in rendered(source)


def test_a_pager_names_the_pages_that_there_are() -> None:
    source = '{% include "web/components/pager.html" with of="runs" older=older only %}'
    assert rendered(source, older="") == ""
    pager = rendered(source, older="?before=3")
    assert '<a href="?before=3" rel="next" id="runs-older" >Older runs</a>' in pager
    assert "Newest" not in pager


def test_a_component_takes_named_values_only() -> None:
    with pytest.raises(TemplateSyntaxError, match="title"):
        rendered('{% component "page_head" "title" %}{% endcomponent %}')


def test_every_template_compiles() -> None:
    folder = ROOT / "apps/web/templates"
    for file in folder.rglob("*.html"):
        get_template(str(file.relative_to(folder)))
