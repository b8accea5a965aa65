"""`python -m cli` is `matrix` where the package is not installed."""

import sys
from pathlib import Path

# Installed, `matrix` is a package of its own; in a checkout it lies in functions/.
sys.path.append(str(Path(__file__).resolve().parent.parent / "functions"))

from cli.main import main

main()
