"""What filling a cache adds to the cost of builds: once on a shared storage, or on each instance of its own."""

from dataclasses import dataclass

from matrix.terms.documents import summary as documents


@dataclass(frozen=True)
class Filling:
    """How long a cache takes to fill, on how many instances, and what that costs for a fleet of so many builds."""

    seconds: float  # on one instance
    instances: int  # that fill a cache: all with storages of their own, else one of each file system
    builds: int  # at once that use it
    usd: float
    basis: str

    def added_usd(self, times: int) -> float:
        """Return what it adds to each build where each instance builds so many times with what was filled once."""
        return self.usd / (self.builds * times)

    def to_document(self) -> documents.Filling:
        """As it is in summary.json."""
        return {
            "seconds": self.seconds,
            "instances": self.instances,
            "builds": self.builds,
            "usd": self.usd,
            "basis": self.basis,
        }
