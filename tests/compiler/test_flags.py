from __future__ import annotations

import numpy as np
from mlir import ir

from compiler import backend, pipeline
from compiler.checker import check, signature
from compiler.lowering import lower
from compiler.parser import parse

# `main` drops one result of a call and returns another: who owns what is decided at run time, by MLIR's helper.
DROPS = """
let pair = fn(x: tensor<F32, [2, 3], @host>) -> (tensor<F32, [2, 3], @host>, tensor<F32, [3, 2], @host>) {
  (x + x, transpose(x, perm=[1, 0]))
}
@main {
  let x = tensor<F32, [2, 3], @host>;
  let (twice, turned) = pair(x);
  let (again, dropped) = pair(twice);
  (again, x, turned)
}
"""


def _module(context: ir.Context, stop: str) -> ir.Module:
    checked = check(parse(DROPS))
    module = lower(checked, context)
    passes = pipeline.DEFAULT.passes
    end = next(at for at, pass_ in enumerate(passes) if pass_.text == stop)
    pipeline.run(module, pipeline.Pipeline(passes[:end]))
    return module


def test_the_helper_is_there_before_and_keeps_no_bits_after() -> None:
    module = _module(ir.Context(), "kina-flags-as-bytes")
    assert "@dealloc_helper" in str(module)
    assert "xi1>" in str(module)
    pipeline.run(module, pipeline.Pipeline((pipeline.Pass("kina-flags-as-bytes", "buffers"),)))
    assert "@dealloc_helper" in str(module)
    assert "xi1>" not in str(module)


def test_what_is_returned_is_right_and_the_callers_own() -> None:
    checked = check(parse(DROPS))
    module = lower(checked, ir.Context())
    pipeline.run(module, pipeline.DEFAULT)
    signatures = {name: signature(checked, name) for name in ("pair", "main")}
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for opt_level in (0, 2):
        compiled = backend.compile_jit(module, signatures, opt_level)
        for _ in range(100):  # a buffer freed twice, or once too little, would soon show
            again, same, turned = compiled.call("main", x)
            np.testing.assert_array_equal(again, 4 * x)
            np.testing.assert_array_equal(same, x)
            np.testing.assert_array_equal(turned, x.T)
        compiled.close()
