"""The Dockerfile as stages and steps, and a stand-in for a builder that does the steps in one folder."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
_OF_THE_IMAGE = re.compile(r"(?<![\w./-])/(?=(?:build|opt/carrel|data|var/lib/carrel)\b)")
_BUILD_SECONDS = 900


class Step(NamedTuple):
    """One instruction, with its continued lines joined."""

    name: str
    arguments: str

    @property
    def words(self) -> list[str]:
        """The arguments of a COPY without its options, or of a CMD in its exec form."""
        if self.arguments.startswith("["):
            return [str(word) for word in json.loads(self.arguments)]
        return [word for word in shlex.split(self.arguments) if not word.startswith("--")]


class Stage(NamedTuple):
    """A FROM and what follows it."""

    base: str
    name: str
    steps: list[Step]

    def all(self, name: str) -> list[Step]:
        return [step for step in self.steps if step.name == name]

    def only(self, name: str) -> Step:
        (step,) = self.all(name)
        return step


def stages() -> list[Stage]:
    lines = [line for line in DOCKERFILE.read_text().splitlines() if line and not line.startswith("#")]
    found: list[Stage] = []
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        name, _, arguments = line.partition(" ")
        if name == "FROM":
            base, _, alias = arguments.partition(" AS ")
            found.append(Stage(base, alias, []))
        else:
            found[-1].steps.append(Step(name, " ".join(arguments.split())))
    return found


def sources(step: Step) -> list[str]:
    """What a COPY takes from the repository; nothing if it takes from another stage."""
    return [] if "--from=" in step.arguments else step.words[:-1]


class Folder:
    """Does the steps below a folder that stands for `/`. All stages share it, and this machine is the base image."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.working = folder

    def place(self, text: str) -> str:
        """The text with every path of the image below the folder."""
        return _OF_THE_IMAGE.sub(f"{self.folder}/", text)

    def do(self, step: Step) -> None:
        if step.name == "WORKDIR":
            self.working = Path(self.place(step.arguments))
            self.working.mkdir(parents=True, exist_ok=True)
        elif step.name == "COPY":
            self._copy(step)
        elif step.name == "RUN":
            self._run(step)

    def _copy(self, step: Step) -> None:
        *given, target = step.words
        into = self.working / self.place(target)
        for source in given:
            taken = Path(self.place(source)) if "--from=" in step.arguments else ROOT / source
            if taken.is_file():
                # Into a folder if the target is one.
                (into if into.is_dir() else into.parent).mkdir(parents=True, exist_ok=True)
                shutil.copy2(taken, into)
            elif taken != into:
                ignored = shutil.ignore_patterns("node_modules", "dist", "__pycache__", "*.egg-info")
                shutil.copytree(taken, into, dirs_exist_ok=True, ignore=ignored if sources(step) else None)

    def _run(self, step: Step) -> None:
        # The owner is an account of the image, and this machine's Python is not called `python` everywhere.
        command = re.sub(r"-[og] 10001 ?", "", self.place(step.arguments))
        command = re.sub(r"(^|&& )python ", rf"\1{sys.executable} ", command)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("CARREL_", "PYTHON"))}
        subprocess.run(
            ["/bin/sh", "-e", "-c", command], cwd=self.working, env=environment, check=True, timeout=_BUILD_SECONDS
        )
