"""Text to tokens, one at a time. What the tokens mean is the parser's business. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from compiler.source import Report, Span

_WORDS = {"let": "let", "fn": "fn", "tensor": "tensor", "while": "while", "inf": "float", "nan": "float"}
LONGEST_NAME = 255  # characters
LONGEST_NUMBER = 1100  # characters; the exact decimal expansion of an F64 has up to 1,076 digits

# A number's alternative takes everything that could belong to one, so that `12ab` is one error and not two tokens.
# A sign belongs to the number that follows it without a space: no expression has a bare number in it.
_TOKEN = re.compile(
    r"""(?: [ \t\r\n]++ | //[^\n]*+ )*+
    (?: (?P<name> [A-Za-z_]\w*+ )
      | (?P<number> -?[0-9] (?: (?<=[eEpP])[+-] | [\w.] )*+ | -inf\b )
      | (?P<mark> -> | <= | == | [()\[\]{}<>,:;=@+*/%-] )
      | (?P<bad> [^ \t\r\n\w()\[\]{}<>,:;=@+*/%-]++ )
      | (?P<end> \Z )
    )""",
    re.VERBOSE | re.ASCII,
)
_FLOAT = re.compile(
    r"-?(?:inf|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|0x[0-9a-fA-F]+(?:\.[0-9a-fA-F]+)?[pP][+-]?[0-9]+)",
)


class Token(NamedTuple):
    """`kind` is "name", "int", "float", "bad", "end", or the text itself for keywords and marks."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


def tokens(text: str, report: Report) -> Iterator[Token]:
    """The tokens of `text` in order; the last one is "end". Linear in the length of the text.

    What is no token is reported, and comes as "bad".
    """
    for match in _TOKEN.finditer(text):
        group = match.lastgroup or "end"
        word, end = match[group], match.end()
        start = end - len(word)  # a token stands at the end of its match, behind blanks and comments
        if group == "name":
            yield Token(_WORDS.get(word, "name"), _name(word, start, report), start, end)
        elif group == "mark":
            yield Token(word, word, start, end)
        elif group == "number":
            yield _number(word, start, end, report)
        elif group == "bad":
            report.add("bad-character", f"{_named(word[0])} is in no token", Span(start, end))
            yield Token("bad", word, start, end)
        else:
            yield Token("end", "", start, end)
            return


def _name(word: str, start: int, report: Report) -> str:
    if len(word) <= LONGEST_NAME:
        return word
    message = f"a name has at most {LONGEST_NAME} characters, got {len(word)}"
    report.add("name-length", message, Span(start, start + len(word)))
    return word[:LONGEST_NAME]


def _number(word: str, start: int, end: int, report: Report) -> Token:
    if len(word) > LONGEST_NUMBER:
        message = f"a number has at most {LONGEST_NUMBER} characters, got {len(word)}"
    elif word.removeprefix("-").isdecimal():
        return Token("int", word, start, end)
    elif _FLOAT.fullmatch(word):
        return Token("float", word, start, end)
    else:
        message = f"`{word[:40]}` is no number; write one as 12, -0.5, 1e-3, 0x1.8p-3, inf or nan"
    report.add("bad-number", message, Span(start, end))
    return Token("int", "0", start, end)


def _named(char: str) -> str:
    return f"`{char}`" if char.isprintable() else f"the character U+{ord(char):04X}"
