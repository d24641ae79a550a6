"""Comments of one pull request of GitHub or merge request of GitLab, through its API."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from splashboard.failures import RequestRefused, ServerUnreachable
from splashboard.server import Server, ServerAnswer, answer_text

PER_PAGE = 100
MOST_PAGES = 100
TRIES = 3  # of a comment that may not have arrived
PAUSE = 2.0  # s between them


@dataclass(frozen=True)
class ForgeComment:
    """`url`: of its page; empty: unknown."""

    id: int
    author: str
    body: str
    url: str = ""


class Forge(Server):
    """`most`: characters that a comment may have. `remedy`: for a token without the right to comment."""

    api = "/"
    name = ""
    most = 0
    remedy = ""
    method = "PUT"
    place = ""
    bot = ""

    def own_name(self) -> str:
        """The user of the token; tokens of a build itself cannot ask."""
        try:
            user = _object(self.read("user"))
        except RequestRefused:
            if not self.bot:
                raise
            return self.bot
        return str(user.get("login") or user.get("username") or self.bot)

    def comments(self) -> Iterator[ForgeComment]:
        """The oldest first. Raises RequestRefused, ServerUnreachable."""
        for page in range(1, MOST_PAGES + 1):
            found = _parsed(self.read(self.place, [("per_page", str(PER_PAGE)), ("page", str(page)), *self.order()]))
            if not isinstance(found, list):
                raise ServerUnreachable(f"{self.url}: no list of comments; is it the API of {self.name}?")
            yield from (self.comment(each) for each in found if isinstance(each, dict) and not each.get("system"))
            if len(found) < PER_PAGE:
                return

    def publish(self, *, marker: str, body: str, author: str = "") -> tuple[ForgeComment, bool]:
        """Edits the own comment that begins with `marker`, or writes one; True: it was there. Those of others are left
        alone, whatever they contain. Raises RequestRefused, ServerUnreachable."""
        author = author or self.own_name()
        for left in reversed(range(TRIES)):
            own = (each for each in self.comments() if each.author == author and each.body.startswith(marker))
            known = next(own, None)
            if known is not None:
                self._write(self.method, self.address_of(known), body)
                return known, True
            try:
                return self.comment(_object(self._write("POST", self.place, body))), False
            except ServerUnreachable:  # it may have arrived: then it is found
                if not left:
                    raise
                self._sleep(PAUSE)
        raise AssertionError("the last try returns or raises")

    def order(self) -> list[tuple[str, str]]:
        return []

    def address_of(self, comment: ForgeComment) -> str:
        return f"{self.place}/{comment.id}"

    def comment(self, found: dict[str, Any]) -> ForgeComment:
        user = found.get("user") or found.get("author")
        name = (user.get("login") or user.get("username")) if isinstance(user, dict) else ""
        url = str(found.get("html_url") or "")
        return ForgeComment(int(found.get("id") or 0), str(name or ""), str(found.get("body") or ""), url)

    def _write(self, method: str, path: str, body: str) -> ServerAnswer:
        content = json.dumps({"body": body}).encode()
        return self._ask(method, path, content, "application/json", repeatable=method != "POST")

    def _checked(self, answer: ServerAnswer) -> ServerAnswer:
        if 200 <= answer.status < 300:
            return answer
        remedy = f" ({self.remedy})" if answer.status in (401, 403, 404) else ""
        raise RequestRefused(f"{self.name} refused: {answer_text(answer)}{remedy}", status=answer.status)


class GitHubPull(Forge):
    name = "GitHub"
    most = 65_000  # of 65,536
    method = "PATCH"
    bot = "github-actions[bot]"
    remedy = (
        "its token may not comment: give the job `permissions: pull-requests: write`; "
        "for pull requests from forks GitHub lets a build only read"
    )

    def __init__(self, *, project: str, number: int, **settings: Any) -> None:
        super().__init__(**settings)
        self._repository = f"repos/{urllib.parse.quote(project)}"
        self.place = f"{self._repository}/issues/{number}/comments"

    def address_of(self, comment: ForgeComment) -> str:
        return f"{self._repository}/issues/comments/{comment.id}"

    def _headers(self) -> dict[str, str]:
        kinds = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        return {**kinds, "Authorization": f"Bearer {self._token}"}


class GitLabMergeRequest(Forge):
    name = "GitLab"
    most = 900_000  # of 1,000,000
    remedy = "set GITLAB_TOKEN to a project access token with the scope api and the role Reporter"

    def __init__(self, *, project: str, number: int, **settings: Any) -> None:
        super().__init__(**settings)
        self.place = f"projects/{urllib.parse.quote(project, safe='')}/merge_requests/{number}/notes"

    def order(self) -> list[tuple[str, str]]:
        return [("sort", "asc"), ("order_by", "created_at")]

    def _headers(self) -> dict[str, str]:
        return {"PRIVATE-TOKEN": self._token}


def _parsed(answer: ServerAnswer) -> Any:
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        return None


def _object(answer: ServerAnswer) -> dict[str, Any]:
    found = _parsed(answer)
    return found if isinstance(found, dict) else {}
