"""The parts of the grammar without expressions in them: types, literals' payloads, attribute values.

Standard library only.
"""

from __future__ import annotations

from compiler.cursor import Cursor, SyntaxRefused
from compiler.numbers import NumberError, read_integer, read_scalar
from compiler.source import Span
from compiler.syntax import AttrValue
from compiler.types import DTYPES, DType, Scalar, TensorType

INTEGER_RANGE = (-(2**63), 2**63 - 1)  # of dims and attributes


def tensor_type(c: Cursor) -> TensorType:
    """`tensor<DTYPE, [dims], @place>`. Dtype, dims and place may be ones that the checker refuses."""
    c.expect("tensor", "(a type is written `tensor<F32, [2, 3], @host>`)")
    c.expect("<", "after `tensor`")
    name = c.expect("name", "as the dtype").text
    dtype = DTYPES.get(name) or DType(name, "float", 64, 53, 1023)  # reads any number, and the checker refuses it
    c.expect(",", "after the dtype")
    shape = integers(c)
    c.expect(",", "after the shape")
    c.expect("@", "before the placement")
    place = c.expect("name", "as the placement").text
    c.expect(">", "at the end of the type")
    return TensorType(dtype, shape, place)


def payload(c: Cursor, type_: TensorType) -> tuple[Scalar, ...]:
    """The numbers of a literal, row-major. Its lists nest as the shape of `type_` says; rank 0 is a bare number.

    A number or a list that does not fit is reported, and the reader goes on.
    """
    return _Payload(c, type_).read()


def attribute_value(c: Cursor) -> AttrValue:
    """An integer, a list of integers, or a dtype's name."""
    if c.at("["):
        return integers(c)
    if c.at("name"):
        return c.take().text
    if not c.at("int"):
        c.refuse("an integer, a list of integers or a dtype as the attribute's value")
    return _integer(c)


def integers(c: Cursor) -> tuple[int, ...]:
    """`[2, 3]`, or `[]`."""
    c.expect("[", "before the integers")
    values: list[int] = []
    while not c.at("]"):
        values.append(_integer(c))
        if not c.accept(","):
            break
        if c.at("]"):
            c.refuse("an integer after `,`")
    c.expect("]", "after the integers")
    return tuple(values)


def _integer(c: Cursor) -> int:
    token = c.expect("int", "here")
    value = read_integer(token.text, *INTEGER_RANGE)
    if value is None:
        message = f"an integer here fits 64 bits, got `{token.text[:40]}`"
        raise SyntaxRefused("integer-range", message, token.span)
    return value


class _Payload:
    """The lists and numbers of one literal while they are read."""

    def __init__(self, c: Cursor, type_: TensorType) -> None:
        self._c, self._type = c, type_
        self._values: list[Scalar] = []
        self._lengths: list[int] = []  # of the lists that are open here, so far
        self._misshapen = False

    def read(self) -> tuple[Scalar, ...]:
        """A loop, so that lists may be long and nested deeply."""
        c = self._c
        while True:
            if c.at("[") and c.after.kind != "]":
                c.take()
                self._lengths.append(0)
                continue
            self._item()
            while self._lengths:
                self._lengths[-1] += 1
                if c.accept(","):
                    break
                self._close(c.expect("]", "after the numbers of the literal").span)
            else:
                return tuple(self._values)

    def _item(self) -> None:
        """A number, or an empty list."""
        if self._c.accept("["):
            self._lengths.append(0)
            self._close(self._c.take().span)
            return
        if len(self._lengths) != self._type.rank:
            self._wrong(
                f"{self._type.rank} levels of lists, got a number inside {len(self._lengths)}", self._c.here.span
            )
        self._values.append(_number(self._c, self._type.dtype))

    def _close(self, span: Span) -> None:
        length, axis, shape = self._lengths.pop(), len(self._lengths), self._type.shape
        if axis < len(shape) and length != shape[axis]:
            self._wrong(f"lists of length {shape[axis]} on axis {axis}, got {length}", span)

    def _wrong(self, needed: str, span: Span) -> None:
        """Reports the first list that does not fit; the others follow from it."""
        if not self._misshapen:
            self._misshapen = True
            self._c.report.add("literal-shape", f"a literal of {str(self._type)[:80]} needs {needed}", span)


def _number(c: Cursor, dtype: DType) -> Scalar:
    if not c.at("int", "float"):
        c.refuse("a number or a list in the literal")
    token = c.take()
    try:
        return read_scalar(dtype, token.text)
    except NumberError as error:
        c.report.add(error.code, error.message, token.span)
        return 0
