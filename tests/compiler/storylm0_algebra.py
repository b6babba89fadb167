"""StoryLM-0's algebra by hand, in float64, once in NumPy and once in PyTorch: what the examples are validated against.

Written from the documents, not from the programs: NumPy spells out each head, PyTorch calls its own attention. Weights
are those of a checkpoint by name; ids are [B, T]; the results are Kᵀ [B, H, Dh, T], V [B, H, T, Dh] and the logits
[B, T, V] of a causal forward. A decode step is the last position of the forward on the longer sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import torch

from compiler.arrays import Array

HEADS = 2
Forward = Callable[[Mapping[str, Array], Array], tuple[Array, Array, Array]]


def numpy_forward(weights: Mapping[str, Array], ids: Array) -> tuple[Array, Array, Array]:
    """Head by head, query by query."""
    w = {name: array.astype(np.float64) for name, array in weights.items()}
    x = w["embed"][ids]
    batch, length, width = x.shape
    q, k, v = (np.stack(np.split(x @ w[name], HEADS, axis=2), axis=1) for name in ("wq", "wk", "wv"))
    context = np.empty_like(v)
    for b, h, t in np.ndindex(batch, HEADS, length):
        scores = k[b, h, : t + 1] @ q[b, h, t] * w["scale"].item()
        powers = np.exp(scores - scores.max())
        context[b, h, t] = powers / powers.sum() @ v[b, h, : t + 1]
    merged = np.moveaxis(context, 1, 2).reshape(batch, length, width)
    return np.swapaxes(k, 2, 3), v, (x + merged @ w["wo"]) @ w["lm_head"]


def torch_forward(weights: Mapping[str, Array], ids: Array) -> tuple[Array, Array, Array]:
    """By PyTorch's embedding and scaled dot-product attention."""
    w = {name: torch.from_numpy(array.astype(np.float64)) for name, array in weights.items()}
    x = torch.nn.functional.embedding(torch.from_numpy(ids), w["embed"])
    q, k, v = (torch.stack((x @ w[name]).chunk(HEADS, dim=2), dim=1) for name in ("wq", "wk", "wv"))
    context = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=w["scale"].item())
    logits = (x + context.transpose(1, 2).flatten(2) @ w["wo"]) @ w["lm_head"]
    return k.transpose(2, 3).numpy(), v.numpy(), logits.numpy()


FORWARDS: tuple[Forward, ...] = (numpy_forward, torch_forward)


def causal_mask(length: int) -> Array:
    """The additive mask [1, 1, T, T]: -inf where the key is later than the query."""
    return np.triu(np.full((1, 1, length, length), -np.inf, np.float32), 1)


def gumbel_scores(row: Array, u: Array, temperature: float) -> Array:
    """Section 18 in float64: the sampled class is the largest of row / T - log(-log u)."""
    scores: Array = row.astype(np.float64) / temperature - np.log(-np.log(u.astype(np.float64)))
    return scores
