"""Requests of each caller within the present minute, counted in Valkey for all web processes together.

Without Valkey nothing is refused: a broker that is away must not end reading.
"""

import logging
import time
from collections.abc import Callable
from functools import cache

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

log = logging.getLogger(__name__)

WINDOW = 60  # s
ANSWERS_WITHIN = 0.25  # s
# s for which Valkey is not asked again after it did not answer: one that hangs must not slow every request down.
LEFT_ALONE = 5.0
LOGGED_EVERY = 60.0  # s


class RequestCounter:
    """One of a process, for all of its threads. `clock`: s since 1970."""

    def __init__(self, *, prefix: str = "splashboard:requests", clock: Callable[[], float] = time.time) -> None:
        self._prefix = prefix
        self._clock = clock
        self._asked_again_at = self._logged_again_at = 0.0

    def wait(self, caller: str, *, limit: int) -> int:
        """Count a request. 0: within `limit` a minute, or Valkey does not answer; else s until the next minute."""
        now = self._clock()
        # A clock that was set back must not leave Valkey alone for hours.
        if now < self._asked_again_at <= now + LEFT_ALONE:
            return 0
        window, passed = divmod(now, WINDOW)
        key = f"{self._prefix}:{caller}:{window:.0f}"
        try:
            # One round trip. Django's cache needs two to count, and DRF's throttles two that do not exclude each other.
            with _client(settings.REDIS_URL).pipeline(transaction=False) as both:
                both.incr(key)
                both.expire(key, 2 * WINDOW)
                count, _ = both.execute()
        except redis.RedisError as error:
            self._asked_again_at = now + LEFT_ALONE
            if not now < self._logged_again_at <= now + LOGGED_EVERY:
                self._logged_again_at = now + LOGGED_EVERY
                log.warning("requests are not limited: Valkey does not answer; see REDIS_URL (%s)", error)
            return 0
        return max(1, round(WINDOW - passed)) if count > limit else 0


@cache
def _client(url: str) -> "redis.Redis":
    return redis.Redis.from_url(
        url,
        socket_timeout=ANSWERS_WITHIN,
        socket_connect_timeout=ANSWERS_WITHIN,
        retry=Retry(NoBackoff(), 0),
    )


counter = RequestCounter()
