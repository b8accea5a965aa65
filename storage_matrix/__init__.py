"""Storage Matrix as it is installed: the command `matrix`, and below this package everything else.

Lambda takes `functions/` and an instance takes `agent/` as the root of their imports, so the code says `import matrix`
and `import agent`. In a shared site-packages such names could collide. A wheel therefore holds the whole tree inside
this package; a clone has it beside this package.
"""

import os
import sys


def _interrupted(*_: object) -> None:
    os.write(2, b"Error: interrupted before anything was started\n")
    os._exit(3)  # an exception could be lost in the import of an extension module


try:
    import signal  # and what it imports
except KeyboardInterrupt:
    _interrupted()


def main() -> None:
    """Run the command `matrix` with the tree in front of Python's path."""
    # A command handles Ctrl-C itself as soon as it is imported. A shell's background job may ignore it.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
    import gc
    from pathlib import Path

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
