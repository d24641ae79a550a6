"""Entry point. The first lines must parse on old Pythons too, so that they can report the missing version."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - reports the missing version
    sys.stderr.write(
        "Splashboard needs Python 3.11 or later, and %s is Python %d.%d: install python3.11 "  # noqa: UP031
        "(Debian, Ubuntu: apt-get install python3.11 python3.11-venv) or name one: make run PYTHON=/path/to/python\n"
        % (sys.executable, sys.version_info[0], sys.version_info[1])
    )
    sys.exit(1)

from config.launch.commands import main

sys.exit(main(sys.argv[1:]))
