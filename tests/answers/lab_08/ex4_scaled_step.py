"""Recorded answers to 8.4: wrong ones, and right ones in other styles."""

import copy
import math

import numpy as np
import tensorflow as tf


class Scaler:
    """What most answers to 8.4 have in common; each wrong one changes one thing."""

    asks_at = staticmethod(lambda scale: scale)
    back = 0.5
    kept_count = staticmethod(lambda good: 0)
    after_double = 0
    growth = 0
    counts = 1
    doubles = True

    def gradients(self, gradients_at, weights, scale):
        asked = self.asks_at(scale)
        return [g.astype("float32") / asked for g in gradients_at(weights, asked)]

    def finite(self, gradients):
        return all(np.isfinite(g).all() for g in gradients)

    def skipped(self, weights, gradients, rate):
        return weights

    def kept(self, weights):
        return weights

    def __call__(self, weights, gradients_at, learning_rate, state, growth_steps):
        scale, good = state["scale"], state["good_steps"]
        gradients = self.gradients(gradients_at, weights, scale)
        if not self.finite(gradients):
            new = self.skipped(weights, gradients, learning_rate)
            return new, {"scale": scale * self.back, "good_steps": self.kept_count(good)}
        pairs = zip(weights, gradients, strict=True)
        new = self.kept([w - learning_rate * g for w, g in pairs])
        good += self.counts
        if good >= growth_steps + self.growth and self.doubles:
            scale, good = 2 * scale, good * self.after_double
        return new, {"scale": scale, "good_steps": good}


def scaler(name, **changes):
    made = type(name, (Scaler,), changes)()
    made.__name__ = name
    return made


def start_step(weights, gradients_at, learning_rate, state, growth_steps):
    gradients = gradients_at(weights, 1.0)
    pairs = zip(weights, gradients, strict=True)
    return [w - learning_rate * g.astype("float32") for w, g in pairs], dict(state)


def moves_anyway(weights, gradients, rate):
    return [w - rate * g for w, g in zip(weights, gradients, strict=True)]


def asks_twice(weights, gradients_at, learning_rate, state, growth_steps):
    gradients_at(weights, state["scale"])
    return plain_scaler(weights, gradients_at, learning_rate, state, growth_steps)


def changes_the_state(weights, gradients_at, learning_rate, state, growth_steps):
    new, after = plain_scaler(weights, gradients_at, learning_rate, state, growth_steps)
    state.update(after)
    return new, state


def changes_the_weights(weights, gradients_at, learning_rate, state, growth_steps):
    new, after = plain_scaler(weights, gradients_at, learning_rate, state, growth_steps)
    for old, changed in zip(weights, new, strict=True):
        old[...] = changed
    return weights, after


def gives_weights_only(weights, gradients_at, learning_rate, state, growth_steps):
    return plain_scaler(weights, gradients_at, learning_rate, state, growth_steps)[0][:1]


def asks_in_half_precision(weights, gradients_at, learning_rate, state, growth_steps):
    def asked(weights, scale):
        return gradients_at([w.astype("float16") for w in weights], scale)

    return by_copy(weights, asked, learning_rate, state, growth_steps)


def gives_tensors(weights, gradients_at, learning_rate, state, growth_steps):
    new, after = by_copy(weights, gradients_at, learning_rate, state, growth_steps)
    return [tf.constant(w) for w in new], after


def adds_up_in_half(weights, gradients_at, learning_rate, state, growth_steps):
    """The sum of large gradients is infinite in float16."""

    def asked(weights, scale):
        gradients = gradients_at(weights, scale)
        fine = all(np.isfinite(g.sum()) for g in gradients)
        return gradients if fine else [np.full_like(g, np.inf) for g in gradients]

    return by_copy(weights, asked, learning_rate, state, growth_steps)


def caps_the_scale(weights, gradients_at, learning_rate, state, growth_steps):
    new, after = plain_scaler(weights, gradients_at, learning_rate, state, growth_steps)
    return new, after | {"scale": min(after["scale"], 2.0**16)}


def at_least_one(weights, gradients_at, learning_rate, state, growth_steps):
    new, after = plain_scaler(weights, gradients_at, learning_rate, state, growth_steps)
    return new, after | {"scale": max(after["scale"], 1.0)}


plain_scaler = scaler("plain_scaler")
WRONG_SCALERS = [
    ("scaled", "never_scaled", scaler("never_scales", asks_at=staticmethod(lambda s: 1.0))),
    ("scaled", "scaled", scaler("asks_at_twice", asks_at=staticmethod(lambda s: 2 * s))),
    ("unscaled", "not_unscaled", scaler("keeps_it_scaled",
        gradients=lambda s, f, w, scale: [g.astype("float32") for g in f(w, scale)])),
    ("unscaled", "weights", scaler("divides_twice", gradients=lambda s, f, w, scale: [
        g.astype("float32") / scale / scale for g in f(w, scale)])),
    ("float32", "unscaled_in_half", scaler("divides_in_half",
        gradients=lambda s, f, w, scale: [
            (g / np.float16(scale)).astype("float32") for g in f(w, scale)])),
    ("weights", "half_weights", scaler("weights_in_half", kept=lambda s, new: [
        w.astype("float16").astype("float32") for w in new])),
    ("skip", "updated_anyway", scaler("moves_anyway",
        skipped=lambda s, w, g, rate: moves_anyway(w, g, rate))),
    ("skip", "zeroed", scaler("moves_the_others",
        skipped=lambda s, w, g, rate: moves_anyway(
            w, [np.where(np.isfinite(one), one, 0) for one in g], rate))),
    ("skip", "first_only", scaler("looks_at_the_first",
        finite=lambda s, g: np.isfinite(g[0]).all())),
    ("both", "only_inf", scaler("knows_infinity",
        finite=lambda s, g: not any(np.isinf(one).any() for one in g))),
    ("both", "only_nan", scaler("knows_nan",
        finite=lambda s, g: not any(np.isnan(one).any() for one in g))),
    ("halve", "not_halved", scaler("keeps_the_scale", back=1.0)),
    ("halve", "state", scaler("quarters", back=0.25)),
    ("halve", "count_kept", scaler("keeps_the_count",
        kept_count=staticmethod(lambda n: n))),
    ("count", "state", scaler("never_counts", counts=0)),
    ("halve", "state", scaler("counts_bad_ones",
        kept_count=staticmethod(lambda n: n + 1))),
    ("double", "count_after", scaler("counts_on", after_double=1)),
    ("double", "never_doubled", scaler("never_doubles", doubles=False)),
    ("double", "late", scaler("doubles_late", growth=1)),
    ("double", "early", scaler("doubles_early", growth=-1)),
    ("weights", "type", scaler("divides_in_double",
        gradients=lambda s, f, w, scale: [
            g.astype("float64") / scale for g in f(w, scale)])),
    ("skip", "state", scaler("takes_the_large_for_infinite",
        finite=lambda s, g: max(np.abs(one).max() for one in g) < 15)),
    ("double", "state", caps_the_scale),
    ("halve", "state", at_least_one),
    ("once", "once", asks_twice),
    ("at", "at", asks_in_half_precision),
    ("weights", "type", gives_tensors),
    ("skip", "state", adds_up_in_half),
    ("unchanged", "changed", changes_the_state),
    ("unchanged", "changed", changes_the_weights),
]  # fmt: skip


def scale_first(weights, gradients_at, learning_rate, state, growth_steps):
    scale = state["scale"]
    scaled = gradients_at(weights, scale)
    if any(not np.all(np.isfinite(g)) for g in scaled):
        return weights, {"scale": scale / 2, "good_steps": 0}
    step = learning_rate / scale
    new = [
        w - step * np.asarray(g, "float32") for w, g in zip(weights, scaled, strict=True)
    ]
    count = (state["good_steps"] + 1) % growth_steps
    return new, {"scale": scale if count else 2 * scale, "good_steps": count}


def by_concatenation(weights, gradients_at, learning_rate, state, growth_steps):
    scale = state["scale"]
    gradients = [np.float32(g) / np.float32(scale) for g in gradients_at(weights, scale)]
    if not np.isfinite(np.concatenate([g.ravel() for g in gradients])).all():
        return [w.copy() for w in weights], {"scale": scale * 0.5, "good_steps": 0}
    new = list(map(lambda w, g: w - learning_rate * g, weights, gradients))
    good = state["good_steps"] + 1
    if good < growth_steps:
        return new, {"scale": scale, "good_steps": good}
    return new, {"scale": scale * 2, "good_steps": 0}


def by_sum(weights, gradients_at, learning_rate, state, growth_steps):
    gradients = [g.astype(float) for g in gradients_at(weights, state["scale"])]
    if not math.isfinite(sum(float(np.abs(g).sum()) for g in gradients)):
        return weights, {"scale": state["scale"] / 2, "good_steps": 0}
    new = []
    for w, g in zip(weights, gradients, strict=True):
        new.append((w - learning_rate * g / state["scale"]).astype("float32"))
    after = dict(state, good_steps=state["good_steps"] + 1)
    if after["good_steps"] == growth_steps:
        after = {"scale": 2 * state["scale"], "good_steps": 0}
    return new, after


def by_tensors(weights, gradients_at, learning_rate, state, growth_steps):
    gradients = [tf.cast(g, "float32") for g in gradients_at(weights, state["scale"])]
    fine = all(bool(tf.reduce_all(tf.math.is_finite(g))) for g in gradients)
    new = dict(state)
    if not fine:
        return weights, {"scale": state["scale"] / 2.0, "good_steps": 0}
    new["good_steps"] += 1
    if new["good_steps"] == growth_steps:
        new = {"scale": state["scale"] * 2.0, "good_steps": 0}
    pairs = zip(weights, gradients, strict=True)
    return [(w - learning_rate * g / state["scale"]).numpy() for w, g in pairs], new


def by_copy(weights, gradients_at, learning_rate, state, growth_steps):
    state, weights = copy.deepcopy(state), [w.copy() for w in weights]
    gradients = gradients_at(weights, state["scale"])
    if min(np.isfinite(g).min() for g in gradients):
        for w, g in zip(weights, gradients, strict=True):
            w -= learning_rate * g.astype("float32") / state["scale"]
        state["good_steps"] += 1
        if state["good_steps"] == growth_steps:
            state["scale"] *= 2
            state["good_steps"] = 0
    else:
        state["scale"] /= 2
        state["good_steps"] = 0
    return weights, state


def by_exception(weights, gradients_at, learning_rate, state, growth_steps):
    scale, good = state["scale"], state["good_steps"]
    try:
        gradients = [
            np.asarray_chkfinite(g).astype("float32") / scale
            for g in gradients_at(weights, scale)
        ]
    except ValueError:
        return weights, {"scale": scale / 2, "good_steps": 0}
    doubles = good + 1 == growth_steps
    return (
        [w - learning_rate * g for w, g in zip(weights, gradients, strict=True)],
        {"scale": scale * (2 if doubles else 1), "good_steps": 0 if doubles else good + 1},
    )


def by_largest(weights, gradients_at, learning_rate, state, growth_steps):
    gradients = [
        np.array(g, dtype=np.float64) for g in gradients_at(weights, state["scale"])
    ]
    if not max(np.abs(g).max() for g in gradients) < np.inf or any(
        np.isnan(g).any() for g in gradients
    ):
        return weights, {"scale": state["scale"] / 2, "good_steps": 0}
    good = state["good_steps"] + 1
    new = [
        np.float32(w - learning_rate / state["scale"] * g)
        for w, g in zip(weights, gradients, strict=True)
    ]
    full = good == growth_steps
    return new, {"scale": state["scale"] * 2**full, "good_steps": good * (not full)}


def by_divmod(weights, gradients_at, learning_rate, state, growth_steps):
    gradients = gradients_at(weights, state["scale"])
    if not all(map(np.all, map(np.isfinite, gradients))):
        return weights, {"scale": state["scale"] / 2, "good_steps": 0}
    full, good = divmod(state["good_steps"] + 1, growth_steps)
    gradients = [g.astype("float32") / state["scale"] for g in gradients]
    new = [w - learning_rate * g for w, g in zip(weights, gradients, strict=True)]
    return tuple(new), {"scale": state["scale"] * 2**full, "good_steps": good}


def by_nested_functions(weights, gradients_at, learning_rate, state, growth_steps):
    scale = state["scale"]

    def bad(g):
        return np.isnan(g).any() or np.isinf(g).any()

    def moved(w, g):
        return w - np.float32(learning_rate) * (g.astype(np.float32) / np.float32(scale))

    gradients = gradients_at(weights, scale)
    if sum(bad(g) for g in gradients):
        return list(weights), {"good_steps": 0, "scale": scale / 2}
    good = state["good_steps"] + 1
    new = [moved(*pair) for pair in zip(weights, gradients, strict=True)]
    if good == growth_steps:
        return new, {"good_steps": 0, "scale": scale * 2}
    return new, {"good_steps": good, "scale": scale}


class CountsItself(Scaler):
    """A counter of its own: what `state` says of it counts for nothing."""

    __name__ = "CountsItself"
    good, last = 0, None

    def __call__(self, weights, gradients_at, learning_rate, state, growth_steps):
        if state is not self.last:  # another training has begun
            self.good = 0
        mine = state | {"good_steps": self.good}
        new, after = super().__call__(
            weights, gradients_at, learning_rate, mine, growth_steps
        )
        self.good, self.last = after["good_steps"], after
        return new, after


WRONG = [
    ("count", "own_count", CountsItself()),
    ("scaled", "start", start_step),
    *WRONG_SCALERS,
    ("unchanged", "raised", gives_weights_only),
]
RIGHT = [
    plain_scaler, scale_first, by_concatenation, by_sum, by_tensors, by_copy,
    by_exception, by_largest, by_divmod, by_nested_functions,
]  # fmt: skip
