"""Answers that are compressed on their way unpack to what they were."""

import gzip
import secrets

import pytest
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.test import RequestFactory

from config.compression import Compression

TEXT = b"0.5,12.75,null," * 1000


def sent(answer: HttpResponseBase, accepted: str = "br, gzip") -> tuple[HttpResponseBase, bytes]:
    request = RequestFactory().get("/", headers={"Accept-Encoding": accepted})
    found = Compression(lambda _: answer)(request)
    assert isinstance(found, HttpResponseBase)
    assert found["Vary"] == "Accept-Encoding"
    content = found.getvalue()
    assert isinstance(content, bytes)
    return found, content


def test_a_whole_answer_is_compressed_with_its_length() -> None:
    answer, content = sent(HttpResponse(TEXT, headers={"ETag": '"a"'}))
    assert gzip.decompress(content) == TEXT
    assert (answer["Content-Encoding"], answer["Content-Length"]) == ("gzip", str(len(content)))
    assert answer["ETag"] == 'W/"a"'
    assert len(content) < len(TEXT) / 20


def test_an_answer_in_pieces_is_compressed_as_it_comes() -> None:
    pieces = [TEXT, b"", TEXT[:7]]
    answer, content = sent(StreamingHttpResponse(iter(pieces), headers={"Content-Length": "15007"}))
    assert gzip.decompress(content) == b"".join(pieces)
    assert not answer.has_header("Content-Length")


@pytest.mark.parametrize(("text", "accepted"), [(TEXT, "br"), (secrets.token_bytes(300), "gzip")])
def test_what_is_not_accepted_or_would_grow_is_sent_as_it_is(text: bytes, accepted: str) -> None:
    answer, content = sent(HttpResponse(text, headers={"ETag": '"a"'}), accepted)
    assert content == text
    assert (answer.has_header("Content-Encoding"), answer["ETag"]) == (False, '"a"')


def test_equal_answers_differ_in_length() -> None:
    assert len({len(sent(HttpResponse(TEXT))[1]) for _ in range(20)}) > 1
