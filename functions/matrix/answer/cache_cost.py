"""Cost of filling a cache for builds: once on a shared storage, or on each instance with its own storage."""

from dataclasses import dataclass

from matrix.terms.documents import summary as documents


@dataclass(frozen=True)
class Filling:
    """Seconds to fill a cache, the instances that fill one, the cost, and the builds of the fleet."""

    seconds: float  # on one instance
    instances: int  # that fill a cache: all with storages of their own, else one of each file system
    builds: int  # at once that use it
    usd: float
    basis: str
    is_assumed: bool = False  # the seconds were not measured: the matrix or the source expects them

    def added_usd(self, times: int) -> float:
        """Return the added US dollars per build if each instance builds this many times with a cache filled once."""
        return self.usd / (self.builds * times)

    def to_document(self) -> documents.Filling:
        """The form in summary.json."""
        document: documents.Filling = {
            "seconds": self.seconds,
            "instances": self.instances,
            "builds": self.builds,
            "usd": self.usd,
            "basis": self.basis,
        }
        if self.is_assumed:
            document["is_assumed"] = True
        return document
