"""Dispatch's front door: everything that changes campaigns, jobs and agents."""

from apps.dispatch.agents import agent_of_secret, hello, register_agent, rotate_agent

__all__ = ["agent_of_secret", "hello", "register_agent", "rotate_agent"]
