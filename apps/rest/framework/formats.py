"""Tables of the REST API in the format that the caller asks for: which one, and its bytes piece by piece.

JSON is each endpoint's own document. CSV, Arrow (IPC stream) and Parquet hold one table, written batch by batch, so
that an export of any length needs the memory of one batch.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import pyarrow as pa
from django.http import HttpResponse, HttpResponseNotModified, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from pyarrow import csv, ipc, parquet
from rest_framework import serializers
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

from apps.rest.framework.problems import ApiProblem

Renderers = Sequence[BaseRenderer] | Sequence[type[BaseRenderer]]


class Json(JSONRenderer):
    """Renders problems too, whatever format was asked for.

    `broken` follows what was sent when no more can be: the server may end the transfer as if it were whole, and no
    reader shall take it for that. Of JSON and Parquet the end is missing then, which their readers notice.
    """

    broken = b""


class Csv(Json):
    media_type = "text/csv"
    format = "csv"
    broken = b'\n"The answer breaks off here: the reason is in the log of the server.'  # a quote without its end


class Arrow(Json):
    media_type = "application/vnd.apache.arrow.stream"
    format = "arrow"
    broken = b"\xff\xff\xff\xff\xff\xff\xff\x7f"  # a message that is longer than what follows


class Parquet(Json):
    media_type = "application/vnd.apache.parquet"
    format = "parquet"


# Rows that CSV and Arrow are written in at once.
PIECE = 2**16
FORMATS: list[type[BaseRenderer]] = [Json, Csv, Arrow, Parquet]


def format_field() -> serializers.ChoiceField:
    """The query parameter that names a format where no header can be sent, in a browser or a spreadsheet."""
    names = [str(one.format) for one in FORMATS]
    return serializers.ChoiceField(choices=names, required=False, help_text="goes before the header Accept")


class ByQuality(BaseContentNegotiation):
    """Accept as RFC 9110 has it: of what is acceptable that of the highest quality, then the one named most exactly.

    Among equals the first of the view's own order. DRF's own negotiation passes over qualities.
    """

    def select_parser(self, request: Request, parsers: Any) -> BaseParser | None:
        raise NotImplementedError("an endpoint with several formats is only read")

    def select_renderer(
        self,
        request: Request,
        renderers: Any,
        format_suffix: str | None = None,  # noqa: ARG002
    ) -> tuple[BaseRenderer, str]:
        """Raises Problem, 406. A format that is not known is left to the check of the parameters."""
        named = request.query_params.get("format")
        if named is not None:
            found = next((one for one in renderers if one.format == named), renderers[0])
            return found, found.media_type
        ranges = list(_ranges(request.headers.get("Accept", "")))
        best = max(renderers, key=lambda one: _rank(one.media_type, ranges))
        if _rank(best.media_type, ranges)[0] <= 0:
            offered = ", ".join(one.media_type for one in renderers)
            detail = f"This can be had as {offered}: name one of these in the header Accept, or take ?format=csv."
            raise ApiProblem(status=406, kind="not-acceptable", title="No such format", detail=detail)
        return best, best.media_type


def _ranges(accept: str) -> Iterator[tuple[str, float]]:
    """The media ranges of an Accept header with their qualities; one that is not written as it must be is left out."""
    for part in (accept.strip() or "*/*").lower().split(","):
        media_range, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((text[2:] for text in parameters if text.startswith("q=")), "1")
        if "/" in media_range and quality.replace(".", "", 1).isdecimal():
            yield media_range, min(float(quality), 1.0)


def _rank(media_type: str, ranges: Iterable[tuple[str, float]]) -> tuple[float, int]:
    """Quality and exactness (3: the type itself) of the most exact range that holds `media_type`; (0, 0): none does."""
    exactness = {media_type: 3, f"{media_type.partition('/')[0]}/*": 2, "*/*": 1}
    fitting = [(exactness[one], quality) for one, quality in ranges if one in exactness]
    exact, quality = max(fitting, default=(0, 0.0))
    return quality, exact


def is_json(request: Request) -> bool:
    return request.accepted_renderer.format == Json.format


class _Sink:
    """A file that forgets what was taken from it."""

    closed = False

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def write(self, piece: Any) -> int:
        self.pieces.append(bytes(piece))
        return len(self.pieces[-1])

    def take(self) -> bytes:
        pieces, self.pieces = self.pieces, []
        return b"".join(pieces)

    def flush(self) -> None:
        """Nothing waits elsewhere."""


def encoded(renderer: BaseRenderer, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """One table in the format of `renderer`, a piece for each batch and one that ends it."""
    sink = _Sink()
    output = pa.PythonFile(sink, mode="w")
    match renderer:
        case Csv():
            writer = csv.CSVWriter(output, schema, write_options=csv.WriteOptions(quoting_style="needed"))
        case Arrow():
            writer = ipc.new_stream(output, schema, options=ipc.IpcWriteOptions(compression="lz4"))
        case _:
            writer = parquet.ParquetWriter(output, schema, compression="zstd")
    # A batch is a row group of Parquet; the other two need no memory for more than some of its rows.
    most = PIECE if not isinstance(renderer, Parquet) else sys.maxsize
    for batch in batches:
        for start in range(0, batch.num_rows, most):
            writer.write_batch(batch.slice(start, most))
            yield sink.take()
    writer.close()
    yield sink.take()


def answer(
    request: Request, pieces: Iterator[bytes], *, etag: str | None, filename: str, troubles: Sequence[object] = ()
) -> HttpResponse | StreamingHttpResponse:
    """What fits one or two pieces is sent whole, with its length; more is sent as it comes.

    The first pieces are made here, so that what is wrong from the start is answered by a problem. `troubles` fills
    meanwhile: with any, the next answer may be another, and this one is not to be held.
    """
    renderer: Any = request.accepted_renderer  # one of FORMATS
    begin = [] if request.method == "HEAD" else list(islice(pieces, 3))
    headers = caching(None if troubles else etag)
    if not is_json(request):
        headers["Content-Disposition"] = f'attachment; filename="{filename}.{renderer.format}"'
    media_type = str(renderer.media_type) + ("; charset=utf-8" if isinstance(renderer, Csv) else "")
    if request.method == "HEAD":
        return StreamingHttpResponse(iter(()), content_type=media_type, headers=headers)
    if len(begin) < 3:
        return HttpResponse(b"".join(begin), content_type=media_type, headers=headers)
    return StreamingHttpResponse(_to_the_end(renderer, chain(begin, pieces)), content_type=media_type, headers=headers)


def _to_the_end(renderer: Json, pieces: Iterable[bytes]) -> Iterator[bytes]:
    try:
        yield from pieces
    except Exception:
        yield renderer.broken
        raise


def unchanged(request: Request, etag: str | None) -> HttpResponseBase | None:
    """304 when the caller holds this answer already."""
    if etag is None:
        return None
    response = get_conditional_response(request._request, etag=etag)
    if not isinstance(response, HttpResponseNotModified):
        return None
    for name, value in caching(etag).items():
        response[name] = value
    return response


def caching(etag: str | None) -> dict[str, str]:
    return {"ETag": etag, "Cache-Control": "no-cache"} if etag else {"Cache-Control": "no-store"}
