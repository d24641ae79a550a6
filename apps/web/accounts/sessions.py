"""Ending sessions of one's own."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from apps.accounts.current_user import writer
from apps.accounts.sessions import sessions
from apps.core.text import counted
from apps.web.accounts.guards import signed_in_only


@require_POST
@signed_in_only
def end(request: HttpRequest, handle: str) -> HttpResponse:
    if not sessions.end(user=writer(request), handle=handle):
        raise Http404("You have no such session; it may have ended already.")
    messages.success(request, "The session is ended.")
    return redirect("web:account")


@require_POST
@signed_in_only
def end_others(request: HttpRequest) -> HttpResponse:
    ended = sessions.end_all(user=writer(request), but=request.session.session_key)
    messages.success(request, f"{counted(ended, 'other session')} ended.")
    return redirect("web:account")
