"""The algebra of a cache by hand, in float64, once in NumPy and once in PyTorch: Sections 19 and 20, paragraphs 4.

Layouts are the documents': Kᵀ [B, H, Dh, S], V [B, H, S, Dh], ids [B, 1], logits [B, 1, V]. A step appends one position
and lets its query attend to every cached one, itself included, so nothing is masked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch

from compiler.arrays import Array
from tests.compiler.storylm0_algebra import HEADS

Arrays = tuple[Array, ...]
Weights = Mapping[str, Array]
Cache = tuple[Array, Array]


def _numpy_attention(q: Array, k_t: Array, v: Array, scale: float) -> Array:
    scores = q @ k_t * scale
    powers = np.exp(scores - scores.max(axis=3, keepdims=True))
    context: Array = powers / powers.sum(axis=3, keepdims=True) @ v
    return context


def _torch_attention(q: torch.Tensor, k_t: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
    return torch.softmax(torch.matmul(q, k_t) * scale, dim=3).matmul(v)


def numpy_kv_step(*given: Array) -> Arrays:
    """(k_next, v_next, context) of Section 19, operands in the order of `kv_step`."""
    q, k_past, k_new, v_past, v_new, scale = (array.astype(np.float64) for array in given)
    k_next, v_next = np.concatenate([k_past, k_new], axis=3), np.concatenate([v_past, v_new], axis=2)
    return k_next, v_next, _numpy_attention(q, k_next, v_next, scale.item())


def torch_kv_step(*given: Array) -> Arrays:
    q, k_past, k_new, v_past, v_new, scale = (torch.from_numpy(array.astype(np.float64)) for array in given)
    k_next, v_next = torch.cat([k_past, k_new], dim=3), torch.cat([v_past, v_new], dim=2)
    context = _torch_attention(q, k_next, v_next, scale.item())
    return k_next.numpy(), v_next.numpy(), context.numpy()


def numpy_decode(weights: Weights, ids: Array, past: Cache | None) -> Arrays:
    """(k_next, v_next, logits) of Section 20; without a past the token attends to itself."""
    w = {name: array.astype(np.float64) for name, array in weights.items()}
    x = w["embed"][ids]
    batch, _, width = x.shape
    q, k, v = ((x @ w[name]).reshape(batch, 1, HEADS, -1).swapaxes(1, 2) for name in ("wq", "wk", "wv"))
    k_t = k.swapaxes(2, 3)
    if past is not None:
        k_t, v = np.concatenate([past[0], k_t], axis=3), np.concatenate([past[1], v], axis=2)
    context = _numpy_attention(q, k_t, v, w["scale"].item())
    return k_t, v, (x + context.swapaxes(1, 2).reshape(batch, 1, width) @ w["wo"]) @ w["lm_head"]


def torch_decode(weights: Weights, ids: Array, past: Cache | None) -> Arrays:
    w = {name: torch.from_numpy(array.astype(np.float64)) for name, array in weights.items()}
    x = torch.nn.functional.embedding(torch.from_numpy(ids), w["embed"])
    q, k, v = ((x @ w[name]).reshape(len(ids), 1, HEADS, -1).transpose(1, 2) for name in ("wq", "wk", "wv"))
    k_t = k.transpose(2, 3)
    if past is not None:
        k_past, v_past = (torch.from_numpy(array.astype(np.float64)) for array in past)
        k_t, v = torch.cat([k_past, k_t], dim=3), torch.cat([v_past, v], dim=2)
    context = _torch_attention(q, k_t, v, w["scale"].item())
    logits = (x + context.transpose(1, 2).flatten(2) @ w["wo"]) @ w["lm_head"]
    return k_t.numpy(), v.numpy(), logits.numpy()


Decode = Callable[[Weights, Array, Cache | None], Arrays]
KV_STEPS = (numpy_kv_step, torch_kv_step)
DECODES: tuple[Decode, ...] = (numpy_decode, torch_decode)


def chosen(logits: Array) -> int:
    """The class of the last position, where it leads by far more than rounding to F32 can move it."""
    row = logits[0, -1]
    first, second = row.argsort()[:-3:-1]
    assert row[first] - row[second] > 2.0**-10 * abs(row).max(), "a near tie: choose other ids"
    return int(first)
