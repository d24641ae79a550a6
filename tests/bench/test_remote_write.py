import struct

import cramjam
import numpy as np
import pytest

from bench import remote_write
from bench.remote_write import Series


def a_series(values: list[list[float]], at: list[int], observed: list[list[bool]] | None = None) -> Series:
    return Series(
        labels=[remote_write.labels_of({"__name__": f"m{number}"}) for number in range(len(values))],
        at=np.array(at),
        values=np.array(values),
        observed=np.ones((len(values), len(at)), dtype=np.bool_) if observed is None else np.array(observed),
    )


def unpacked(*parts: Series) -> bytes:
    return bytes(cramjam.snappy.decompress_raw(remote_write.write_request(parts)))


def test_a_request_is_the_bytes_that_prometheus_writes() -> None:
    """By the wire format: tag, length, content; 1,760,000,000,000 as a varint is 80 80 b3 c1 9c 33."""
    label = b"\x0a\x0e" + b"\x0a\x08__name__" + b"\x12\x02m0"
    sample = b"\x12\x10" + b"\x09" + struct.pack("<d", 1.5) + b"\x10" + bytes.fromhex("8080b3c19c33")
    series = label + sample
    assert unpacked(a_series([[1.5]], [1_760_000_000_000])) == b"\x0a" + bytes([len(series)]) + series


def test_a_value_of_zero_is_left_out_and_one_of_minus_zero_is_not() -> None:
    at = 1_760_000_000_000
    assert b"\x12\x07\x10" + bytes.fromhex("8080b3c19c33") in unpacked(a_series([[0.0]], [at]))
    assert struct.pack("<d", -0.0) in unpacked(a_series([[-0.0]], [at]))


def test_labels_come_in_the_order_of_their_names() -> None:
    encoded = remote_write.labels_of({"run": "r1", "__name__": "up", "node": "db1"})
    assert encoded.index(b"__name__") < encoded.index(b"node") < encoded.index(b"run")


def test_what_was_not_observed_is_not_sent_nor_is_a_series_without_samples() -> None:
    at = [1_760_000_000_000, 1_760_000_001_000]
    sent = unpacked(a_series([[1.0, 2.0], [3.0, 4.0]], at, [[False, True], [False, False]]))
    assert struct.pack("<d", 2.0) in sent
    assert struct.pack("<d", 1.0) not in sent
    assert b"m1" not in sent


def test_a_request_may_hold_a_part_of_the_time() -> None:
    at = [1_760_000_000_000, 1_760_000_001_000, 1_760_000_002_000]
    sent = unpacked(a_series([[1.0, 2.0, 3.0]], at).between(1, 2))
    assert [struct.pack("<d", value) in sent for value in (1.0, 2.0, 3.0)] == [False, True, False]


def test_a_time_that_is_not_in_milliseconds_is_refused() -> None:
    with pytest.raises(ValueError, match="milliseconds"):
        unpacked(a_series([[1.0]], [1_760_000_000]))


def test_names_are_made_of_what_prometheus_takes() -> None:
    assert remote_write.name_of("host.disk.nvme0-n1.reads") == "host_disk_nvme0_n1_reads"
