"""Join standard input and output to a TCP port of this machine: qemu runs one for each connection of a guest.

`pipe.py PORT secret` first sends the secret from its environment, which other users of the machine cannot read. The
metadata service requires it, and the guest does not have it.
"""

import os
import selectors
import socket
import sys

SECRET_VARIABLE = "STORAGE_MATRIX_METADATA_SECRET"  # pragma: allowlist secret


def main(port: int, introduction: bytes = b"") -> None:
    """Send the introduction, then copy both ways until one side ends."""
    with socket.create_connection(("127.0.0.1", port)) as host, selectors.DefaultSelector() as ready:
        host.sendall(introduction)
        ready.register(host, selectors.EVENT_READ, lambda data: _write_all(1, data))
        ready.register(0, selectors.EVENT_READ, host.sendall)
        while True:
            for key, _ in ready.select():
                data = os.read(key.fd, 1 << 16)
                if not data:
                    return
                key.data(data)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


if __name__ == "__main__":
    main(int(sys.argv[1]), os.environ[SECRET_VARIABLE].encode() + b"\n" if sys.argv[2:] == ["secret"] else b"")
