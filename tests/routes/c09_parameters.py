"""Independent routes for card 9: the maps are allocated and their entries counted; heads are joined before W_O."""

import json
from pathlib import Path

import numpy as np

import solvers

SHAPES = {r["id"]: r for r in json.loads((Path(solvers.__file__).parent / "data" / "models.json").read_text("utf-8"))}


def _maps(d, q_heads, kv_heads, width):
    """Shape-only arrays (nothing is filled) of every map, head by head."""
    one = np.broadcast_to(np.int8(0), (d, width))
    heads = [one] * q_heads + [one] * kv_heads + [one] * kv_heads
    return [*heads, np.broadcast_to(np.int8(0), (q_heads * width, d))]


def _count(*maps):
    return sum(m.size for m in maps)


def _mha(v):
    return _count(*_maps(v["d"], v["h"], v["h"], v["d"] // v["h"]))


def _mha_bias(v):
    maps = _maps(v["d"], v["h"], v["h"], v["d"] // v["h"])
    return _count(*maps) + sum(m.shape[1] for m in maps)


def _gqa(v):
    return _count(*_maps(v["d"], v["h"], v["H_kv"], v["d_h"]))


def _saving(v):
    return 1 - _gqa(v) / _count(*_maps(v["d"], v["h"], v["h"], v["d_h"]))


def _change(v):
    new = v["d"] // v["h_new"] if v["keep"] == "width" else v["d"] // v["h"]
    return _count(*_maps(v["d"], v["h_new"], v["h_new"], new)) - _mha(v)


def _model(v):
    r = SHAPES[v["model"]]
    return sum(_count(*_maps(r["d"], r["h"], r["h_kv"], r["d_h"])) for _layer in range(r["L"]))


def _head_sum(v):
    return (np.concatenate([np.array(x) for x in v["heads"]]) @ np.array(v["W_O"])).tolist()


ROUTES = {
    "parameters.mha_total": _mha,
    "parameters.mha_bias": _mha_bias,
    "parameters.gqa_total": _gqa,
    "parameters.gqa_saving": _saving,
    "parameters.head_change": _change,
    "parameters.model_total": _model,
    "parameters.head_sum": _head_sum,
}
