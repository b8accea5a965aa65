"""The instances of a cell, as the storage that they reach sees them."""

from dataclasses import dataclass

from matrix.storages.base import STREAM_BYTES_PER_S, Storage


@dataclass(frozen=True)
class Clients:
    """Instances that start together, and the bytes per second that each can move: 5 Gbit/s unless its type is known."""

    count: int
    most_bytes_per_s: float = STREAM_BYTES_PER_S

    def sharing(self, storage: Storage) -> int:
        """Return how many of them share one storage."""
        return self.count if storage.traits.is_shared else 1

    def bytes_per_s(self, storage: Storage, threads: int = 1) -> float:
        """Return the bytes per second of each instance with so many threads: its share of the storage, or its own."""
        share = storage.bandwidth_bytes_per_s / self.sharing(storage)
        return min(share, self.most_bytes_per_s, threads * storage.traits.stream_bytes_per_s)
