"""Recorded answers to 2.2: wrong ones, and right ones in other styles."""

import math


def measures_all_again(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        try:
            points[batch_size] = measure(batch_size)
        except MemoryError:
            points[batch_size] = None
            break


def start_code(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        points[batch_size] = measure(batch_size)


def lets_it_crash(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            points[batch_size] = measure(batch_size)


def forgets_to_record(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size in points:
            if points[batch_size] is None:
                break
            continue
        try:
            points[batch_size] = measure(batch_size)
        except MemoryError:
            break


def records_zero(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except MemoryError:
                points[batch_size] = 0.0
        if not points[batch_size]:
            break


def goes_on(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except MemoryError:
                points[batch_size] = None


def forgets_the_none_of_an_earlier_run(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size in points:
            continue
        try:
            points[batch_size] = measure(batch_size)
        except MemoryError:
            points[batch_size] = None
            return


def stores_at_the_end(batch_sizes, measure, points):
    found = {}
    for batch_size in batch_sizes:
        if batch_size in points:
            if points[batch_size] is None:
                break
            continue
        try:
            found[batch_size] = measure(batch_size)
        except MemoryError:
            found[batch_size] = None
            break
    points.update(found)


def stops_at_a_known_size(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size in points:
            break
        try:
            points[batch_size] = measure(batch_size)
        except MemoryError:
            points[batch_size] = None
            break


def from_the_largest(batch_sizes, measure, points):
    for batch_size in batch_sizes[::-1]:
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except MemoryError:
                points[batch_size] = None


def sorts_the_sizes(batch_sizes, measure, points):
    lets_known_ones_be(sorted(batch_sizes), measure, points)


def rounds_to_hundredths(batch_sizes, measure, points):
    lets_known_ones_be(batch_sizes, lambda size: round(measure(size), 2), points)


def catches_value_errors(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except (MemoryError, ValueError):
                points[batch_size] = None
        if points[batch_size] is None:
            break


def stores_seconds(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = batch_size / measure(batch_size)
            except MemoryError:
                points[batch_size] = None
        if points[batch_size] is None:
            break


def rounds(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = round(measure(batch_size))
            except MemoryError:
                points[batch_size] = None
        if points[batch_size] is None:
            break


def text_keys(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[str(batch_size)] = measure(batch_size)
            except MemoryError:
                points[str(batch_size)] = None
                break
        elif points[batch_size] is None:
            break


def gives_up(batch_sizes, measure, points):
    if None in points.values():
        return
    lets_known_ones_be(batch_sizes, measure, points)


def catches_everything(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except:  # noqa: E722
                points[batch_size] = None
        if points[batch_size] is None:
            break


def passes_over_errors(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except MemoryError:
                points[batch_size] = None
            except Exception:
                continue
        if points[batch_size] is None:
            break


def takes_from_the_list(batch_sizes, measure, points):
    while batch_sizes:
        batch_size = batch_sizes.pop(0)
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except MemoryError:
                points[batch_size] = None
        if points[batch_size] is None:
            break


def misspells(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        points[batchsize] = measure(batch_size)  # noqa: F821


def lets_known_ones_be(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size in points:
            if points[batch_size] is None:
                return
            continue
        try:
            points[batch_size] = measure(batch_size)
        except MemoryError:
            points[batch_size] = None
            return


def with_get(batch_sizes, measure, points):
    for size in batch_sizes:
        if points.get(size, "new") is None:
            break
        if size in points.keys():  # noqa: SIM118
            continue
        try:
            speed = measure(size)
        except MemoryError:
            speed = None
        points[size] = speed
        if speed is None:
            break


def with_while(batch_sizes, measure, points):
    i = 0
    while i < len(batch_sizes) and points.get(batch_sizes[i], 0) is not None:
        size = batch_sizes[i]
        i += 1
        if size in points:
            continue
        try:
            points.update({size: measure(size)})
        except MemoryError as error:
            print("no room:", error)
            points.update({size: None})
            break


def with_a_flag(batch_sizes, measure, points):
    full = False
    for b in batch_sizes:
        if full:
            continue
        if b in points:
            full = points[b] is None
        else:
            try:
                points[b] = measure(b)
            except MemoryError:
                points[b] = None
                full = True


def cuts_the_list_first(batch_sizes, measure, points):
    too_large = [b for b in batch_sizes if b in points and points[b] is None]
    todo = [b for b in batch_sizes if b < min(too_large, default=math.inf)]
    try:
        for b in todo:
            last = b
            if b not in points:
                points[b] = measure(b)
    except MemoryError:
        points[last] = None


def by_recursion(batch_sizes, measure, points):
    if not batch_sizes:
        return
    first, *rest = batch_sizes
    if first not in points:
        try:
            points[first] = measure(first)
        except MemoryError:
            points[first] = None
    if points[first] is not None:
        by_recursion(rest, measure, points)


def with_a_helper(batch_sizes, measure, points):
    def speed_of(size):
        try:
            return measure(size)
        except MemoryError:
            return None

    for size in batch_sizes:
        if size not in points:
            points[size] = speed_of(size)
        if points[size] is None:
            return points
    return points


def with_any(batch_sizes, measure, points):
    def does_not_fit(size):
        if size not in points:
            try:
                points[size] = measure(size)
            except MemoryError:
                points[size] = None
        return points[size] is None

    any(does_not_fit(size) for size in batch_sizes)


def with_else(batch_sizes, measure, points):
    for size in batch_sizes:
        if size not in points:
            try:
                speed = measure(size)
            except MemoryError:
                points[size] = None
                break
            else:
                points[size] = speed
        elif points[size] is None:
            break


def with_setdefault(batch_sizes, measure, points):
    for size in batch_sizes:
        try:
            size in points or points.setdefault(size, measure(size))
        except MemoryError:
            points.setdefault(size, None)
        if points[size] is None:
            break


def catches_the_stop_button(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except (MemoryError, KeyboardInterrupt):
                points[batch_size] = None
        if points[batch_size] is None:
            break


def looks_for_a_word_in_the_message(batch_sizes, measure, points):
    for batch_size in batch_sizes:
        if batch_size not in points:
            try:
                points[batch_size] = measure(batch_size)
            except Exception as error:
                if not isinstance(error, MemoryError) and "memory" not in str(error):
                    raise
                points[batch_size] = None
        if points[batch_size] is None:
            break


def looks_at_the_points_once(batch_sizes, measure, points):
    """Measures a size twice that is listed twice."""
    left = []
    for size in batch_sizes:
        if size not in points:
            left.append(size)
        elif points[size] is None:
            break
    for size in left:
        try:
            points[size] = measure(size)
        except MemoryError:
            points[size] = None
            break


WRONG = [
    ("every_size", "other", looks_at_the_points_once),
    ("other_errors", "caught_stop", catches_the_stop_button),
    ("other_errors", "caught_message", looks_for_a_word_in_the_message),
    ("known", "start", start_code),
    ("known", "measured_again", measures_all_again),
    ("none", "crashed", lets_it_crash),
    ("none", "not_recorded", forgets_to_record),
    ("none", "other", records_zero),
    ("stop", "went_on", goes_on),
    ("stop_later", "went_on_later", forgets_the_none_of_an_earlier_run),
    ("at_once", "late", stores_at_the_end),
    ("at_once", "text_keys", text_keys),
    ("every_size", "stopped_early", stops_at_a_known_size),
    ("every_size", "other", from_the_largest),
    ("every_size", "other", sorts_the_sizes),
    ("every_size", "gave_up", gives_up),
    ("every_size", "changed", takes_from_the_list),
    ("every_size", "raised", misspells),
    ("value", "value", stores_seconds),
    ("value", "value", rounds),
    ("value", "value", rounds_to_hundredths),
    ("other_errors", "caught_all", catches_everything),
    ("other_errors", "caught_all", catches_value_errors),
    ("other_errors", "other", passes_over_errors),
]
RIGHT = [
    lets_known_ones_be, with_get, with_while, with_a_flag, cuts_the_list_first,
    by_recursion, with_a_helper, with_any, with_else, with_setdefault,
]  # fmt: skip
