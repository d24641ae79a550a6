"""One POST to a webhook: allowed targets only, no redirects, short timeouts."""

import httpx

from apps.notifications.webhooks import addresses
from apps.notifications.webhooks.outcome import Outcome, is_retryable

# s, each.
CONNECT, ANSWER = 5.0, 10.0
LONGEST_WAIT = 86_400.0
# Bytes read of a response: enough for the reason of a rejection.
READ = 400


def post(url: str, body: bytes, *, headers: dict[str, str]) -> Outcome:
    try:
        return _post(httpx.URL(url), body, headers)
    except addresses.Forbidden as error:
        return Outcome(is_sent=False, again=False, words=f"{error}; SPLASHBOARD_WEBHOOK_NETWORKS can allow it")
    except addresses.UnknownHost as error:
        return Outcome(is_sent=False, again=True, words=str(error))
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
        return Outcome(is_sent=False, again=False, words=f"not a webhook address: {error}")
    except httpx.HTTPError as error:
        words = f"no answer: {error or type(error).__name__}"
        return Outcome(is_sent=False, again=is_retryable(None), words=words)


def _post(url: httpx.URL, body: bytes, headers: dict[str, str]) -> Outcome:
    host = url.raw_host.decode().strip("[]")
    sent = {**headers, "Host": url.netloc.decode(), "Content-Type": "application/json", "User-Agent": "Splashboard"}
    found = addresses.resolve(host, url.port or (443 if url.scheme == "https" else 80))
    with httpx.Client(
        trust_env=False, follow_redirects=False, timeout=httpx.Timeout(ANSWER, connect=CONNECT)
    ) as client:
        for address in found:
            # Connects to the checked address: a second lookup of the name may give another one.
            request = client.build_request(
                "POST", url.copy_with(host=address), content=body, headers=sent, extensions={"sni_hostname": host}
            )
            try:
                return _outcome(client.send(request, stream=True))
            except (httpx.ConnectError, httpx.ConnectTimeout):
                if address == found[-1]:
                    raise
    raise AssertionError("a resolved name has an address")


def _outcome(answer: httpx.Response) -> Outcome:
    received = b""
    try:
        for chunk in answer.iter_raw(READ):
            received += chunk
            if len(received) >= READ:
                break
    finally:
        answer.close()
    words = f"{answer.status_code} {answer.reason_phrase}".strip()
    if text := " ".join(received[:READ].decode(errors="replace").replace("\0", " ").split()):
        words += f": {text}"
    if answer.is_redirect:
        words = f"{words} (redirects are not followed: subscribe the address it leads to)"
    return Outcome(
        is_sent=answer.is_success,
        again=is_retryable(answer.status_code),
        words=words,
        status=answer.status_code,
        after=_seconds(answer.headers.get("retry-after", "")),
    )


def _seconds(header: str) -> float:
    """Of a Retry-After in seconds, at most a day; 0: none."""
    return min(float(header), LONGEST_WAIT) if header.isascii() and header.isdecimal() else 0.0
