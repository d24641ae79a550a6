"""`splashboard comment`: the gate's answer as a comment that updates itself, summary and outputs of the build."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from splashboard.ci import build
from splashboard.ci.build import Build
from splashboard.failures import Exit, Failure

WORDS = "like gate, and show the answer in the build's pull or merge request, summary and outputs"
FAIL_ON = ("cannot-tell", "regression", "nothing")
FAILS = "what fails: also a result that cannot tell (default), a regression alone, or nothing; errors always do"
ZERO_WIDTH = "\u200b"


class BuildReport:
    """Where a build shows the answer. A place that is missing or refuses is a warning: the gate's answer stands."""

    def __init__(
        self, here: Build, *, key: str, author: str, dotenv: str, timeout: float, warn: Callable[[str], None]
    ) -> None:
        self._here = here
        self._marker = f"<!-- splashboard: {re.sub('[^A-Za-z0-9._ ]+', '-', key).replace('--', '-')} -->"
        self._author = author
        self._dotenv = dotenv
        self._timeout = timeout
        self._warn = warn

    def show(self, text: str, *, result: str, code: int, worse: int = 0, address: str = "") -> None:
        """`text`: Markdown."""
        if self._here.summary:
            self._attempt("summary", lambda: build.append(self._here.summary, f"{text}\n"))
        comment = self._attempt("comment", lambda: self._publish(text)) or ""
        values = {"result": result, "exit-code": int(code), "worse": worse, "address": address, "comment": comment}
        if self._here.outputs:
            self._attempt("outputs", lambda: build.append(self._here.outputs, build.assignments(values)))
        if self._dotenv:
            named = {f"SPLASHBOARD_{name.upper().replace('-', '_')}": value for name, value in values.items()}
            self._attempt("outputs", lambda: build.append(self._dotenv, build.assignments(named)))

    def _publish(self, text: str) -> str:
        thread = self._here.thread(timeout=self._timeout, on_retry=self._warn)
        room = thread.most - len(self._marker) - 1
        comment, _ = thread.publish(
            marker=self._marker, body=f"{self._marker}\n{cut(quiet(text), room)}", author=self._author
        )
        return comment.url

    def _attempt(self, what: str, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Failure as failure:
            self._warn(self._here.warn(f"no {what}: {failure}"))
        return None


def failed(failure: Failure, *, release: str) -> str:
    """Instead of the gate's Markdown: an older answer must not stand."""
    return (
        f"**? {quiet(release)}: no answer of the gate, exit code {int(failure.code)}**\n\n{build.quoted(str(failure))}"
    )


def worse(check: Mapping[str, Any]) -> int:
    return sum(row["verdict"] == "worse" and not row["is_accepted"] for row in check["rows"])


def code_of(found: Exit, *, fail_on: str) -> Exit:
    passing = {"cannot-tell": (), "regression": (Exit.CANNOT_TELL,), "nothing": (Exit.CANNOT_TELL, Exit.REGRESSION)}
    return Exit.FINE if found in passing[fail_on] else found


def quiet(text: str) -> str:
    """Without mentions of people, and without commands of GitLab, which begin a line with a slash."""
    return re.sub(r"^([ \t]*)/", r"\1\\/", re.sub(r"@(?=\w)", f"@{ZERO_WIDTH}", text), flags=re.MULTILINE)


def cut(text: str, most: int) -> str:
    """Whole lines, and the last, which has the address."""
    if len(text) <= most:
        return text
    lines = text.rstrip("\n").split("\n")
    last = f"\n\nCut: it is longer than a comment may be. {lines[-1][:2000]}\n"
    kept: list[str] = []
    room = most - len(last)
    for line in lines[:-1]:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept) + last
