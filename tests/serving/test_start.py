"""What a web process has ready before its first visitor."""

import subprocess
import sys

LOADED = """
import gc, sys
import config.asgi
before = set(sys.modules)
from django.test import Client
assert Client(SERVER_NAME="127.0.0.1").get("/livez").status_code == 200
print(gc.get_freeze_count())
print(*sorted(name for name in set(sys.modules) - before if name.startswith("apps.")))
"""


def test_the_first_visitor_of_a_process_waits_for_no_page_to_be_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    frozen, late = done.stdout.splitlines()
    assert int(frozen) > 100_000, "a collection would go through all that is loaded for good"
    assert late == ""
