"""Tables of the REST API in the requested format: content negotiation and streamed encoding.

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
from pyarrow import compute, csv, ipc, parquet
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

from apps.rest.framework.problems import ApiProblem
from apps.rest.framework.strict import ChoiceField

Renderers = Sequence[BaseRenderer] | Sequence[type[BaseRenderer]]


class Json(JSONRenderer):
    """Also renders problems, whatever format was requested.

    `broken` is appended when a stream fails midway: the server may end the transfer as if it were complete, and no
    reader should accept it. JSON and Parquet then lack their end, which readers detect.
    """

    broken = b""


class Csv(Json):
    media_type = "text/csv"
    format = "csv"
    broken = b'\n"The answer breaks off here: the reason is in the log of the server.'  # an unclosed quote


class Arrow(Json):
    media_type = "application/vnd.apache.arrow.stream"
    format = "arrow"
    broken = b"\xff\xff\xff\xff\xff\xff\xff\x7f"  # announces a message longer than the rest of the stream


class Parquet(Json):
    media_type = "application/vnd.apache.parquet"
    format = "parquet"


# Rows per write of CSV and Arrow.
PIECE = 2**16
FORMATS: list[type[BaseRenderer]] = [Json, Csv, Arrow, Parquet]


def format_field() -> ChoiceField:
    """The query parameter `format`, for clients that cannot set headers, such as browsers and spreadsheets."""
    names = [str(one.format) for one in FORMATS]
    return ChoiceField(choices=names, required=False, help_text="goes before the header Accept")


class ByQuality(BaseContentNegotiation):
    """Content negotiation by RFC 9110: the highest quality wins, then the most specific media range.

    Ties go to the view's own order. DRF's negotiation ignores qualities.
    """

    def select_parser(self, request: Request, parsers: Any) -> BaseParser | None:
        raise NotImplementedError("an endpoint with several formats is only read")

    def select_renderer(
        self,
        request: Request,
        renderers: Any,
        format_suffix: str | None = None,  # noqa: ARG002
    ) -> tuple[BaseRenderer, str]:
        """Raises ApiProblem, 406. An unknown `format` is left to the parameter check."""
        named = request.query_params.get("format")
        if named is not None:
            found = next((one for one in renderers if one.format == named), renderers[0])
            return found, found.media_type
        ranges = list(_ranges(request.headers.get("Accept", "")))
        best = max(renderers, key=lambda one: _rank(one.media_type, ranges))
        if _rank(best.media_type, ranges)[0] <= 0:
            offered = ", ".join(one.media_type for one in renderers)
            detail = f"Available as {offered}: name one of these in the header Accept, or use ?format=csv."
            raise ApiProblem(status=406, kind="not-acceptable", title="No such format", detail=detail)
        return best, best.media_type


def _ranges(accept: str) -> Iterator[tuple[str, float]]:
    """The media ranges of an Accept header with their qualities; malformed ones are ignored."""
    for part in (accept.strip() or "*/*").lower().split(","):
        media_range, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((text[2:] for text in parameters if text.startswith("q=")), "1")
        if "/" in media_range and quality.replace(".", "", 1).isdecimal():
            yield media_range, min(float(quality), 1.0)


def _rank(media_type: str, ranges: Iterable[tuple[str, float]]) -> tuple[float, int]:
    """Quality and specificity (3: exact type) of the most specific range matching `media_type`; (0, 0): none."""
    exactness = {media_type: 3, f"{media_type.partition('/')[0]}/*": 2, "*/*": 1}
    fitting = [(exactness[one], quality) for one, quality in ranges if one in exactness]
    exact, quality = max(fitting, default=(0, 0.0))
    return quality, exact


def is_json(request: Request) -> bool:
    return request.accepted_renderer.format == Json.format


class _Sink:
    """A write-only file whose content is removed when taken."""

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
        """Nothing is buffered."""


def encoded(renderer: BaseRenderer, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """One table in the format of `renderer`: a piece per batch and a final one."""
    sink = _Sink()
    output = pa.PythonFile(sink, mode="w")
    match renderer:
        case Csv():
            writer = csv.CSVWriter(output, schema, write_options=csv.WriteOptions(quoting_style="needed"))
        case Arrow():
            writer = ipc.new_stream(output, schema, options=ipc.IpcWriteOptions(compression="lz4"))
        case _:
            writer = parquet.ParquetWriter(output, schema, compression="zstd")
    # A batch is a Parquet row group; the other formats are written in smaller pieces to save memory.
    most = PIECE if not isinstance(renderer, Parquet) else sys.maxsize
    for batch in batches:
        for start in range(0, batch.num_rows, most):
            piece = batch.slice(start, most)
            writer.write_batch(_without_formulas(piece) if isinstance(renderer, Csv) else piece)
            yield sink.take()
    writer.close()
    yield sink.take()


def _without_formulas(piece: pa.RecordBatch) -> pa.RecordBatch:
    """Spreadsheets read text that begins with = + - or @ as a formula, also behind blanks and control characters: it
    gets a quote, as in `tabular`."""
    return pa.RecordBatch.from_arrays([_quoted(column) for column in piece.columns], schema=piece.schema)


def _quoted(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, _quoted(column.dictionary))
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return compute.replace_substring_regex(column, r"^([\s\pZ\pC]*[=+@-])", r"'\1")
    return column


def answer(
    request: Request, pieces: Iterator[bytes], *, etag: str | None, filename: str, troubles: Sequence[object] = ()
) -> HttpResponse | StreamingHttpResponse:
    """One or two pieces are sent whole, with Content-Length; more are streamed.

    The first pieces are produced here, so that early errors become a problem response. `troubles` is filled meanwhile:
    if not empty, the response is not cacheable, since the next one may differ.
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
    """304 if the client's copy is current; else None."""
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
