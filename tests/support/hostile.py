"""Strings that strangers may write anywhere."""

SHELL = [
    "$(reboot)",
    "`reboot`",
    "a;reboot",
    "a|b",
    "a&b",
    "a\nreboot",
    "a>b",
    "'",
    '"',
    "a b",
    "*",
    "?",
    "{a,b}",
    "!!",
    "\\",
]


UNICODE = ["\x00", "\x1b[31m", "\u202e", "é", "e\u0301", "😀", "\ud800", "\udfff\ud800", "ﬁ", "İ", "\u2028", "٣"]
