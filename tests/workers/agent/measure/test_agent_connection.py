"""The agent's connections, as far as they need no server."""

import ssl

import pytest

from workers.agent.measure.database import AgentConnection


def test_connecting_reads_none_of_the_systems_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object, **__: object) -> None:
        pytest.fail("all certificates of the system are read, for each source of samples")

    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", read)
    monkeypatch.setattr(ssl.SSLContext, "set_default_verify_paths", read)
    first, second = (AgentConnection(defer_connect=True) for _ in range(2))
    assert first.ssl
    context, other = (vars(one)["ctx"] for one in (first, second))
    assert context is other
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_NONE, False)
