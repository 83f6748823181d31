"""Independent routes for card 13: counting allocated numbers one by one instead of multiplying sizes."""


def per_token(v):
    one_layer = [[0] * v["d_h"] for _ in ("key", "value") for _ in range(v["H_kv"])]
    return sum(len(vector) for vector in one_layer for _ in range(v["L"])) * v["b"]


ROUTES = {
    "kv_cache.per_token": per_token,
}
