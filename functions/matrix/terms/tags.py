"""What the tags are called that Storage Matrix gives to all that it creates, so that nobody else gives them."""

PREFIX = "storage-matrix:"
NAME = "Name"
# Name, stack, run, deadline, owner, file system, and the cell of an instance or the token of an FSx file system.
MOST_OWN = 7


def is_own(key: str) -> bool:
    """Return whether Storage Matrix sets a tag with this key itself; keys of tags are case sensitive."""
    return key == NAME or key.startswith(PREFIX)
