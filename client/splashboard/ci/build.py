"""The build that this runs in, as its environment describes it: GitHub Actions, GitLab CI, or none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from splashboard import files
from splashboard.ci.forge import Forge, GitHubPull, GitLabMergeRequest
from splashboard.failures import Failure, Misuse

NO_NUMBER = "this build is of no pull or merge request (--pull-request names one)"
FORGES = {"GitHub": GitHubPull, "GitLab": GitLabMergeRequest}


@dataclass(frozen=True)
class Build:
    """`forge`: empty: none is known. `number`: of the pull or merge request. `summary`, `outputs`: files to append to;
    empty: none."""

    forge: str = ""
    url: str = ""
    project: str = ""
    number: int | None = None
    token: str = ""
    summary: str = ""
    outputs: str = ""

    def thread(self, *, timeout: float, **settings: Any) -> Forge:
        """Raises Misuse naming what lacks."""
        if not self.forge:
            raise Misuse("neither a build of GitHub Actions nor of GitLab CI: there is no place for a comment")
        if self.number is None:
            raise Misuse(NO_NUMBER)
        if not self.token:
            raise Misuse(f"no token to comment with: set {self.forge.upper()}_TOKEN")
        kind = FORGES[self.forge]
        access = {"url": self.url, "token": self.token, "timeout": timeout, **settings}
        return kind(project=self.project, number=self.number, **access)

    def warn(self, words: str) -> str:
        """As a line of the log that its page shows."""
        if self.forge != "GitHub":
            return words
        escaped = words.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        return f"::warning title=Splashboard::{escaped}"


def this_build(environment: Mapping[str, str], *, number: int | None) -> Build:
    """`number`: as it was stated."""
    get = environment.get
    if get("GITHUB_ACTIONS") == "true":
        return Build(
            forge="GitHub",
            url=get("GITHUB_API_URL", "https://api.github.com"),
            project=get("GITHUB_REPOSITORY", ""),
            number=number or _of_event(get("GITHUB_EVENT_PATH", "")) or _of_ref(get("GITHUB_REF", "")),
            token=get("GITHUB_TOKEN", ""),
            summary=get("GITHUB_STEP_SUMMARY", ""),
            outputs=get("GITHUB_OUTPUT", ""),
        )
    if get("GITLAB_CI") == "true":
        return Build(
            forge="GitLab",
            url=get("CI_API_V4_URL", ""),
            # Of a fork, the project that the request goes to.
            project=get("CI_MERGE_REQUEST_PROJECT_ID") or get("CI_PROJECT_ID", ""),
            number=number or _whole(get("CI_MERGE_REQUEST_IID")),
            token=get("GITLAB_TOKEN", ""),
        )
    return Build()


def _of_event(path: str) -> int | None:
    """Of a pull request, of a comment on one, or of a workflow that follows one."""
    try:
        event = files.read_object(path) if path else {}
    except Failure:
        return None
    issue = event.get("issue")
    run = event.get("workflow_run")
    of_run = run.get("pull_requests") if isinstance(run, dict) else None
    candidates = [
        event.get("pull_request"),
        issue if isinstance(issue, dict) and issue.get("pull_request") else None,
        of_run[0] if isinstance(of_run, list) and of_run else None,
    ]
    return next((_whole(each.get("number")) for each in candidates if isinstance(each, dict)), None)


def _of_ref(ref: str) -> int | None:
    found = re.match(r"refs/pull/(\d+)/", ref)
    return int(found[1]) if found else None


def _whole(value: object) -> int | None:
    return int(str(value)) if str(value).isdecimal() else None


def append(path: str, text: str) -> None:
    """Raises Misuse with the file."""
    try:
        with open(path, "a", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as error:
        raise Misuse(f"{path} cannot be written: {error.strerror}") from error


def assignments(values: Mapping[str, object]) -> str:
    """Lines `name=value`, for $GITHUB_OUTPUT and GitLab's dotenv reports."""
    lines = {name: " ".join(str(value).split()) for name, value in values.items()}
    return "".join(f"{name}={value}\n" for name, value in lines.items())


def quoted(text: str) -> str:
    """As a block of code of Markdown."""
    return "```text\n" + text.replace("```", "'''") + "\n```\n"
