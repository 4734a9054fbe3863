"""Recorded answers to 10.2: wrong ones, and right ones in other styles."""

import numpy as np


def cluster_answer(
    compute=lambda n, b, t0, peak: t0 + b / peak,
    messages=lambda n: 2 * (n - 1),
    chunk=lambda n, gradient: gradient / n,
    send=lambda messages, latency, seconds: messages * (latency + seconds),
    beside=lambda b, t0, peak: 2 / 3 * b / peak,
    left=lambda send, beside: max(0.0, send - beside),
    in_turn=lambda compute, send: compute + send,
    images=lambda n, b: n * b,
    efficiency=lambda images_per_second, n, b, compute, peak: (
        images_per_second / (n * b / compute)
    ),
    made=dict,
):
    """An answer to 10.2 with these parts; as they stand it is right."""

    def answer(n, b, t0, peak, gradient_bytes, latency, bytes_per_second):
        computing = compute(n, b, t0, peak)
        seconds = chunk(n, gradient_bytes) / bytes_per_second
        sending = send(messages(n), latency, seconds)
        steps = {
            "in_turn": in_turn(computing, sending),
            "overlapped": computing + left(sending, beside(b, t0, peak)),
        }
        speeds = {way: images(n, b) / step for way, step in steps.items()}
        return made(
            {
                way: (speed, efficiency(n * b / steps[way], n, b, computing, peak))
                for way, speed in speeds.items()
            }
        )

    return answer


def sends_nothing(n, b, t0, peak, gradient_bytes, latency, bytes_per_second):
    both = n * b / (t0 + b / peak), 1.0
    return {"in_turn": both, "overlapped": both}


def other_efficiency(formula):
    return cluster_answer(efficiency=formula)


WRONG_CLUSTERS = {
    "sends_nothing": sends_nothing,
    "no_fixed_cost": cluster_answer(compute=lambda n, b, t0, peak: b / peak),
    "computes_the_global_batch": cluster_answer(
        compute=lambda n, b, t0, peak: t0 + n * b / peak
    ),
    "shares_the_batch": cluster_answer(compute=lambda n, b, t0, peak: t0 + b / peak / n),
    "goes_around_once": cluster_answer(messages=lambda n: n - 1),
    "sends_one_more": cluster_answer(messages=lambda n: 2 * n),
    "two_messages": cluster_answer(messages=lambda n: 2),
    "whole_bytes": cluster_answer(chunk=lambda n, gradient: gradient // n),
    "whole_gradients": cluster_answer(chunk=lambda n, gradient: gradient),
    "one_latency": cluster_answer(send=lambda m, latency, seconds: latency + m * seconds),
    "no_latency": cluster_answer(send=lambda m, latency, seconds: m * seconds),
    "two_gradients": cluster_answer(
        chunk=lambda n, gradient: gradient / max(1, n - 1),
        send=lambda m, latency, seconds: m * latency + max(2, m) * seconds,
    ),
    "sends_bits": cluster_answer(send=lambda m, latency, s: m * (latency + 8 * s)),
    "hides_all": cluster_answer(beside=lambda b, t0, peak: t0 + b / peak),
    "hides_the_fixed_cost": cluster_answer(
        beside=lambda b, t0, peak: 2 / 3 * (t0 + b / peak)
    ),
    "hides_a_third": cluster_answer(beside=lambda b, t0, peak: b / peak / 3),
    "hides_half": cluster_answer(beside=lambda b, t0, peak: b / peak / 2),
    "hides_the_images": cluster_answer(beside=lambda b, t0, peak: b / peak),
    "below_nothing": cluster_answer(left=lambda send, beside: send - beside),
    "all_or_nothing": cluster_answer(
        left=lambda send, beside: send if send > beside else 0.0
    ),
    "in_turn_takes_the_longer": cluster_answer(in_turn=max),
    "of_one_device": cluster_answer(images=lambda n, b: b),
    "of_the_peak": other_efficiency(lambda speed, n, b, compute, peak: speed / (n * peak)),
    "of_no_device": other_efficiency(lambda speed, n, b, compute, peak: speed / (n * b)),
    "a_percentage": other_efficiency(
        lambda speed, n, b, compute, peak: 100 * speed * compute / (n * b)
    ),
    "a_speed_up": other_efficiency(lambda speed, n, b, compute, peak: speed * compute / b),
    "swaps_them": cluster_answer(
        made=lambda said: {"in_turn": said["overlapped"], "overlapped": said["in_turn"]}
    ),
    "one_device_sends_to_itself": cluster_answer(messages=lambda n: max(1, 2 * (n - 1))),
    "efficiency_first": cluster_answer(
        made=lambda said: {way: pair[::-1] for way, pair in said.items()}
    ),
    "only_speeds": cluster_answer(made=lambda said: {w: p[:1] for w, p in said.items()}),
}
for _name, _answer in WRONG_CLUSTERS.items():
    _answer.__name__ = _name


def of_bounds(n, b, t0, peak, gradient_bytes, latency, bytes_per_second):
    """From the lower and the upper end of each part."""
    forward, backward = b / peak / 3, 2 * b / peak / 3
    ring = 2 * (n - 1) * latency + 2 * (n - 1) / n * gradient_bytes / bytes_per_second
    alone = b / (t0 + forward + backward)
    out = {}
    for name, rest in (("in_turn", backward + ring), ("overlapped", max(backward, ring))):
        speed = n * b / (t0 + forward + rest)
        out[name] = speed, speed / n / alone
    return out


def with_numpy_steps(n, b, t0, peak, gradient_bytes, latency, bytes_per_second):
    compute = t0 + b / peak
    ring = np.sum(np.full(2 * n - 2, latency + gradient_bytes / n / bytes_per_second))
    steps = compute + np.array([ring, np.maximum(0, ring - b / peak * 2 / 3)])
    pairs = np.stack([n * b / steps, compute / steps], axis=1)
    return dict(zip(["in_turn", "overlapped"], pairs, strict=True))


def with_phases(n, b, t0, peak, gradient_bytes, latency, bytes_per_second):
    reduce_scatter = (n - 1) * (latency + gradient_bytes / (n * bytes_per_second))
    all_gather, compute = reduce_scatter, t0 + b / peak
    messages = reduce_scatter + all_gather
    hidden = min(messages, 2 * b / (3 * peak))

    def pair(step):
        return n * b / step, compute / step

    step = compute + messages
    return {"in_turn": pair(step), "overlapped": pair(step - hidden)}


def with_clip(n, b, t0, peak, gradient_bytes, latency, bytes_per_second):
    ring = 2 * (n - 1) * (latency + gradient_bytes / n / bytes_per_second)
    compute = t0 + b / peak
    found = {}
    for way, hidden in {"in_turn": 0.0, "overlapped": 2 * b / peak / 3}.items():
        step = compute + float(np.clip(ring - hidden, 0, None))
        found[way] = [n * b / step, compute / step]
    return found


def with_case(n, *rest):
    b, t0, peak = rest[:3]
    if n == 1:
        alone = b / (t0 + b / peak), 1.0
        return {"in_turn": alone, "overlapped": alone}
    return of_bounds(n, *rest)


RIGHT_CLUSTERS = [
    cluster_answer(), of_bounds, with_numpy_steps, with_phases, with_clip, with_case,
    cluster_answer(made=lambda said: {w: list(p) for w, p in said.items()}),
    cluster_answer(messages=lambda n: 2 * n - 2),
    cluster_answer(left=lambda send, beside: (send - beside) * (send > beside)),
    cluster_answer(
        efficiency=lambda speed, n, b, compute, peak: speed / n / (b / compute)
    ),
    cluster_answer(send=lambda m, latency, each: sum(latency + each for _ in range(m))),
]  # fmt: skip


def fills_one_dict(*cluster, found={}):  # noqa: B006
    """The default is made once: a later call changes what earlier ones returned."""
    found.update(cluster_answer()(*cluster))
    return found


WRONG = [
    ("apart", "kept", fills_one_dict),
    ("messages", "start", sends_nothing),
    ("compute", "no_fixed_cost", WRONG_CLUSTERS["no_fixed_cost"]),
    ("compute", "global_batch", WRONG_CLUSTERS["computes_the_global_batch"]),
    ("compute", "shared_batch", WRONG_CLUSTERS["shares_the_batch"]),
    ("messages", "one_half", WRONG_CLUSTERS["goes_around_once"]),
    ("messages", "one_more", WRONG_CLUSTERS["sends_one_more"]),
    ("messages", "no_ring", WRONG_CLUSTERS["two_messages"]),
    ("chunk", "whole_gradient", WRONG_CLUSTERS["whole_gradients"]),
    ("latency", "latency_once", WRONG_CLUSTERS["one_latency"]),
    ("latency", "no_latency", WRONG_CLUSTERS["no_latency"]),
    ("latency", "bits", WRONG_CLUSTERS["sends_bits"]),
    ("chunk", "two_gradients", WRONG_CLUSTERS["two_gradients"]),
    ("chunk", "whole_bytes", WRONG_CLUSTERS["whole_bytes"]),
    ("hidden", "hides_all", WRONG_CLUSTERS["hides_all"]),
    ("hidden", "hides_fixed_cost", WRONG_CLUSTERS["hides_the_fixed_cost"]),
    ("hidden", "hides_a_third", WRONG_CLUSTERS["hides_a_third"]),
    ("hidden", "hides_the_images", WRONG_CLUSTERS["hides_the_images"]),
    ("floor", "below_nothing", WRONG_CLUSTERS["below_nothing"]),
    ("hidden", "overlapped", WRONG_CLUSTERS["hides_half"]),
    ("hidden", "all_or_nothing", WRONG_CLUSTERS["all_or_nothing"]),
    ("in_turn", "in_turn", WRONG_CLUSTERS["in_turn_takes_the_longer"]),
    ("in_turn", "swapped", WRONG_CLUSTERS["swaps_them"]),
    ("images", "one_device", WRONG_CLUSTERS["of_one_device"]),
    ("efficiency", "of_the_peak", WRONG_CLUSTERS["of_the_peak"]),
    ("efficiency", "efficiency", WRONG_CLUSTERS["of_no_device"]),
    ("efficiency", "percent", WRONG_CLUSTERS["a_percentage"]),
    ("efficiency", "times_devices", WRONG_CLUSTERS["a_speed_up"]),
    ("efficiency", "form", WRONG_CLUSTERS["only_speeds"]),
    ("efficiency", "efficiency_first", WRONG_CLUSTERS["efficiency_first"]),
    ("alone", "alone", WRONG_CLUSTERS["one_device_sends_to_itself"]),
]
RIGHT = RIGHT_CLUSTERS
