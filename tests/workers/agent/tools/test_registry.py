from importlib.util import find_spec

import pytest

from workers.agent.tools.program import ProgramTool
from workers.agent.tools.registry import TOOLS

PROGRAMS = {name: tool for name, tool in TOOLS.items() if isinstance(tool, ProgramTool)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_of_a_tool_can_be_started(name: str) -> None:
    found = find_spec(PROGRAMS[name].module)
    assert found is not None
    assert not found.submodule_search_locations or find_spec(f"{found.name}.__main__")
