import os
from pathlib import Path

import pytest

from workers.agent.runtime import config as configuration
from workers.agent.runtime.toml_table import ConfigError
from workers.protocol.wire import AwsMessage

SERVER = '[server]\nurl = "https://splash.example/"\ntoken_file = "token"\n'
SYSTEM = '[[systems]]\nslug = "a"\nplatform = "mariadb"\nhardware_class = "box"\nuser = "u"\n'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text(" the-token\n")
    (tmp_path / "agent.d").mkdir()
    return tmp_path / "agent.toml"


def test_a_short_configuration_is_enough(file: Path) -> None:
    file.write_text(SERVER + SYSTEM + "port = 3307\n[systems.settings]\nsync_binlog = 1\nlog = true\n")
    config = configuration.load(file)
    system = config.systems["a"]
    assert (config.url, config.token, config.spool) == (
        "https://splash.example",
        "the-token",
        file.parent / "agent-spool",
    )
    assert (str(system.address), system.database, system.name) == ("127.0.0.1:3307", "splashboard_bench", "a")
    assert [(node.name, node.role, node.local) for node in system.nodes] == [("db1", "writer", True)]
    assert system.settings == {"sync_binlog": "1", "log": "true"}


def test_the_environment_may_hold_the_token(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text('[server]\nurl = "http://127.0.0.1:1"\n')
    monkeypatch.setenv(configuration.TOKEN_VARIABLE, "from-environment")
    assert configuration.load(file).token == "from-environment"


def test_nodes_of_another_host_are_not_local(file: Path) -> None:
    nodes = (
        '[[systems.nodes]]\nname = "n1"\nrole = "writer"\nzone = "a"\nhost = "10.0.0.5"\n'
        '[[systems.nodes]]\nname = "n2"\nrole = "reader"\nhost = "10.0.0.6"\nlocal = true\n'
        '[[systems.nodes]]\nname = "n3"\nsocket = "/run/mysqld.sock"\n'
    )
    file.write_text(SERVER + SYSTEM + 'host = "10.0.0.4"\n' + nodes)
    found = configuration.load(file).systems["a"].nodes
    assert [(node.name, str(node.address), node.local) for node in found] == [
        ("n1", "10.0.0.5:3306", False),
        ("n2", "10.0.0.6:3306", True),
        ("n3", "/run/mysqld.sock", True),
    ]


def test_controls_are_programs_of_a_node_or_of_the_system(file: Path) -> None:
    node = '[[systems.nodes]]\nname = "n1"\nport = 4\n'
    controls = (
        '[systems.controls]\nswitch = ["lab", "switch"]\nwatch = ["tail", "-F", "x.log"]\n'
        '[systems.controls.n1]\nkill = ["lab", "kill", "n1"]\nstart = ["lab", "start", "n1"]\n'
    )
    file.write_text(SERVER + SYSTEM + "port = 4\n" + node + controls)
    assert configuration.load(file).systems["a"].controls == {
        "": {"switch": ("lab", "switch"), "watch": ("tail", "-F", "x.log")},
        "n1": {"kill": ("lab", "kill", "n1"), "start": ("lab", "start", "n1")},
    }


def test_a_proxy_is_named_by_its_stats_socket(file: Path) -> None:
    file.write_text(SERVER + SYSTEM + 'port = 1\n[systems.proxy]\nsocket = "/run/haproxy.sock"\n')
    proxy = configuration.load(file).systems["a"].proxy
    assert proxy is not None
    assert (proxy.name, str(proxy.address), proxy.settings) == ("proxy", "/run/haproxy.sock", {})
    file.write_text(SERVER + SYSTEM + 'port = 1\n[systems.proxy]\nport = 2\nsettings = {inter = "2s", fall = 3}\n')
    proxy = configuration.load(file).systems["a"].proxy
    assert proxy is not None
    assert proxy.settings == {"inter": "2s", "fall": "3"}


def test_a_system_at_aws_is_named_by_region_and_cluster_or_instance(file: Path) -> None:
    file.write_text(SERVER + SYSTEM + 'port = 1\n[systems.aws]\nregion = "eu-west-1"\ncluster = "Blast"\n')
    assert configuration.load(file).systems["a"].aws == AwsMessage(region="eu-west-1", cluster="blast")


def test_a_sampler_knows_its_own_nodes_and_needs_no_account_for_a_host_alone(file: Path) -> None:
    host_alone = '[[systems]]\nslug = "a"\nrole = "sampler"\n[[systems.nodes]]\nname = "db2"\nrole = "reader"\n'
    file.write_text(SERVER + host_alone)
    config = configuration.load(file)
    assert config.systems == {}
    (node,) = config.sampled["a"].nodes
    assert (node.name, node.role, node.local, node.asked, node.sampled) == ("db2", "reader", True, False, True)
    file.write_text(SERVER + host_alone + "port = 3307\n")
    with pytest.raises(ConfigError, match=r"systems\[0\].user is missing"):
        configuration.load(file)


def test_a_node_may_be_left_to_an_agent_on_its_host(file: Path) -> None:
    file.write_text(SERVER + SYSTEM + 'host = "10.0.0.4"\n[[systems.nodes]]\nname = "n1"\nsampled = false\n')
    (node,) = configuration.load(file).systems["a"].nodes
    assert (node.asked, node.sampled) == (True, False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[server", "agent.toml: is not TOML"),
        ("", "server.url is missing; add url = …"),
        ('[server]\nurl = "ftp://x"\n', "server.url is 'ftp://x'; it must look like https://"),
        ('[server]\nurl = "http://x"\n', "server.token_file is missing or empty; name a file"),
        ('[server]\nurl = "http://x"\ntoken_file = "none"\n', "server.token_file names .*/none, which cannot be read"),
        (SERVER + "[agent]\nminimum_free_mb = 0\n", "agent.minimum_free_mb is 0; it must be a whole number from 1"),
        (SERVER + "[agent]\nflush_intervall = 3\n", "agent.flush_intervall is unknown; remove it or use one of"),
        (SERVER + '[agent]\nlabels = "x"\n', "agent.labels must be a list of texts"),
        (SERVER + SYSTEM, r"systems\[0\].host is missing; give the database's host and port"),
        (SERVER + SYSTEM + "port = 70000\n", r"systems\[0\].port is 70000; it must be a whole number from 1 to 65535"),
        (SERVER + SYSTEM + "port = 1\n" + SYSTEM + "port = 2\n", r"systems\[1\].slug 'a' is given twice"),
        (SERVER + SYSTEM + 'port = 1\n[systems.aws]\nregion = "x"\n', r"aws.region is 'x'; it must match"),
        (SERVER + SYSTEM + 'port = 1\n[systems.aws]\nregion = "eu-west-1"\n', r"aws.cluster or instance is needed"),
        (SERVER + SYSTEM + 'port = 1\npassword = "a\\"b"\n', r"systems\[0\].password holds a double quote"),
        (SERVER + SYSTEM + 'port = 1\npassword = "a"\npassword_file = "token"\n', "are both given; remove one"),
        (SERVER + SYSTEM + 'port = 1\ndatabase = "a`b"\n', r"systems\[0\].database is 'a`b'; it must match"),
        (SERVER + SYSTEM + 'port = 1\n[[systems.nodes]]\nname = "client"\n', "for the load generator"),
        (
            SERVER + SYSTEM + 'port = 1\n[systems.controls.n9]\nkill = ["x"]\n',
            "controls.n9 is unknown; remove it or use",
        ),
        (SERVER + SYSTEM + 'port = 1\n[systems.controls.db1]\nburn = ["x"]\n', "controls.db1.burn is unknown; remove"),
        (SERVER + SYSTEM + "port = 1\n[systems.controls.db1]\nkill = []\n", "db1.kill must name a program and its arg"),
        (SERVER + SYSTEM + 'port = 1\n[systems.controls]\nswitch = "x"\n', "controls.switch must be a list of texts"),
        (SERVER + SYSTEM + "port = 1\n[systems.proxy]\n", r"systems\[0\].proxy.socket is missing; name HAProxy's"),
        (SERVER + SYSTEM + 'port = 1\nrole = "spy"\n', r"systems\[0\].role is 'spy'; it must match driver\|sampler"),
        (
            SERVER + '[[systems]]\nslug = "a"\nrole = "sampler"\n',
            r"systems\[0\].nodes is missing; name the nodes on this",
        ),
        (SERVER + SYSTEM + 'port = 1\n[[systems.nodes]]\nname = "agent"\n', "'agent' twice"),
        (SERVER + '[[hardware]]\nslug = "box"\nvcpu = 2\n', r"hardware\[0\].memory_mb is missing"),
        (SERVER + '[[systems]]\nslug = "A b"\n', r"systems\[0\].slug is 'A b'; it must match"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence_with_file_field_and_remedy(file: Path, text: str, words: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError, match=words) as caught:
        configuration.load(file)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read"):
        configuration.load(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("name", "text", "key"),
    [
        ("token", SERVER, "server.token_file"),
        ("password", SERVER + SYSTEM + 'port = 1\npassword_file = "password"\n', r"systems\[0\].password_file"),
    ],
)
def test_a_secret_that_is_no_utf_8_is_named_by_its_file(file: Path, name: str, text: str, key: str) -> None:
    (file.parent / name).write_bytes("gruß".encode("latin-1"))
    file.write_text(text)
    with pytest.raises(ConfigError, match=f"{key} names .*/{name}, which is not UTF-8; save it as UTF-8 text"):
        configuration.load(file)


def test_systems_come_from_included_files_too_and_a_new_file_is_noticed(file: Path) -> None:
    file.write_text(SERVER)
    config = configuration.load(file)
    assert not configuration.has_changed(config)
    lab = file.parent / "agent.d" / "lab.toml"
    lab.write_text(SYSTEM + "port = 1\n")
    assert configuration.has_changed(config)
    config = configuration.load(file)
    assert list(config.systems) == ["a"]
    assert not configuration.has_changed(config)
    lab.unlink()
    assert configuration.has_changed(config)


def test_a_changed_password_file_is_noticed(file: Path) -> None:
    secret = file.parent / "password"
    secret.write_text("one\n")
    file.write_text(SERVER + SYSTEM + 'port = 1\npassword_file = "password"\n')
    config = configuration.load(file)
    assert config.systems["a"].password == "one"
    secret.write_text("two\n")
    os.utime(secret, (1, 1))
    assert configuration.has_changed(config)


def test_an_included_file_cannot_name_another_server(file: Path) -> None:
    file.write_text(SERVER)
    (file.parent / "agent.d" / "x.toml").write_text(SERVER)
    with pytest.raises(ConfigError, match=r"x\.toml: server is unknown"):
        configuration.load(file)


def test_secrets_are_in_no_representation(file: Path) -> None:
    file.write_text(SERVER + SYSTEM + 'port = 1\npassword = "very-secret"\n')
    shown = repr(configuration.load(file))
    assert "very-secret" not in shown
    assert "the-token" not in shown


PROMETHEUS = '[systems.prometheus]\nurl = "https://pmm.example/prometheus"\n'


def test_a_system_may_have_a_prometheus_and_its_nodes_instances_there(file: Path) -> None:
    (file.parent / "password").write_text("hidden\n")
    node = '[[systems.nodes]]\nname = "n1"\nport = 4\nprometheus = ["10.0.0.1", "{service_name=\'db\'}"]\n'
    more = 'user = "reader"\npassword_file = "password"\nca = "ca.pem"\nmatch = "node_.*"\nstep = 5\n'
    file.write_text(f"{SERVER}{SYSTEM}port = 1\n{node}{PROMETHEUS}{more}")
    system = configuration.load(file).systems["a"]
    assert system.monitoring is not None
    access = system.monitoring.access
    assert (access.url, access.user, access.password) == ("https://pmm.example/prometheus", "reader", "hidden")
    assert (access.ca, system.monitoring.match, system.monitoring.step) == (str(file.parent / "ca.pem"), "node_.*", 5)
    assert system.nodes[0].instances == ("10.0.0.1", "{service_name='db'}")
    assert "hidden" not in repr(system)
    # A new password counts without a restart.
    assert not configuration.has_changed(configuration.load(file))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PROMETHEUS.replace("https", "ftp"), "systems[0].prometheus.url is unusable"),
        (PROMETHEUS.replace("pmm.", "me:secret@pmm."), "give the name as user"),
        (PROMETHEUS + 'password_file = "token"\n', "systems[0].prometheus.user is missing beside password_file"),
        (PROMETHEUS + 'user = "a"\npassword_file = "token"\nbearer_file = "token"\n', "give one of them"),
        (PROMETHEUS + "setp = 1\n", "systems[0].prometheus.setp is unknown"),
        (PROMETHEUS + "step = 0\n", "systems[0].prometheus.step"),
        ('[[systems.nodes]]\nname = "n1"\nport = 4\nprometheus = ["a"]\n', "add [systems.prometheus]"),
    ],
)
def test_an_unusable_prometheus_is_named_with_the_remedy(file: Path, text: str, words: str) -> None:
    file.write_text(f"{SERVER}{SYSTEM}port = 1\n{text}")
    with pytest.raises(ConfigError) as refused:
        configuration.load(file)
    assert words in str(refused.value)
