"""What AWS allows in the tags that users give to a run's resources.

Storage Matrix's own tags count, too: a resource may have 50 together.
"""

import unicodedata
from collections.abc import Mapping

from matrix.fields import limits
from matrix.terms.problems import Problem, Problems, display, path_text, shorten

PREFIX = "storage-matrix:"
NAME = "Name"
# Name, stack, run, deadline, owner, file system, and the cell of an instance or the token of an FSx file system.
MAX_OWN = 7
MAX_GIVEN = int(limits.TAGS_PER_RESOURCE.value) - MAX_OWN
FIELD = "tags"
# EFS and FSx allow letters, numbers, separators (Unicode's categories) and these characters in keys and values (service
# models, TagKey and TagValue). EC2 allows any.
_CATEGORIES = ("L", "N", "Z")
_PUNCTUATION = frozenset("_.:/=+-@")


def is_own(key: str) -> bool:
    """Return whether Storage Matrix sets a tag with this key itself; keys of tags are case sensitive."""
    return key == NAME or key.startswith(PREFIX)


def tag_problems(tags: Mapping[str, object]) -> Problems:
    """Yield a problem for each tag of a matrix that AWS would refuse. Wrong types are reported elsewhere."""
    for key, value in tags.items():
        yield from _problems_of(path_text((FIELD, key)), key, value)
    if len(tags) > MAX_GIVEN:
        yield Problem(FIELD, len(tags), _too_many(len(tags)), f"give at most {MAX_GIVEN}")


def inherited(of_stack: Mapping[str, str], tags: Mapping[str, str]) -> dict[str, str]:
    """Return the tags of a run's resources: those of the stack, overridden by those of the matrix.

    Tags of the stack are left out if Storage Matrix sets them itself, or if only AWS may set them.
    """
    usable = {key: value for key, value in of_stack.items() if not is_own(key) and not _is_reserved(key)}
    return {**usable, **tags}


def inherited_problems(of_stack: Mapping[str, str], tags: Mapping[str, str]) -> Problems:
    """Yield the problems of the stack's and the matrix's tags together."""
    both = inherited(of_stack, tags)
    for key in [key for key in both if key not in tags]:
        yield from _problems_of(f"tags of the stack: {display(key)}", key, both[key])
    if len(both) > MAX_GIVEN >= len(tags):
        rule = f"{_too_many(len(both))}; {len(both) - len(tags)} of them are tags of the stack"
        yield Problem(FIELD, len(tags), rule, "give fewer here, or deploy the stack with fewer (sam deploy --tags)")


def _problems_of(path: str, key: str, value: object) -> Problems:
    text = value if isinstance(value, str) else ""
    if not key:
        yield Problem(path, key, "is an empty key", "write a key such as CostCenter")
    elif is_own(key):
        fix = 'write "owner" of the matrix' if key.endswith(":owner") else "write another key"
        yield Problem(path, key, "is a tag that Storage Matrix sets itself, to find and end what it made", fix)
    elif _is_reserved(key):
        yield Problem(path, key, "begins with aws:, which only AWS may give", "write another key")
    yield from _text_problems(path, key, "key", int(limits.TAG_KEY_CHARACTERS.value))
    if _is_reserved(text):
        yield Problem(path, shorten(text), "is a value that begins with aws:, which only AWS may give", "write another")
    yield from _text_problems(path, text, "value", int(limits.TAG_VALUE_CHARACTERS.value))


def _text_problems(path: str, text: str, what: str, most: int) -> Problems:
    if len(text) > most:
        yield Problem(path, shorten(text), f"is a {what} of {len(text)} characters, of {most}", "write a shorter one")
    wrong = [char for char in text if unicodedata.category(char)[0] not in _CATEGORIES and char not in _PUNCTUATION]
    if wrong:
        rule = f"is a {what} with {display(''.join(dict.fromkeys(wrong)))}, which EFS and FSx refuse"
        yield Problem(path, shorten(text), rule, "write letters, digits, spaces and _ . : / = + - @ only")


def _is_reserved(text: str) -> bool:
    return text.lower().startswith("aws:")


def _too_many(count: int) -> str:
    most = int(limits.TAGS_PER_RESOURCE.value)
    return f"{count} tags; AWS takes {most} for a resource, and Storage Matrix sets up to {MAX_OWN} itself"
