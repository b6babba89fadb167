"""The NumPy side of a Kina type: which array dtype holds which element type.

Here because the host boundary, the command line and the recipes of inputs all need it. The oracles have a table of
their own: they do not take the compiler's word for it.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from compiler.types import TensorType

Array = np.ndarray[Any, np.dtype[Any]]

NUMPY: dict[str, np.dtype[Any]] = {
    "F16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "F32": np.dtype(np.float32),
    "F64": np.dtype(np.float64),
    "I32": np.dtype(np.int32),
    "I64": np.dtype(np.int64),
    "BOOL": np.dtype(np.bool_),
}


def numpy_dtype(tensor_type: TensorType) -> np.dtype[Any]:
    """The dtype of an array that holds a value of `tensor_type`."""
    return NUMPY[tensor_type.dtype.name]
