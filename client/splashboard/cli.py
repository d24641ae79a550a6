"""The command `splashboard`: options and output. Results go to stdout, everything else to stderr."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn, TextIO

from splashboard import __version__, attach, campaigns, files, gate, submitting
from splashboard.ci import build, comment
from splashboard.failures import Exit, Failure, Misuse, RequestRefused
from splashboard.progress import ProgressLine
from splashboard.server import Server, token_of
from splashboard.wrap import flow
from splashboard.wrap import options as wrap_options

CODES = """exit codes:
  0  fine; done
  1  regression; jobs of the campaign failed or were cancelled
  2  cannot tell; the campaign has not ended in time
  3  wrong use: options, files, settings
  4  the server refused: what was sent is wrong, or the token is
  5  the server gave no usable answer
  6  an error of this program
  7  run: the command failed; what it measured is stored

environment:
  SPLASHBOARD_URL         address of the server
  SPLASHBOARD_TOKEN       secret of a token (submit, attach and campaign need one)
  SPLASHBOARD_TOKEN_FILE  file that contains it
"""


ANSWERS_WITHIN = 60.0  # s


class Parser(argparse.ArgumentParser):
    def __init__(self, **settings: Any) -> None:
        """Without abbreviations: one that is unique today is ambiguous, or another option, tomorrow."""
        super().__init__(**settings, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """argparse would exit with 2, which means "cannot tell" here."""
        raise Misuse(f"{self.format_usage()}{self.prog}: {message}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code, one of Exit's. Python's own is 1 for an uncaught exception, which means "regression" here."""
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except Failure as failure:
        return _failed(failure.code, *_words(failure))
    except KeyboardInterrupt:
        return _failed(Exit.INTERRUPTED, "interrupted")
    except BrokenPipeError:
        _silence(sys.stdout)
        return _failed(Exit.USE)
    except OSError as error:  # files and the server raise Failure: only our own output remains
        _silence(sys.stdout)
        return _failed(Exit.USE, f"the output cannot be written: {error.strerror or error}")
    except Exception:
        words = f"splashboard {__version__}: this is a defect of the client"
        return _failed(Exit.DEFECT, traceback.format_exc().rstrip(), words)
    return int(code)


def _run(arguments: Sequence[str] | None) -> int:
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller: discarded
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  until the end
        elif hasattr(stream, "reconfigure"):
            # A character that the terminal cannot show must not end the program.
            stream.reconfigure(errors="replace")
    typed = list(sys.argv[1:] if arguments is None else arguments)
    # What follows `--` is another program's.
    end = typed.index("--") if typed[:1] == ["run"] and "--" in typed else len(typed)
    options = parser().parse_args(typed[:end])
    options.argv = typed[end + 1 :]
    command: int = options.command(options)
    return command


def _words(failure: Failure) -> list[str]:
    several = failure.fields if isinstance(failure, RequestRefused) and len(failure.fields) > 1 else ()
    return [str(failure), *(f"  {sentence}" for sentence in several)]


def _failed(code: Exit, *words: str) -> int:
    """Returns the code even where stderr cannot be written."""
    try:
        for line in words:
            print(line, file=sys.stderr)
        sys.stderr.flush()
    except OSError:
        _silence(sys.stderr)
    return int(code)


def _silence(stream: TextIO) -> None:
    """Python would try to write the rest at shutdown and exit with its own code."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


# ---------------------------------------------------------------- commands


def _submit(options: argparse.Namespace) -> int:
    if options.pending:
        if options.file or options.series or options.description or options.mapping or options.split:
            raise Misuse("--pending: sends what `splashboard run` kept, and takes no file")
        return flow.send_pending(_server(options), vars(options))
    if options.file is None:
        raise Misuse("which output? Give its FILE, or --pending for what `splashboard run` kept")
    stated = files.read_object(options.description) if options.description else {}
    parts = submitting.parts_of(options.file, submitting.describe(stated, vars(options)), options.split)
    runs, refused = submitting.submit(_server(options), parts, series=options.series, mapping=options.mapping)
    words = [line for run in runs for line in submitting.sentences(run)]
    if runs or options.json:
        _print(runs if len(parts) > 1 else runs[0], words, as_json=options.json)
    return _failed(Exit.REFUSED, *(line for each in refused for line in _words(each))) if refused else Exit.FINE


def _wrap(options: argparse.Namespace) -> int:
    return flow.run(wrap_options.plan_of(options), _server(options))


def _campaign(options: argparse.Namespace) -> int:
    server = _server(options)
    server.timeout = min(server.timeout, ANSWERS_WITHIN)
    found = campaigns.start(server, file=options.file)
    print(f"Campaign {found['id']} is planned: {found['address']}", file=sys.stderr)
    if options.wait:
        return _follow(server, found["id"], options)
    _print(found, campaigns.sentences(found), as_json=options.json)
    return Exit.FINE


def _wait(options: argparse.Namespace) -> int:
    return _follow(_server(options), options.campaign, options)


def _follow(server: Server, campaign: int, options: argparse.Namespace) -> int:
    shown = ProgressLine(sys.stderr, clock=time.monotonic)
    server.on_retry = shown.line
    found = campaigns.wait(server, campaign=campaign, shown=shown, timeout=options.timeout)
    _print(found, campaigns.sentences(found), as_json=options.json)
    return Exit.FINE if campaigns.is_whole(found) else Exit.REGRESSION


def _compare(options: argparse.Namespace) -> int:
    _checked(options, _server(options))
    return Exit.FINE


def _gate(options: argparse.Namespace) -> int:
    check, _ = _checked(options, _server(options))
    return gate.exit_of(check)


def _comment(options: argparse.Namespace) -> int:
    here = build.this_build(os.environ, number=options.pull_request)
    report = comment.BuildReport(
        here,
        key=options.key or f"gate {options.platform} {options.hardware or ''}".strip(),
        author=options.author,
        dotenv=options.dotenv,
        timeout=options.timeout or ANSWERS_WITHIN,
        warn=lambda words: print(words, file=sys.stderr),
    )
    try:
        check, formats = _checked(options, _server(options))
        text = formats.text("markdown")
    except Failure as failure:
        words = comment.failed(failure, release=f"{options.platform} {options.release}")
        report.show(words, result="no answer", code=failure.code)
        raise
    code = comment.code_of(gate.exit_of(check), fail_on=options.fail_on)
    report.show(text, result=check["result"], code=code, worse=comment.worse(check), address=check["address"])
    return code


def _checked(options: argparse.Namespace, server: Server) -> tuple[dict[str, Any], gate.Formats]:
    asked = gate.GateRequest(
        platform=options.platform,
        release=options.release,
        baseline=options.baseline,
        hardware=options.hardware,
        tolerance=options.tolerance,
        allow_missing=options.allow_missing,
    )
    check = gate.ask(server, asked)
    formats = gate.Formats(server, asked, check, every_row=options.all)
    for path in options.output:
        files.write(path, formats.text(gate.format_of(path, options.format or "terminal")))
    print(formats.text("terminal" if options.output else options.format or "terminal"), end="")
    return check, formats


def _print(document: Any, sentences: list[str], *, as_json: bool) -> None:
    print(json.dumps(document, indent=2) if as_json else "\n".join(sentences))


# ---------------------------------------------------------------- options


def _server(options: argparse.Namespace) -> Server:
    if not options.url:
        raise Misuse("which server? Give its address as --url or in SPLASHBOARD_URL")
    return Server(
        url=options.url,
        token=token_of(path=options.token_file),
        timeout=options.timeout or ANSWERS_WITHIN,
        on_retry=lambda words: print(words, file=sys.stderr),
    )


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < 1e7:
        raise ValueError
    return seconds


_seconds.__name__ = "number of seconds"  # argparse prints it


def parser() -> Parser:
    whole = Parser(
        prog="splashboard",
        description="Results of database benchmarks: run and submit them, start campaigns, gate releases.",
        epilog=CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    whole.add_argument("--version", action="version", version=f"splashboard {__version__}")
    commands = whole.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    wrap_options.add(_command(commands, "run", wrap_options.WORDS, _wrap, timeout=RUN_ANSWER))
    _add_submit(commands)
    attach.add_command(commands, _command, connect=_server, show=_print)
    _add_campaigns(commands)
    _add_comparing(commands)
    return whole


def _command(commands: Any, name: str, words: str, run: Any, *, timeout: str) -> Parser:
    command: Parser = commands.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
    command.set_defaults(command=run)
    command.add_argument("--url", default=os.environ.get("SPLASHBOARD_URL", ""), help="default: SPLASHBOARD_URL")
    command.add_argument("--token-file", metavar="FILE", help="default: SPLASHBOARD_TOKEN, SPLASHBOARD_TOKEN_FILE")
    command.add_argument("--timeout", type=_seconds, metavar="S", help=timeout)
    return command


ANSWER = "deadline for an answer over all tries, s (default 60)"
RUN_ANSWER = f"{ANSWER}; while it measures, it waits 10 s for an upload unless this is given"
TOLERANCE = "share by which an inconclusive row may still be worse and pass (default 0.1)"
KEPT = "send the runs that `splashboard run` kept; other options change those that were refused"
END = "deadline for the campaign's end, s, else exit 2 (default: none)"
ALL = (
    "also show unchanged rows in the table; JSON and JUnit always contain every row, Markdown is the "
    "server's summary with or without --all"
)


def _add_submit(commands: Any) -> None:
    words = "submit a finished run: a load tool's output and its description"
    submit = _command(commands, "submit", words, _submit, timeout=ANSWER)
    add = submit.add_argument
    add("file", nargs="?", metavar="FILE", help="the load tool's output, unchanged; of several runs, each becomes one")
    add("--pending", action="store_true", help=KEPT)
    add("--description", metavar="JSON", help="file with the description; the options below override it")
    add("--series", metavar="FILE", help="separate file of the tool's series, if it writes one")
    add("--format", help="format of the output (default: recognised by its content)")
    add("--mapping", metavar="FILE", help="for --format own: YAML or JSON, which of its values are which metrics")
    words = "send a CSV as several runs, one for the rows of each value of the column; may be repeated"
    add("--split", action="append", default=[], metavar="COLUMN", help=words)
    add("--system", metavar="SLUG", help="system that was measured")
    add("--workload", type=int, metavar="ID", help="workload of the run")
    add("--started-at", metavar="TIME", help="ISO 8601; without a zone it is UTC")
    add("--threads", type=int, help="default: from the output")
    add("--rate", type=float, metavar="N", help="arrivals, 1/s")
    add("--warmup", type=float, metavar="S", help="warm-up, s: not measured")
    add("--repetition", type=int, metavar="N", help="number of the repetition (default 1)")
    add("--session", metavar="NAME", help="equal for runs measured together, on one start of the server on one day")
    add("--tag", action="append", help="may be repeated")
    add("--server-version", metavar="TEXT", help="the server's SELECT VERSION()")
    add("--uid", metavar="UUID", help="your own unique id, for safe retries")
    add("--failed", metavar="REASON", help="the run failed; its output may lack totals")
    add("--json", action="store_true", help="print the server's answer")


def _add_campaigns(commands: Any) -> None:
    campaign = _command(
        commands, "campaign", "start the campaign of a file", _campaign, timeout=f"{ANSWER}; with --wait: {END}"
    )
    campaign.add_argument("file", metavar="FILE", help="YAML or JSON; each start plans another campaign")
    campaign.add_argument("--wait", action="store_true", help="wait until every job has ended and every run is stored")
    wait = _command(commands, "wait", "follow a campaign to its end", _wait, timeout=END)
    wait.add_argument("campaign", type=int, metavar="ID")
    for command in (campaign, wait):
        command.add_argument("--json", action="store_true", help="print the campaign as JSON")


def _add_comparing(commands: Any) -> None:
    for name, words, run in (
        ("compare", "compare a release with an earlier one; always exits 0", _compare),
        ("gate", "like compare; exits 0 (pass), 1 (regression) or 2 (cannot tell)", _gate),
        ("comment", comment.WORDS, _comment),
    ):
        command = _command(commands, name, words, run, timeout=ANSWER)
        add = command.add_argument
        add("--platform", required=True, metavar="SLUG", help="as on the Catalog page, for example mariadb")
        add("--release", required=True, metavar="VERSION", help="the release in question")
        add("--baseline", metavar="VERSION", help="compare with this release (default: the previous one)")
        add("--hardware", metavar="SLUG", help="hardware class; needed where the release ran on several")
        add("--format", choices=gate.FORMATS, help="format of the output (default terminal)")
        add(
            "--output",
            action="append",
            default=[],
            metavar="FILE",
            help="write the result to FILE and print the table; .md, .json and .xml imply the format; may be repeated",
        )
        add("--all", action="store_true", help=ALL)
        add("--tolerance", type=float, metavar="SHARE", help=TOLERANCE)
        add("--allow-missing", action="store_true", help="ignore rows without runs of the release")
    # Of the last, `comment`.
    add("--pull-request", type=int, metavar="N", help="pull or merge request (default: that of the build)")
    add("--key", default="", metavar="NAME", help="one comment of each name (default: platform and hardware)")
    add("--author", default="", metavar="LOGIN", help="writer of the comments (default: who the token is of)")
    add("--dotenv", default="", metavar="FILE", help="add the outputs as SPLASHBOARD_…=… to FILE, for GitLab")
    add("--fail-on", choices=comment.FAIL_ON, default=comment.FAIL_ON[0], help=comment.FAILS)
