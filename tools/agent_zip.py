"""Write the agent's zip, as Plan matrix creates it, to a file: `make agent`. The same sources give the same bytes."""

import hashlib
import sys
from pathlib import Path

from agent_client import carry
from aws.records import agent_package

if __name__ == "__main__":
    package = agent_package.build(Path(__file__).parents[1] / "agent", carry.MADE)
    file = Path(sys.argv[1])
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(package)
    print(f"{file}: {len(package):,} bytes, SHA-256 {hashlib.sha256(package).hexdigest()}")
