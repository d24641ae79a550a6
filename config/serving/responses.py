"""Responses on their way from a thread to the event loop.

A thread writes as fast as it can: what the client has not taken yet waits in memory, beyond IN_MEMORY bytes in a file.
So a slow reader keeps a file, never a thread.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable
from tempfile import TemporaryFile
from typing import IO, Any

Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[dict[str, Any], Any], Iterable[bytes]]

IN_MEMORY = 1024 * 1024  # bytes
PIECE = 64 * 1024  # bytes
PATIENCE = 60.0  # s in which a client takes a piece


class ReaderGone(Exception):
    """The client has closed the connection, or takes nothing more of the response."""


class Response:
    """Written by one thread (`run`), sent by the event loop (`send_to`)."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._lock = threading.Lock()
        self._head: dict[str, Any] | None = None
        self._pieces: list[bytes] = []
        self._size = 0  # of `_pieces`, bytes
        self._file: IO[bytes] | None = None  # what comes after `_pieces`
        self._written = self._read = 0  # of `_file`, bytes
        self._ended = self._gone = False
        self._error: BaseException | None = None

    # ------------------------------------------------------------ in the thread

    def run(self, application: Application, environ: dict[str, Any]) -> None:
        """Writes the application's answer; an error of it is raised in `send_to`."""
        try:
            pieces = application(environ, self._start)
            try:
                for piece in pieces:
                    self._write(piece)
            finally:
                close = getattr(pieces, "close", None)
                if close is not None:
                    close()
        except ReaderGone:
            pass
        except BaseException as error:
            self._error = error
        self._ended = True
        self._loop.call_soon_threadsafe(self._news.set)

    def _start(self, status: str, headers: list[tuple[str, str]], _error: Any = None) -> None:
        pairs = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        self._head = {"type": "http.response.start", "status": int(status[:3]), "headers": pairs}

    def _write(self, piece: bytes) -> None:
        if self._gone:
            raise ReaderGone
        with self._lock:
            if self._read == self._written and self._size + len(piece) <= IN_MEMORY:
                self._pieces.append(piece)
                self._size += len(piece)
                return
            if self._file is None:
                self._file = TemporaryFile()  # noqa: SIM115  closed by send_to
            self._file.seek(self._written)
            self._written += self._file.write(piece)
        self._loop.call_soon_threadsafe(self._news.set)

    # ------------------------------------------------------------ in the event loop

    async def send_to(self, send: Send) -> None:
        """Until the end of the answer. Raises the application's error, or ReaderGone."""
        begun = False
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                ended = self._ended  # before the last piece is looked for
                if self._error is not None:
                    raise self._error
                if not begun:
                    assert self._head is not None, "the application answered without a status"  # noqa: S101
                    await send(self._head)
                    begun = True
                while piece := self._next():
                    last = ended and self._is_empty()
                    await self._send(send, piece, more=not last)
                    if last:
                        return
                if ended:
                    await self._send(send, b"", more=False)
                    return
        finally:
            self._gone = True
            if self._file is not None:
                with self._lock:
                    self._file.close()

    async def _send(self, send: Send, piece: bytes, *, more: bool) -> None:
        message = {"type": "http.response.body", "body": piece, "more_body": more}
        try:
            await asyncio.wait_for(send(message), timeout=PATIENCE)
        except TimeoutError:
            raise ReaderGone from None

    def _is_empty(self) -> bool:
        return not self._pieces and self._read == self._written

    def _next(self) -> bytes:
        """What comes next of what was written; empty: nothing yet."""
        with self._lock:
            if self._pieces:
                piece = b"".join(self._pieces)
                self._pieces, self._size = [], 0
                return piece
            if self._file is None or self._read == self._written:
                return b""
            self._file.seek(self._read)
            piece = self._file.read(PIECE)
            self._read += len(piece)
            return piece
