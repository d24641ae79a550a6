"""Run as a program: starts PostgreSQL, Valkey and a program with a child of its own, as the supervisor does."""

import signal
import sys
import time

from config.launch import places, processes, stores
from config.launch.children import PROGRAMS, Children, RunLock
from config.launch.console import LaunchProblem, Screen

if __name__ == "__main__":
    processes.Signals.install()
    setup, screen = places.from_environment(), Screen()
    places.make_folders(setup)
    children = Children(setup, RunLock(setup, screen))
    children.stop_leftovers(screen)
    children.start_guard()
    try:
        stores.start_stores(setup, children, screen)
        argv = ["sh", "-c", "sleep 1000 & wait"]
        with processes.appended_log(setup.log_of("program")) as log:
            program = processes.spawn(argv, output=log, env=processes.clean_environment(), cwd=setup.var)
        children.add("program", program, rank=PROGRAMS, signum=signal.SIGTERM)
        screen.line("ready")
        while True:
            processes.Signals.check()
            time.sleep(0.05)
    except LaunchProblem as problem:
        screen.problem(str(problem))
        sys.exit(1)
    except processes.Interrupted:
        pass
    finally:
        children.stop_all(screen)
