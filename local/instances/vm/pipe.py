"""Join standard input and output to a TCP port of this machine: qemu runs one for each connection of a guest."""

import os
import selectors
import socket
import sys


def main(port: int) -> None:
    """Copy both ways until one side ends."""
    with socket.create_connection(("127.0.0.1", port)) as host, selectors.DefaultSelector() as ready:
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
    main(int(sys.argv[1]))
