"""One e-mail, as text and simple HTML."""

import smtplib
from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives

from apps.notifications.webhooks.outcome import Outcome

# Outcome by backend, for settings without EMAIL_URL.
_TAKEN = {
    "django.core.mail.backends.filebased.EmailBackend": "written to a file in var/mail: there is no mail server",
}


def mail(*, to: str, subject: str, text: str, html: str, number: int, made_at: datetime) -> Outcome:
    """`number`, `made_at`: of the delivery; a second copy has the same Message-ID."""
    host = urlsplit(settings.ADDRESS).hostname or "localhost"
    headers = {
        "Message-ID": f"<delivery-{number}-{made_at:%Y%m%d%H%M%S}@{host}>",
        # Suppresses out-of-office replies.
        "Auto-Submitted": "auto-generated",
    }
    message = EmailMultiAlternatives(subject, text, to=[to], headers=headers)
    message.attach_alternative(html, "text/html")
    try:
        message.send()
    except smtplib.SMTPRecipientsRefused as error:
        code, reply = next(iter(error.recipients.values()))
        return Outcome(is_sent=False, again=code < 500, words=_words(code, reply))
    except smtplib.SMTPResponseException as error:
        # A user name or password may be corrected; rejected content will not.
        again = not (isinstance(error, smtplib.SMTPDataError) and error.smtp_code >= 500)
        return Outcome(is_sent=False, again=again, words=_words(error.smtp_code, error.smtp_error))
    except (smtplib.SMTPException, OSError) as error:
        return Outcome(is_sent=False, again=True, words=f"no mail server: {error or type(error).__name__}")
    return Outcome(is_sent=True, again=False, words=_TAKEN.get(settings.EMAIL_BACKEND, "accepted by the mail server"))


def _words(code: int, reply: bytes | str) -> str:
    text = reply.decode(errors="replace") if isinstance(reply, bytes) else reply
    return f"{code} {' '.join(text.split())}"
