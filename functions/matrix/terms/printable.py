"""Texts of others, as they may be printed or opened: they shall do nothing to a terminal or a spreadsheet."""

import re

# Characters that could clear the terminal, or type into it, but line feeds and tabs; that change the direction of the
# text beside them (https://www.unicode.org/reports/tr9/, 2); that break lines unseen, or cannot be seen at all.
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Half of a character, which JSON can hold and no encoding has.
SURROGATE = re.compile(r"[\ud800-\udfff]")
# With one of these a spreadsheet takes a text for a formula, which can send other cells to an address.
# https://owasp.org/www-community/attacks/CSV_Injection
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def printable(text: str) -> str:
    """Return a text with a question mark for each control character except line feeds and tabs."""
    return SURROGATE.sub("?", CONTROL.sub("?", text))


def csv_field(value: object) -> object:
    """Return a value for CSV. A text that a spreadsheet would take for a formula begins with an apostrophe."""
    if not isinstance(value, str):
        return value
    return printable(f"'{value}" if value.startswith(FORMULA) else value)
