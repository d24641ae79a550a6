"""The Notifications page: teams with their subscriptions, the latest deliveries, and the user's own address."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.current_user import may_write, signed_in
from apps.accounts.models import User
from apps.core.problems import Invalid
from apps.notifications import deliver, queries, services
from apps.notifications.models import Delivery
from apps.web.accounts.guards import writers_only
from apps.web.components.forms import PageForm
from apps.web.components.lists import cursor, page_of, this_page
from apps.web.components.pages import render_page
from workers import tasks

PAGE = 50


class AddressForm(PageForm):
    address = forms.CharField(label="E-mail address", required=False)


@require_http_methods(["GET", "HEAD", "POST"])
def show(request: HttpRequest) -> HttpResponse:
    """POST: the reader's own address, which readers may set too."""
    user = signed_in(request)
    if request.method != "POST":
        return _page(request, AddressForm(initial={"address": user.email if user else ""}))
    if user is None:
        return redirect_to_login(reverse("web:notifications"))
    form = AddressForm(request.POST)
    form.attempt(lambda: services.keep_own_address(user=user, address=form.cleaned_data["address"]))
    if form.errors:
        return _page(request, form)
    text = f"Assignments and mentions are sent to {user.email}." if user.email else "E-mail is off."
    messages.info(request, text)
    return redirect("web:notifications")


def _page(request: HttpRequest, own: AddressForm) -> HttpResponse:
    """htmx polls only the deliveries while some are waiting."""
    viewer = viewer_of(request)
    found = queries.deliveries(viewer=viewer)
    if (before := cursor(request)) is not None:
        found = found.filter(pk__lt=before)
    page = page_of(request, list(found[: PAGE + 1]), PAGE, key=lambda row: row.pk)
    rows = queries.delivery_rows(page.rows, may_see=may_write(request))
    now = timezone.now()
    context: dict[str, Any] = {
        "rows": rows,
        "page": page,
        "here": this_page(request),
        "standing": queries.standing(viewer=viewer, may_see=may_write(request), now=now),
        "is_moving": any(row.next_at and row.state == "waiting" for row in rows),
        "may_write": may_write(request),
        "now": now,
        "own": own,
        "problems": own.problems(),
    }
    if not request.headers.get("HX-Request"):
        context["teams"] = queries.teams(viewer=viewer, may_see=may_write(request))
    return render_page(
        request,
        "web/notifications/notifications.html",
        context,
        part="web/notifications/deliveries.html",
        status=422 if own.errors else 200,
    )


@require_safe
def show_delivery(request: HttpRequest, delivery_id: int) -> HttpResponse:
    found = _delivery(request, delivery_id)
    (row,) = queries.delivery_rows([found], may_see=may_write(request))
    context = {"row": row, "message": queries.message_of(found), "may_write": may_write(request)}
    return render_page(request, "web/notifications/delivery.html", context)


@require_POST
@writers_only
def retry(request: HttpRequest, delivery_id: int) -> HttpResponse:
    _delivery(request, delivery_id)
    if deliver.retry(delivery_id=delivery_id, now=timezone.now()):
        tasks.enqueue(tasks.send_delivery, delivery_id=delivery_id)
        messages.info(request, f"Delivery {delivery_id} is being retried.")
    else:
        messages.info(request, f"Delivery {delivery_id} was sent, or is being sent at this moment.")
    return redirect("web:notifications")


def _delivery(request: HttpRequest, delivery_id: int) -> Delivery:
    """Raises Http404 for an unknown delivery, or one that the viewer may not see."""
    found = queries.deliveries(viewer=viewer_of(request)).filter(pk=delivery_id).first()
    if found is None:
        raise Http404(f"There is no delivery {delivery_id} that you may see.")
    return found


def viewer_of(request: HttpRequest) -> User | None:
    return signed_in(request)


@require_POST
@writers_only
def send_test(request: HttpRequest, subscription_id: int) -> HttpResponse:
    try:
        made = services.send_test(subscription_id=subscription_id, now=timezone.now())
    except services.NoSuchNotification as error:
        raise Http404(str(error)) from error
    except Invalid as error:
        return refused(request, error)
    for delivery in made:
        tasks.enqueue(tasks.send_delivery, delivery_id=delivery.pk)
    messages.info(request, "Test sent; its result appears under the last deliveries.")
    return redirect("web:notifications")


def refused(request: HttpRequest, error: Invalid) -> HttpResponse:
    for problem in error.errors:
        messages.error(request, problem.sentence())
    return redirect("web:notifications")
