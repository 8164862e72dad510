"""`python -m tests.packaging.samples`: keep a data folder of the version that is about to be released."""

from pathlib import Path
from tempfile import TemporaryDirectory

import carrel
from tests.packaging.samples import FOLDER, make

with TemporaryDirectory() as scratch:
    make(Path(scratch), FOLDER / f"{carrel.__version__}.tar.gz")
