"""The secrets of the host and the operator that are in force. A reload replaces them while the service runs."""

from collections.abc import Callable

from carrel.config import Settings


class Credentials:
    """Everything that checks or signs with a secret holds this one object, so that a reload reaches all at once."""

    def __init__(self, plugin: tuple[bytes, ...], admin: bytes | None = None, metrics: bytes | None = None) -> None:
        self.plugin = plugin
        """The first signs session tokens, every one is accepted."""
        self.admin = admin
        """`None` turns the operator's routes off."""
        self.metrics = metrics
        """Reads the metrics and nothing else."""
        self._on_removal: list[Callable[[], None]] = []

    def __repr__(self) -> str:
        return f"<Credentials with {len(self.plugin)} plugin secrets>"

    @classmethod
    def of(cls, settings: Settings) -> "Credentials":
        """Those that the settings name."""
        plugin = tuple(secret.reveal() for secret in settings.plugin_secret)
        others = (settings.admin_secret, settings.metrics_secret)
        return cls(plugin, *(None if secret is None else secret.reveal() for secret in others))

    def on_removal(self, then: Callable[[], None]) -> None:
        """Call `then` whenever a plugin secret is no longer accepted."""
        self._on_removal.append(then)

    def take_over(self, other: "Credentials") -> None:
        """Put those of `other` in force, at once and together. Call it on the event loop."""
        removed = set(self.plugin) - set(other.plugin)
        self.plugin, self.admin, self.metrics = other.plugin, other.admin, other.metrics
        if removed:
            for then in self._on_removal:
                then()
