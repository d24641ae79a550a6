"""How much each agent may upload: a bucket that fills evenly, in the memory of this process. Pure.

A count in Valkey would cost each batch as much time again as storing it. Each of several web processes has its own
buckets, so that an agent may upload as many times as much.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from apps.core import limits

MINUTE = 60.0  # s
MOST_SENDERS = 10_000


@dataclass
class Bucket:
    """What may still be sent: `batches`, and `size` in bytes, which the last batch may overdraw; `at`: when, in s."""

    batches: float
    size: float
    at: float


class UploadBuckets:
    def __init__(
        self,
        *,
        batches: int = limits.BATCHES,
        size: int = limits.BATCH_BYTES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`batches` and `size` (bytes): a minute, and at once after a pause."""
        self._most = (batches, size)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, sender: str, size: int) -> float:
        """Take a batch of `size` bytes. 0: it may be stored; else nothing was taken, and s until it may be."""
        batches, most = self._most
        now = self._clock()
        with self._lock:
            bucket = self._buckets.setdefault(sender, Bucket(batches, most, now))
            self._buckets.move_to_end(sender)
            if len(self._buckets) > MOST_SENDERS:
                self._buckets.popitem(last=False)
            share = (now - bucket.at) / MINUTE
            bucket.at = now
            bucket.batches = min(batches, bucket.batches + batches * share)
            bucket.size = min(most, bucket.size + most * share)
            if bucket.batches >= 1 and bucket.size > 0:
                bucket.batches -= 1
                bucket.size -= size
                return 0.0
            return MINUTE * max((1 - bucket.batches) / batches, -bucket.size / most, 1e-3)
