"""Pages for uploading finished runs and attaching files to a run."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from apps.runs.api import reading_once
from apps.runs.models import Run
from apps.web.accounts.guards import writers_only
from apps.web.components.pages import render_page
from apps.web.runs import upload_forms
from apps.web.runs.upload_forms import Attach, Upload
from workers import tasks


@require_http_methods(["GET", "HEAD", "POST"])
@writers_only
@reading_once()
def upload(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _upload_page(request, Upload(initial=upload_forms.first_values(request.GET.get("format", ""))))
    form = Upload(request.POST, request.FILES)
    done = form.submit()
    if done is None:
        return _upload_page(request, form, status=422)
    if done.created:
        tasks.seal_at_once(done.run.pk)
    else:
        messages.info(request, "This output was uploaded before; this is its run.")
    return redirect("web:run", done.run.pk)


def _upload_page(request: HttpRequest, form: Upload, *, status: int = 200) -> HttpResponse:
    context: dict[str, Any] = {
        "form": form,
        "problems": form.problems() if form.is_bound else [],
        "made_by": upload_forms.made_by(),
    }
    return render_page(request, "web/runs/upload.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@writers_only
def attach(request: HttpRequest, run_id: int) -> HttpResponse:
    run = get_object_or_404(Run.objects.select_related("system", "workload"), pk=run_id)
    form = Attach(request.POST, request.FILES) if request.method == "POST" else Attach()
    name = form.attach(run) if form.is_bound else None
    if name is not None:
        messages.info(request, f"{name} attached; its table is below.")
        return redirect(f"{reverse('web:run', args=[run.pk])}?tab=files#tabs")
    context = {
        "form": form,
        "run": run,
        "problems": form.problems() if form.is_bound else [],
        "made_by": upload_forms.attached_made_by(),
    }
    return render_page(request, "web/runs/attach.html", context, status=422 if form.is_bound else 200)
