"""Names of the tags that Storage Matrix sets on its resources, and that users therefore cannot set."""

PREFIX = "storage-matrix:"
NAME = "Name"
# Name, stack, run, deadline, owner, file system, and the cell of an instance or the token of an FSx file system.
MAX_OWN = 7


def is_own(key: str) -> bool:
    """Return whether Storage Matrix sets a tag with this key itself; keys of tags are case sensitive."""
    return key == NAME or key.startswith(PREFIX)
