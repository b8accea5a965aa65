"""Storage Matrix as it is installed: the command `matrix`, and below this package everything else.

Lambda takes `functions/` and an instance takes `agent/` as the root of their imports, so the code says `import matrix`
and `import agent`. In a shared site-packages such names could collide. A wheel therefore holds the whole tree inside
this package; a clone has it beside this package.
"""

import gc
import sys
from pathlib import Path


def main() -> None:
    """Run the command `matrix` with the tree in front of Python's path."""
    package = Path(__file__).resolve().parent
    tree = package if (package / "template.yaml").exists() else package.parent
    sys.path[:0] = [str(tree), str(tree / "functions")]

    # What is imported stays: to look for garbage in it takes a tenth of the time.
    gc.disable()
    from cli.target import cloud_process

    cloud_process.start_early(sys.argv[1:])
    from cli.main import main as run_command

    gc.freeze()
    gc.enable()
    run_command()
