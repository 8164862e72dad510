"""Every source of the settings, and one line for everything that is wrong with them."""

import copy
import pickle
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from rich.pretty import pretty_repr

from carrel import config
from carrel.config import ConfigError, Secret, Settings, variable

PLUGIN = "plugin-0123456789-abcdefghijklmnop"
OTHER = "other--0123456789-abcdefghijklmnop"
ADMIN = "admin--0123456789-abcdefghijklmnop"
SERVICE = bytes(range(32)).hex()
GOOD = {"CARREL_PLUGIN_SECRET": PLUGIN, "CARREL_SERVICE_KEY": SERVICE}


def load(environ: dict[str, str], env_file: Path = Path("/nowhere/.env"), **overrides: str) -> Settings:
    return config.load(environ, env_file=env_file, overrides=overrides)


def refusal(environ: dict[str, str], env_file: Path = Path("/nowhere/.env")) -> str:
    with pytest.raises(ConfigError) as raised:
        load(environ, env_file)
    text = str(raised.value)
    assert "\n" not in text
    assert raised.value.__suppress_context__ or raised.value.__context__ is None
    return text


def test_two_secrets_are_all_that_must_be_set() -> None:
    settings = load(dict(GOOD))
    assert settings.plugin_secret == (Secret(PLUGIN.encode()),)
    assert settings.service_key.reveal() == bytes(range(32))
    assert settings.admin_secret is None
    assert settings.free_plan == "limited"


def test_every_kind_of_value_is_read() -> None:
    settings = load(
        GOOD
        | {
            "CARREL_PLUGIN_SECRET": f"{PLUGIN}, {OTHER}",
            "CARREL_ADMIN_SECRET": ADMIN,
            "CARREL_DATA_DIR": "/srv/carrel",
            "CARREL_CORS_ORIGINS": "https://A.example,http://localhost:5173,http://[::1]:80",
            "CARREL_FREE_PLAN": "full",
            "CARREL_CIPHER": "sqlcipher",
            "CARREL_KEY_IDLE_MINUTES": "0",
            "CARREL_CREDIT_MARKUP": "1.25",
            "CARREL_PROVIDER_HOSTS": "api.openai.com, localhost:8080, *.example.com, [::1]:9, http://ollama:11434",
            "CARREL_MAX_JSON_BYTES": "4096",
            "CARREL_LOG_LEVEL": "error",
        }
    )
    assert settings.plugin_secret == (Secret(PLUGIN.encode()), Secret(OTHER.encode()))
    assert settings.admin_secret == Secret(ADMIN.encode())
    assert settings.data_dir == Path("/srv/carrel")
    assert settings.cors_origins == ("https://a.example", "http://localhost:5173", "http://[::1]:80")
    assert settings.free_plan == "full"
    assert settings.credit_markup == Decimal("1.25")
    allowed = ("api.openai.com", "localhost:8080", "*.example.com", "[::1]:9", "http://ollama:11434")
    assert settings.provider_hosts == allowed
    assert settings.max_json_bytes == 4096


def test_the_stronger_source_wins_and_an_empty_value_is_none(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    folder.mkdir()
    (folder / "CARREL_PLUGIN_SECRET").write_text(PLUGIN + "\n")
    (folder / "carrel_service_key").write_text(SERVICE)
    (folder / "CARREL_ADMIN_SECRET").write_text(ADMIN)
    file = tmp_path / ".env"
    file.write_text(
        f'# a comment\nCARREL_SECRETS_DIR={folder}\nCARREL_ADMIN_SECRET="{OTHER}"\nOTHER_PROGRAM=1\n'
        "CARREL_DATA_DIR=from-file\nCARREL_LOG_LEVEL=error\nCARREL_FREE_PLAN=\n"
    )
    settings = load({"CARREL_DATA_DIR": "from-environment", "CARREL_LOG_LEVEL": ""}, file, data_dir="given")
    assert settings.plugin_secret == (Secret(PLUGIN.encode()),)
    assert settings.admin_secret == Secret(OTHER.encode())
    assert settings.data_dir == Path("given")
    assert settings.log_level == "error"
    assert settings.free_plan == "limited"


def test_the_secrets_leave_the_environment() -> None:
    environ = GOOD | {"CARREL_ADMIN_SECRET": ADMIN, "CARREL_DATA_DIR": "d", "PATH": "/bin"}
    load(environ)
    assert environ == {"CARREL_DATA_DIR": "d", "PATH": "/bin"}


def test_the_secrets_leave_the_environment_also_when_they_are_refused() -> None:
    environ = GOOD | {"CARREL_LOG_LEVEL": "loud"}
    refusal(environ)
    assert environ == {"CARREL_LOG_LEVEL": "loud"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CARREL_PLUGIN_SECRET", ""),
        ("CARREL_PLUGIN_SECRET", "short"),
        ("CARREL_PLUGIN_SECRET", "a" * 40),
        ("CARREL_PLUGIN_SECRET", "abcdefg" * 6),
        ("CARREL_PLUGIN_SECRET", PLUGIN + "\u00e4"),
        ("CARREL_PLUGIN_SECRET", PLUGIN + " x"),
        ("CARREL_PLUGIN_SECRET", f"{PLUGIN},{OTHER},{ADMIN}"),
        ("CARREL_PLUGIN_SECRET", f"{PLUGIN},short"),
        ("CARREL_PLUGIN_SECRET", f"{PLUGIN},{PLUGIN}"),
        ("CARREL_PLUGIN_SECRET", ","),
        ("CARREL_PLUGIN_SECRET", SERVICE),
        ("CARREL_ADMIN_SECRET", "short"),
        ("CARREL_ADMIN_SECRET", PLUGIN),
        ("CARREL_SERVICE_KEY", ""),
        ("CARREL_SERVICE_KEY", "0" * 64),
        ("CARREL_SERVICE_KEY", SERVICE[:-1]),
        ("CARREL_SERVICE_KEY", SERVICE[:-1] + "g"),
        ("CARREL_CORS_ORIGINS", "*"),
        ("CARREL_CORS_ORIGINS", "null"),
        ("CARREL_CORS_ORIGINS", "https://a.example/"),
        ("CARREL_CORS_ORIGINS", "ftp://a.example"),
        ("CARREL_FREE_PLAN", "yes"),
        ("CARREL_CIPHER", "aes256cbc"),
        ("CARREL_KEY_IDLE_MINUTES", "-1"),
        ("CARREL_KEY_IDLE_MINUTES", "soon"),
        ("CARREL_LOW_CREDITS", "-1"),
        ("CARREL_WEBHOOK_URL", "https://www.example.com/carrel"),
        ("CARREL_WEBHOOK_URL", "https://ada@www.example.com/"),
        ("CARREL_WEBHOOK_SECRET", f"whsec_{'QUJD' * 12}"),
        ("CARREL_WEBHOOK_SECRET", f"whsec_{SERVICE[:20]}"),
        ("CARREL_WEBHOOK_SECRET", f"{SERVICE}!"),
        ("CARREL_CREDIT_MARKUP", "-1"),
        ("CARREL_CREDIT_MARKUP", "NaN"),
        ("CARREL_CREDIT_MARKUP", "1e999"),
        ("CARREL_CREDIT_MARKUP", "Infinity"),
        ("CARREL_CREDIT_MARKUP", "dear"),
        ("CARREL_PROVIDER_HOSTS", "https://api.openai.com"),
        ("CARREL_PROVIDER_HOSTS", "a b"),
        ("CARREL_PROVIDER_HOSTS", "*"),
        ("CARREL_PROVIDER_HOSTS", "http://*.lan"),
        ("CARREL_GITHUB_HOSTS", "http://git.example.com"),
        ("CARREL_MAX_JSON_BYTES", "0"),
        ("CARREL_MAX_JSON_BYTES", "1.5"),
        ("CARREL_MAX_JSON_BYTES", "2 MiB"),
        ("CARREL_LOG_LEVEL", "trace"),
    ],
)
def test_a_wrong_value_is_one_line_that_names_the_variable_and_not_the_value(name: str, value: str) -> None:
    text = refusal(GOOD | {name: value})
    assert name in text
    assert len(value) < 7 or value not in text


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("DATADIR", "DATA_DIR"),
        ("CORS_ORIGIN", "CORS_ORIGINS"),
        ("CORS", "CORS_ORIGINS"),
        ("KEY_IDLE", "KEY_IDLE_MINUTES"),
    ],
)
def test_a_misspelt_setting_is_refused_with_the_nearest_name(tmp_path: Path, name: str, nearest: str) -> None:
    file = tmp_path / ".env"
    file.write_text(f"CARREL_{name}=x\nCARREL_URL=http://localhost\n")
    words = f"CARREL_{name}: is not a setting; the nearest is CARREL_{nearest}"
    assert refusal(dict(GOOD), file) == words
    assert refusal(GOOD | {f"CARREL_{name}": "x"}) == words


def test_what_kubernetes_and_other_programs_set_is_no_misspelling(tmp_path: Path) -> None:
    of_kubernetes = ("SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT", "PORT_8400_TCP", "PORT_8400_TCP_ADDR")
    names = (*of_kubernetes, *(f"PEERS_{name}" for name in of_kubernetes), "ETCD_SERVICE_HOST", "SITE", "TOKEN")
    load(GOOD | {f"CARREL_{name}": "x" for name in names})
    (tmp_path / ".env").write_text("CARREL_SITE=x\n")
    assert refusal(dict(GOOD), tmp_path / ".env") == "CARREL_SITE: is not a setting"


def test_a_command_asks_only_for_the_secrets_that_it_needs() -> None:
    assert config.load({"CARREL_SERVICE_KEY": SERVICE}, env_file=Path("/nowhere"), needs=("service_key",))
    nothing = config.load({}, env_file=Path("/nowhere"), needs=())
    with pytest.raises(ConfigError):
        nothing.service_key.reveal()
    with pytest.raises(ConfigError, match=r"^CARREL_SERVICE_KEY: is not set$"):
        config.load({}, env_file=Path("/nowhere"), needs=("service_key",))


def test_a_wrong_word_is_told_which_words_there_are() -> None:
    assert refusal(GOOD | {"CARREL_MOVE_KEYS": "yes"}).endswith("has a value that is not allowed; allowed are on, off")


def test_a_secret_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "CARREL_PLUGIN_SECRET").write_bytes(b"\xff\xfe")
    text = refusal({"CARREL_SECRETS_DIR": str(tmp_path), "CARREL_SERVICE_KEY": SERVICE})
    assert text == "CARREL_PLUGIN_SECRET: its file in the folder of secrets cannot be read"


def test_a_secret_neither_prints_nor_pickles() -> None:
    settings = load(GOOD | {"CARREL_ADMIN_SECRET": ADMIN})
    shown = f"{settings!r} {settings!s} {pretty_repr(settings)} {settings.plugin_secret} {settings.service_key}"
    assert not [value for value in (PLUGIN, ADMIN, SERVICE, str(bytes(range(32)))) if value in shown]
    for act in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError):
            act(settings)
    assert len({Secret(b"a"), Secret(b"a")}) == 2


def test_reading_the_settings_takes_neither_the_framework_nor_pydantic() -> None:
    code = "import carrel.config, sys; print(sorted({'starlette', 'pydantic', 'rich'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_every_setting_is_documented() -> None:
    guide = Path("docs/settings.md").read_text(encoding="utf-8")
    documented = {line.split("`")[1] for line in guide.splitlines() if line.startswith("| `CARREL_")}
    assert documented == {variable(field) for field in Settings.__struct_fields__} | {config.SECRETS_DIR}


def test_the_documented_defaults_are_the_real_ones() -> None:
    rows = [
        line.split("|") for line in Path("docs/settings.md").read_text("utf-8").splitlines() if line.startswith("| `")
    ]
    documented = {row[1].strip(" `"): row[2].strip(" `") for row in rows}
    settings = Settings(plugin_secret=(), service_key=Secret(b""))
    for field in Settings.__struct_fields__:
        value = getattr(settings, field)
        if field in config.SECRET_FIELDS:
            continue
        shown = ",".join(value) if isinstance(value, tuple) else str(value)
        assert documented[variable(field)] == ("none" if value is None else shown or "none"), field


PEER_FILES = {f"CARREL_NODE_{name}": "/etc/carrel/node.pem" for name in ("CA", "CERT", "KEY")}


def test_nodes_beyond_one_machine_and_keys_that_move_need_certificates() -> None:
    beyond = GOOD | {"CARREL_NODE_PEER": "10.0.0.7:8500"}
    assert refusal(dict(beyond)).startswith("CARREL_NODE_PEER: beyond this machine")
    assert load(beyond | PEER_FILES).node_peer == "10.0.0.7:8500"
    assert load(GOOD | {"CARREL_NODE_PEER": "127.0.0.1:8500"}).move_keys == "off"
    assert refusal(GOOD | {"CARREL_NODE_PEER": "somewhere"}).startswith("CARREL_NODE_PEER: must be an address")
    moving = GOOD | {"CARREL_MOVE_KEYS": "on"}
    assert refusal(dict(moving)).startswith("CARREL_MOVE_KEYS: needs CARREL_NODE_CA")
    assert load(moving | PEER_FILES).move_keys == "on"
    assert refusal(moving | {"CARREL_NODE_CERT": "/etc/carrel/node.pem"}).endswith("belong together")
