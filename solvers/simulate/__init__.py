"""Attention run for real: online softmax, block-wise attention by back end, KV caches, serving.

`trace` needs nothing but Python; `state`, `attention` and the caches take numpy arrays or torch tensors and
import torch and triton only when asked for them.
"""
