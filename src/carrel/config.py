"""What an operator can set: `CARREL_*` variables, a `.env` file, a folder of secrets. Read once, passed down.

No pydantic here: importing it costs a quarter of the second that the program may take to start.
"""

import hmac
import os
import re
from base64 import b64decode
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping
from decimal import Decimal
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import msgspec
from dotenv.main import dotenv_values
from msgspec import Meta

PREFIX = "CARREL_"
SECRETS_DIR = "CARREL_SECRETS_DIR"
"""The variable that names the folder of secrets: one file per variable, named like it."""

NODE_NAME = "[a-z][a-z0-9-]{0,31}"
"""The pattern of a node's name, of a cluster's, and of nothing that means more than a name anywhere."""
ADDRESS = r"(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\]):[0-9]{1,5}"
"""The pattern of `host:port`."""

SECRET_FIELDS = (
    *("plugin_secret", "admin_secret", "metrics_secret", "webhook_secret"),
    *("service_key", "old_service_key", "etcd_password"),
)
_CLIENT_VARIABLES = frozenset({SECRETS_DIR, "CARREL_URL", "CARREL_TOKEN", "CARREL_TOKEN_COMMAND", "CARREL_PROGRAM_KEY"})
"""The command line reads these, not the service; they may be in the same file."""
_OF_KUBERNETES = re.compile(
    r"CARREL_(\w+_)?(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)
"""What Kubernetes sets in every container for a service whose name begins with `carrel`."""
_ALIKE = 0.75
"""From this likeness on (of `difflib`), an unknown name is a misspelling and no variable of another program."""

_MINIMUM_SECRET_CHARACTERS = 32
_MINIMUM_DISTINCT = 8
_MAX_MARKUP = 1_000
_MAX_CREDITS = 1_000_000
_VISIBLE_ASCII = re.compile(r"[\x21-\x7e]+")
_HEX_KEY = re.compile(r"[0-9A-Fa-f]{64}")
_ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?|https?://\[[0-9a-f:]+\](:[0-9]{1,5})?")
_HOST = re.compile(r"(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?|\[[0-9a-f:]+\](:[0-9]{1,5})?")
_URL = re.compile(rf"({_ORIGIN.pattern})(/[A-Za-z0-9._~/-]*)?")
_PROVIDER_HOST = re.compile(rf"(http://(?!\*))?({_HOST.pattern})")


class ConfigError(Exception):
    """An invalid setting. The text is one line that names the variable, never its value."""


class Secret:
    """Bytes that neither print nor pickle. Only `reveal` returns them."""

    __slots__ = ("_value",)

    def __init__(self, value: bytes) -> None:
        self._value = value

    def reveal(self) -> bytes:
        """The bytes themselves."""
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and hmac.compare_digest(self._value, other._value)

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return "Secret(hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is never pickled")


class _AbsentSecret(Secret):
    """A secret that nobody gave, and that whoever loaded the settings did not ask for."""

    def reveal(self) -> bytes:
        raise ConfigError("a secret is not set")


ABSENT = _AbsentSecret(b"")
"""Stands for the service key where nobody needs it."""
NEEDED = ("plugin_secret", "service_key")
"""What the service itself cannot do without."""
Count = Annotated[int, Meta(ge=1)]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting of the service; `docs/settings.md` says what each one does."""

    plugin_secret: tuple[Secret, ...] = ()
    """The first signs session tokens, every one is accepted."""
    service_key: Secret = ABSENT
    """32 bytes, from which the keys of `account.db` and `service.db` are derived."""
    old_service_key: Secret | None = None
    """The key before a rotation, for as long as that takes."""
    admin_secret: Secret | None = None
    metrics_secret: Secret | None = None
    webhook_secret: tuple[Secret, ...] = ()
    """Each signs, so that the host can change to the next one."""

    data_dir: Path = Path("data")
    app_dir: Path | None = None
    """The folder of the built browser app. By default `carrel serve` takes the build of its repository."""
    cors_origins: tuple[str, ...] = ()
    free_plan: Literal["limited", "full"] = "limited"
    cipher: Literal["chacha20", "sqlcipher"] = "chacha20"
    program_keys: Literal["on", "off"] = "on"
    key_idle_minutes: Annotated[int, Meta(ge=0)] = 0
    credit_markup: Decimal = Decimal(1)
    unknown_costs_per_day: Decimal = Decimal(1)
    credit_hold_days: Count = 30
    provider_hosts: tuple[str, ...] = (
        "api.openai.com",
        "api.anthropic.com",
        "generativelanguage.googleapis.com",
        "api.mistral.ai",
        "api.groq.com",
        "api.x.ai",
        "api.deepseek.com",
        "openrouter.ai",
        "aiplatform.googleapis.com",
        "oauth2.googleapis.com",
    )
    github_hosts: tuple[str, ...] = ("api.github.com",)
    webhook_url: str | None = None
    low_credits: Decimal = Decimal(1)
    max_open_workspaces: Count = 1_000
    max_workspace_mb: Count = 1_024
    max_provider_calls: Count = 64
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_addresses: Literal["off", "connection", "forwarded"] = "off"

    node_name: str | None = None
    """This process's name in a cluster. Without it there is none, and the following settings mean nothing."""
    cluster: str = "main"
    etcd: tuple[str, ...] = ()
    etcd_ca: Path | None = None
    etcd_cert: Path | None = None
    etcd_key: Path | None = None
    etcd_user: str | None = None
    etcd_password: Secret | None = None
    lease_seconds: Annotated[int, Meta(ge=3, le=60)] = 10
    node_fence: Literal["lease", "storage"] = "lease"
    node_peer: str | None = None
    """Where other nodes reach this one; without it no slot moves to or from this node."""
    node_ca: Path | None = None
    node_cert: Path | None = None
    node_key: Path | None = None
    move_keys: Literal["on", "off"] = "off"

    max_json_bytes: Count = 2 * 1024 * 1024
    max_answer_bytes: Count = 4 * 1024 * 1024
    max_upload_bytes: Count = 25 * 1024 * 1024
    max_import_bytes: Count = 1024 * 1024 * 1024
    max_name_characters: Count = 200
    max_body_bytes: Count = 1024 * 1024
    max_criteria_bytes: Count = 64 * 1024
    max_variables: Count = 100
    max_resolve_bytes: Count = 4 * 1024 * 1024
    max_resolve_depth: Count = 16
    max_run_text_bytes: Count = 128 * 1024 * 1024
    max_data_set_rows: Count = 100_000
    max_bulk_ids: Count = 1_000
    max_event_streams: Count = 8
    max_reading_seconds: Count = 20
    workers: Count = 2
    """Processes of each of four kinds: for uploaded files, reports, built-in models and checks, and for compiling."""


def variable(field: str) -> str:
    """The environment variable of a field: `data_dir` is `CARREL_DATA_DIR`."""
    return PREFIX + field.upper()


def load(
    environ: MutableMapping[str, str] = os.environ,
    *,
    env_file: Path = Path(".env"),
    overrides: Mapping[str, str] | None = None,
    needs: Collection[str] = NEEDED,
) -> Settings:
    """Read every source, the strongest first: `overrides` (by field), `environ`, `env_file`, the folder of secrets.

    The secrets are removed from `environ`, so that child processes do not inherit them. An empty value counts as not
    set. An unknown name is refused in `env_file`, and in `environ` if it is like that of a setting: other programs have
    variables there, too. `needs` are the fields that must be set.

    Raises:
        ConfigError: something is missing, weak or wrong.
    """
    file = {name: value for name, value in dotenv_values(env_file, interpolate=False).items() if value is not None}
    for name, nearest in unknown((*file, *environ)).items():
        if nearest is not None:
            raise ConfigError(f"{name}: is not a setting; the nearest is {nearest}")
        if name in file:
            raise ConfigError(f"{name}: is not a setting")
    folder = environ.get(SECRETS_DIR) or file.get(SECRETS_DIR)
    texts: dict[str, str] = {}
    for field in Settings.__struct_fields__:
        name = variable(field)
        sources = ((overrides or {}).get(field), environ.get(name), file.get(name), _from_folder(folder, name))
        text = next((text for text in sources if text), None)
        if text is not None:
            texts[field] = text
    forget_secrets(environ)
    return _settings({field: _parse(field, text) for field, text in texts.items()}, needs)


def unknown(names: Iterable[str]) -> dict[str, str | None]:
    """Which of the names begin as settings do and are none, each with the setting that it may have meant."""
    found = {}
    for name in names:
        known = name in _CLIENT_VARIABLES or _field(name) in Settings.__struct_fields__
        if name.startswith(PREFIX) and not known and not _OF_KUBERNETES.fullmatch(name):
            found[name] = _nearest(_field(name))
    return found


def _nearest(field: str) -> str | None:
    # Imported here: it is needed once in many starts.
    from difflib import get_close_matches

    begun = (
        each for each in Settings.__struct_fields__ if each.startswith(f"{field}_") or field.startswith(f"{each}_")
    )
    nearest = next(iter(get_close_matches(field, Settings.__struct_fields__, 1, _ALIKE)), None) or next(begun, None)
    return None if nearest is None else variable(nearest)


def forget_secrets(environ: MutableMapping[str, str]) -> None:
    """Remove the secrets, so that child processes do not inherit them."""
    for field in SECRET_FIELDS:
        environ.pop(variable(field), None)


def differences(before: Settings, after: Settings, *, but: tuple[str, ...]) -> list[str]:
    """The variables whose values differ, without the fields `but`."""
    fields = (field for field in Settings.__struct_fields__ if field not in but)
    return [variable(field) for field in fields if getattr(before, field) != getattr(after, field)]


def _field(name: str) -> str:
    return name.removeprefix(PREFIX).lower()


def _from_folder(folder: str | None, name: str) -> str | None:
    if not folder:
        return None
    for file in (Path(folder, name), Path(folder, name.lower())):
        if file.is_file():
            try:
                return file.read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError):
                raise ConfigError(f"{name}: its file in the folder of secrets cannot be read") from None
    return None


def _settings(values: Mapping[str, object], needs: Collection[str]) -> Settings:
    for field in needs:
        if field not in values:
            hint = "; `carrel init` makes a configuration with fresh secrets" if needs is NEEDED else ""
            raise ConfigError(f"{variable(field)}: is not set{hint}")
    try:
        settings = msgspec.convert(values, Settings, strict=False, dec_hook=_keep)
    except msgspec.ValidationError as error:
        # The message may hold the value, but the path in it is only a field's name.
        place = re.search(r"`\$\.(\w+)", str(error))
        name = variable(place[1]) if place else PREFIX + "*"
        raise ConfigError(f"{name}: has a value that is not allowed{_choices(place[1] if place else '')}") from None
    keys = [key for key in (settings.service_key, settings.old_service_key) if key not in (None, ABSENT)]
    named = [*settings.plugin_secret, *(Secret(key.reveal().hex().encode()) for key in keys)]
    named += [secret for secret in (settings.admin_secret, settings.metrics_secret) if secret is not None]
    if any(one == other for index, one in enumerate(named) for other in named[:index]):
        raise ConfigError(
            "CARREL_PLUGIN_SECRET, CARREL_ADMIN_SECRET, CARREL_METRICS_SECRET, CARREL_SERVICE_KEY: must all differ"
        )
    if not settings.credit_markup.is_finite() or not 0 <= settings.credit_markup <= _MAX_MARKUP:
        raise ConfigError("CARREL_CREDIT_MARKUP: has a value that is not allowed")
    for field in ("unknown_costs_per_day", "low_credits"):
        amount: Decimal = getattr(settings, field)
        if not amount.is_finite() or not 0 <= amount <= _MAX_CREDITS:
            raise ConfigError(f"{variable(field)}: has a value that is not allowed")
    if needs is NEEDED and (settings.webhook_url is None) is not (settings.webhook_secret == ()):
        raise ConfigError("CARREL_WEBHOOK_URL, CARREL_WEBHOOK_SECRET: belong together")
    if settings.node_name is not None and not settings.etcd:
        raise ConfigError("CARREL_NODE_NAME: a node needs CARREL_ETCD")
    _check_etcd(settings)
    _check_peers(settings)
    return settings


def _choices(field: str) -> str:
    """What may stand there, if that is a list of words."""
    kind = get_type_hints(Settings).get(field)
    return f"; allowed are {', '.join(get_args(kind))}" if get_origin(kind) is Literal else ""


def _check_etcd(settings: Settings) -> None:
    if (settings.etcd_cert is None) != (settings.etcd_key is None):
        raise ConfigError("CARREL_ETCD_CERT, CARREL_ETCD_KEY: belong together")
    if (settings.etcd_user is None) != (settings.etcd_password is None):
        raise ConfigError("CARREL_ETCD_USER, CARREL_ETCD_PASSWORD: belong together")
    for scheme, _, address in (origin.partition("://") for origin in settings.etcd):
        if scheme == "http" and not _is_local(address):
            raise ConfigError("CARREL_ETCD: beyond this machine, etcd needs https")


def _check_peers(settings: Settings) -> None:
    certificates = (settings.node_ca, settings.node_cert, settings.node_key)
    if len({certificate is None for certificate in certificates}) > 1:
        raise ConfigError("CARREL_NODE_CA, CARREL_NODE_CERT, CARREL_NODE_KEY: belong together")
    if settings.node_ca is not None:
        return
    if settings.move_keys == "on":
        raise ConfigError("CARREL_MOVE_KEYS: needs CARREL_NODE_CA, CARREL_NODE_CERT and CARREL_NODE_KEY")
    if settings.node_peer is not None and not _is_local(settings.node_peer):
        raise ConfigError("CARREL_NODE_PEER: beyond this machine, nodes need CARREL_NODE_CA, _CERT and _KEY")


def _is_local(address: str) -> bool:
    """Whether only this machine has the host of this `host` or `host:port`."""
    host = urlsplit(f"//{address}").hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _keep(kind: type, value: object) -> object:
    # Secrets and paths are parsed already; msgspec only has to accept their types.
    if isinstance(value, kind):
        return value
    raise TypeError


def _parse(field: str, text: str) -> object:
    parser = _PARSERS.get(field)
    return parser(variable(field), text) if parser else text


def _secret(name: str, text: str) -> Secret:
    if len(text) < _MINIMUM_SECRET_CHARACTERS:
        raise ConfigError(f"{name}: must have at least {_MINIMUM_SECRET_CHARACTERS} characters")
    if not _VISIBLE_ASCII.fullmatch(text):
        raise ConfigError(f"{name}: must consist of visible ASCII characters without spaces")
    if len(set(text)) < _MINIMUM_DISTINCT:
        raise ConfigError(f"{name}: is too easy to guess; `carrel init` makes a strong one")
    return Secret(text.encode())


def _plugin_secrets(name: str, text: str) -> tuple[Secret, ...]:
    parts = _parts(text)
    if not 1 <= len(parts) <= 2:
        raise ConfigError(f"{name}: must be one secret, or two with a comma between")
    return tuple(_secret(name, part) for part in parts)


def _webhook_secrets(name: str, text: str) -> tuple[Secret, ...]:
    parts = _parts(text)
    try:
        keys = [b64decode(part.removeprefix("whsec_"), validate=True) for part in parts]
    except ValueError:
        keys = []
    if not 1 <= len(keys) <= 2 or not all(24 <= len(key) <= 64 and len(set(key)) >= _MINIMUM_DISTINCT for key in keys):
        raise ConfigError(f"{name}: must be whsec_ and 24 to 64 random bytes in base64, or two with a comma between")
    return tuple(map(Secret, keys))


def _webhook_url(name: str, text: str) -> str:
    if not _URL.fullmatch(text):
        raise ConfigError(f"{name}: must be an address such as https://www.example.com/carrel-events")
    return text


def _service_key(name: str, text: str) -> Secret:
    if not _HEX_KEY.fullmatch(text):
        raise ConfigError(f"{name}: must be 64 hexadecimal digits")
    key = bytes.fromhex(text)
    if len(set(key)) < _MINIMUM_DISTINCT:
        raise ConfigError(f"{name}: is too easy to guess; `carrel init` makes a strong one")
    return Secret(key)


def _parts(text: str) -> list[str]:
    return [part for part in (part.strip() for part in text.split(",")) if part]


def _matching(pattern: re.Pattern[str], rule: str) -> Callable[[str, str], tuple[str, ...]]:
    def parse(name: str, text: str) -> tuple[str, ...]:
        parts = tuple(part.lower() for part in _parts(text))
        if not all(pattern.fullmatch(part) for part in parts):
            raise ConfigError(f"{name}: {rule}")
        return parts

    return parse


def _node_name(name: str, text: str) -> str:
    if not re.fullmatch(NODE_NAME, text):
        raise ConfigError(f"{name}: must be 1 to 32 small letters, digits and hyphens, with a letter first")
    return text


def _address(name: str, text: str) -> str:
    if not re.fullmatch(ADDRESS, text):
        raise ConfigError(f"{name}: must be an address and a port, such as 10.0.0.7:8500")
    return text


def _path(_name: str, text: str) -> Path:
    return Path(text).expanduser()


_HOSTS = "must be hosts such as example.com, example.com:8443 or *.example.com"
_hosts = _matching(_HOST, f"{_HOSTS}, with commas between")
_provider_hosts = _matching(_PROVIDER_HOST, f"{_HOSTS}, or http://ollama:11434, with commas between")
_PARSERS: dict[str, Callable[[str, str], Any]] = {
    "plugin_secret": _plugin_secrets,
    "admin_secret": _secret,
    "metrics_secret": _secret,
    "webhook_secret": _webhook_secrets,
    "service_key": _service_key,
    "old_service_key": _service_key,
    "node_name": _node_name,
    "cluster": _node_name,
    "etcd": _matching(_ORIGIN, "must be origins such as https://10.0.0.5:2379, with commas between"),
    "etcd_ca": _path,
    "etcd_cert": _path,
    "etcd_key": _path,
    "etcd_user": _node_name,
    "etcd_password": _secret,
    "node_peer": _address,
    "node_ca": _path,
    "node_cert": _path,
    "node_key": _path,
    "data_dir": _path,
    "app_dir": _path,
    "cors_origins": _matching(_ORIGIN, "must be origins such as https://example.com, with commas between"),
    "provider_hosts": _provider_hosts,
    "github_hosts": _hosts,
    "webhook_url": _webhook_url,
}
