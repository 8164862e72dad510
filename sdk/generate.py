"""Writes what the SDK has from elsewhere: its structs from `openapi.json`, its asynchronous client from the other one.

python -m sdk.generate            writes `carrel_sdk/models.py` and `carrel_sdk/aio`
python -m sdk.generate --check    ends with 1 if what is there is something else
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from sdk import generate_async, generate_models

ROOT: Final = Path(__file__).parents[1]
TARGET: Final = ROOT / "sdk" / "src" / "carrel_sdk"


def written(folder: Path) -> dict[Path, str]:
    """Write everything into `folder` in the house's format, and return what is there now."""
    document = json.loads((ROOT / "openapi.json").read_text("utf-8"))
    wanted = generate_models.imported(path for path in sorted(TARGET.glob("*.py")) if path.stem != "models")
    models, client = folder / "models.py", folder / "aio"
    client.mkdir(parents=True, exist_ok=True)
    for old in client.glob("*.py"):
        old.unlink()
    models.write_text(generate_models.generated(document, wanted), "utf-8")
    for name, text in generate_async.generated(TARGET).items():
        (client / name).write_text(text, "utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    config = ["--config", str(ROOT / "pyproject.toml"), "--quiet", "--no-cache", str(models), str(client)]
    # Said here, because the folder may be a temporary one.
    ours = ["--config", 'lint.isort.known-first-party=["carrel_sdk"]']
    subprocess.run([*ruff, "check", "--select", "F401,I", "--fix", *ours, *config], check=True)  # noqa: S603  # ours
    subprocess.run([*ruff, "format", *config], check=True)  # noqa: S603  # ours
    return present(folder)


def present(folder: Path) -> dict[Path, str]:
    """What is in `folder` of what this program writes."""
    files = [folder / "models.py", *folder.glob("aio/*.py")]
    return {file.relative_to(folder): file.read_text("utf-8") for file in files}


def main() -> int:
    """Write, or compare."""
    if sys.argv[1:] != ["--check"]:
        written(TARGET)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        return int(written(Path(folder)) != present(TARGET))


if __name__ == "__main__":
    sys.exit(main())
