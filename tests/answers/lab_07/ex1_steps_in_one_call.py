"""Recorded answers to 7.1: wrong ones, and right ones in other styles."""

import functools

import keras
import tensorflow as tf


# --- 7.1 ------------------------------------------------------------------
def _answer(made, mean=lambda total, count, block: total / tf.cast(count, "float32")):
    """The reference, with another loop or another way to sum up."""

    def steps_in_one_call(one_step, cores):
        @tf.function
        def graph(block, count):
            total = tf.zeros(cores)
            for i in made(count, block):
                total += one_step(block, i)
            return mean(total, count, block)

        return lambda block, count: graph(block, tf.constant(count))

    return steps_in_one_call


def a_graph_of_one_step(one_step, cores):
    step = tf.function(one_step)

    def run(block, count):
        total = tf.zeros(cores)
        for i in range(count):
            total += step(block, tf.constant(i))
        return total / count

    return run


def a_graph_for_every_count(one_step, cores):
    @tf.function
    def run(block, count):
        total = tf.zeros(cores)
        for i in tf.range(count):
            total += one_step(block, i)
        return total / count

    return run


def unrolls_the_loop(one_step, cores):
    @tf.function
    def run(block, count):
        total = tf.zeros(cores)
        for i in range(count):
            total += one_step(block, i)
        return total / count

    return run


def unrolls_the_block(one_step, cores):
    """One program for all counts, but as long as the block."""

    @tf.function
    def graph(block, count):
        total = tf.zeros(cores)
        for i in range(block[0].shape[0]):
            total += tf.cond(
                i < count, lambda i=i: one_step(block, i), lambda: tf.zeros(cores)
            )
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


def remembers_the_first_count(one_step, cores):
    def run(block, count):
        if not hasattr(run, "graph"):

            @tf.function
            def graph(block):
                total = tf.zeros(cores)
                for i in tf.range(count):
                    total += one_step(block, i)
                return total / count

            run.graph = graph
        return run.graph(block)

    return run


def warms_up(one_step, cores):
    length = 4
    zeros = tf.zeros(length), tf.zeros((length, cores))
    one_step(zeros, 0)
    return _answer(lambda count, block: tf.range(count))(one_step, cores)


_newest = {}


def keeps_one_for_all(one_step, cores):
    _newest["step"] = one_step

    @tf.function
    def graph(block, count):
        total = tf.zeros(tf.shape(block[1])[1:])
        for i in tf.range(count):
            total += _newest["step"](block, i)
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


def makes_no_step(one_step, cores):
    return lambda block, count: tf.zeros(cores)


makes_the_filling_too = _answer(lambda count, block: tf.range(tf.shape(block[0])[0]))
makes_the_filling_too.__name__ = "makes_the_filling_too"
counts_from_step_one = _answer(lambda count, block: tf.range(1, count))
counts_from_step_one.__name__ = "counts_from_step_one"


def makes_the_first_step_twice(one_step, cores):
    @tf.function
    def graph(block, count):
        total = one_step(block, 0) * 0
        for i in tf.range(count):
            total += one_step(block, i)
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


goes_backwards = _answer(lambda count, block: tf.range(count - 1, -1, -1))
goes_backwards.__name__ = "goes_backwards"


def _sums_up(name, mean):
    answer = _answer(lambda count, block: tf.range(count), mean)
    answer.__name__ = name
    return answer


gives_the_sum = _sums_up("gives_the_sum", lambda total, count, block: total)
divides_by_the_block = _sums_up(
    "divides_by_the_block",
    lambda total, count, block: total / tf.cast(tf.shape(block[0])[0], "float32"),
)
divides_by_one_more = _sums_up(
    "divides_by_one_more",
    lambda total, count, block: total / tf.cast(count + 1, "float32"),
)
gives_one_mean = _sums_up(
    "gives_one_mean",
    lambda total, count, block: tf.reduce_mean(total) / tf.cast(count, "float32"),
)
gives_a_column = _sums_up(
    "gives_a_column",
    lambda total, count, block: total[:, None] / tf.cast(count, "float32"),
)


def gives_the_last_losses(one_step, cores):
    @tf.function
    def graph(block, count):
        losses = tf.zeros(cores)
        for i in tf.range(count):
            losses = one_step(block, i)
        return losses

    return lambda block, count: graph(block, tf.constant(count))


def reads_the_losses(one_step, cores):
    run = _answer(lambda count, block: tf.range(count))(one_step, cores)
    return lambda block, count: run(block, count).numpy()


def compiles_it(one_step, cores):
    @tf.function(jit_compile=True)
    def graph(block, count):
        total = tf.zeros(cores)
        for i in tf.range(count):
            total += one_step(block, i)
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


def with_a_while_loop(one_step, cores):
    @tf.function(reduce_retracing=True)
    def graph(block, count):
        _, total = tf.while_loop(
            lambda i, total: i < count,
            lambda i, total: (i + 1, tf.add(total, one_step(block, i))),
            (tf.constant(0), tf.zeros([cores])),
        )
        return tf.divide(total, tf.cast(count, total.dtype))

    def run(block, count):
        return graph(block, tf.convert_to_tensor(count, tf.int32))

    return run


def with_foldl(one_step, cores):
    graph = tf.function(
        lambda block, count: tf.foldl(
            lambda total, i: total + one_step(block, i),
            tf.range(count),
            initializer=tf.zeros(cores),
        )
    )
    return lambda block, count: graph(block, tf.constant(count)) / count


def keeps_all_losses(one_step, cores):
    """In an array of TensorFlow's, and the mean at the end."""

    @tf.function
    def graph(block, count):
        losses = tf.TensorArray(tf.float32, count, element_shape=(cores,))
        for i in tf.range(count):
            losses = losses.write(i, one_step(block, i))
        return tf.reduce_mean(losses.stack(), axis=0)

    return lambda block, count: graph(block, tf.constant(count))


def begins_with_the_first_step(one_step, cores):
    """The first step outside of the loop: traced twice, whatever the length."""

    @tf.function
    def graph(block, count):
        total = one_step(block, 0)
        for i in tf.range(1, count):
            total = total + one_step(block, i)
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


class Steps:
    """A class, whose objects are called."""

    def __init__(self, one_step, cores):
        self.one_step, self.cores = one_step, cores

    @tf.function
    def graph(self, block, count):
        mean = tf.zeros(self.cores)
        made = 0.0
        while made < count:
            losses = self.one_step(block, tf.cast(made, tf.int32))
            made += 1.0
            mean += (losses - mean) / made
        return mean

    def __call__(self, block, count):
        return self.graph(block, tf.constant(count, tf.float32))


def start_7_1(one_step, cores):
    def run(block, count):
        for i in range(count):
            losses = one_step(block, i)
        return losses

    return run


def makes_a_graph_each_time(one_step, cores):
    """A new tf.function for each call, around a step that is traced once."""
    step = tf.function(one_step)

    def run(block, count):
        @tf.function
        def graph(block, count):
            total = tf.zeros(cores)
            for i in tf.range(count):
                total += step(block, i)
            return total / tf.cast(count, tf.float32)

        return graph(block, tf.constant(count))

    return run


def hides_the_step_in_a_graph(one_step, cores):
    """one_step is traced once, and all around it for each count."""
    step = tf.function(one_step)

    @tf.function
    def run(block, count):
        total = tf.zeros(cores)
        for i in range(count):
            total += step(block, tf.constant(i))
        return total / count

    return run


def unrolls_graphs_of_steps(one_step, cores):
    step = tf.function(one_step)

    @tf.function
    def graph(block, count):
        total = tf.zeros(cores)
        for i in range(block[0].shape[0]):
            i = tf.constant(i)
            if i < count:
                total += step(block, i)
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


def cuts_the_block(one_step, cores):
    @tf.function
    def graph(block):
        total, count = tf.zeros(cores), tf.shape(block[0])[0]
        for i in tf.range(count):
            total += one_step(block, i)
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(tuple(part[:count] for part in block))


def gives_a_variable(one_step, cores):
    """The next `run` changes what this one has given."""
    with tf.device("CPU:0"):
        mean = tf.Variable(tf.zeros(cores))
    run = _answer(lambda count, block: tf.range(count))(one_step, cores)

    def assigns(block, count):
        mean.assign(run(block, count))
        return mean

    return assigns


def adds_in_float64(one_step, cores):
    @tf.function
    def graph(block, count):
        total = tf.zeros(cores, tf.float64)
        for i in tf.range(count):
            total += tf.cast(one_step(block, i), tf.float64)
        return total / tf.cast(count, tf.float64)

    return lambda block, count: graph(block, tf.constant(count))


def looks_for_nan(one_step, cores):
    run = _answer(lambda count, block: tf.range(count))(one_step, cores)

    def looks(block, count):
        losses = run(block, count)
        if tf.reduce_any(tf.math.is_nan(losses)):
            raise ValueError("a loss is nan")
        return losses

    return looks


def reads_a_variable(one_step, cores):
    """The count comes out of a variable, as a tensor."""
    run = _graph_of(one_step, cores)
    return lambda block, count: run(block, tf.Variable(count).read_value())


def _graph_of(one_step, cores):
    @tf.function
    def graph(block, count):
        total = tf.zeros(cores)
        for i in tf.range(count):
            total += one_step(block, i)
        return total / tf.cast(count, tf.float32)

    return graph


def eight_steps_a_graph(one_step, cores):
    """Python calls the graph again for every eight steps."""

    @tf.function
    def graph(block, first, last):
        total = tf.zeros(cores)
        for i in tf.range(first, last):
            total += one_step(block, i)
        return total

    def run(block, count):
        total = tf.zeros(cores)
        for first in range(0, count, 8):
            last = min(first + 8, count)
            total += graph(block, tf.constant(first), tf.constant(last))
        return total / count

    return run


eight_at_most = _answer(lambda count, block: tf.range(tf.minimum(count, 8)))
eight_at_most.__name__ = "eight_at_most"


def gives_a_list(one_step, cores):
    run = _answer(lambda count, block: tf.range(count))(one_step, cores)
    return lambda block, count: tf.unstack(run(block, count))


def forgets_to_return(one_step, cores):
    run = _answer(lambda count, block: tf.range(count))(one_step, cores)

    def forgets(block, count):
        run(block, count)

    return forgets


def keeps_its_sum(one_step, cores):
    total = tf.Variable(tf.zeros(cores))

    @tf.function
    def graph(block, count):
        for i in tf.range(count):
            total.assign_add(one_step(block, i))
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


def traces_in_advance(one_step, cores):
    """Asks for a program before anybody has a block."""
    spec = tf.TensorSpec([None]), tf.TensorSpec([None, cores])
    graph = tf.function(lambda block, i: one_step(block, i))
    graph.get_concrete_function(spec, tf.TensorSpec([], tf.int32))
    return _answer(lambda count, block: tf.range(count))(one_step, cores)


def adds_the_last_to_the_sum(one_step, cores):
    """A running mean that weighs the last step most."""

    @tf.function
    def graph(block, count):
        mean = one_step(block, 0)
        for i in tf.range(1, count):
            mean = 0.5 * (mean + one_step(block, i))
        return mean

    return lambda block, count: graph(block, tf.constant(count))


def _steps_by(name, made):
    answer = _answer(made)
    answer.__name__ = name
    return answer


leaves_the_last_out = _steps_by("leaves_the_last_out", lambda n, block: tf.range(n - 1))
counts_in_int64 = _steps_by(
    "counts_in_int64", lambda n, block: tf.range(tf.cast(n, "int64"))
)
takes_the_last_steps = _steps_by(
    "takes_the_last_steps",
    lambda n, block: tf.range(tf.shape(block[0])[0] - n, tf.shape(block[0])[0]),
)
makes_one_step_too_many = _steps_by(
    "makes_one_step_too_many",
    lambda n, block: tf.range(tf.minimum(n + 1, tf.shape(block[0])[0])),
)
always_the_first_step = _steps_by(
    "always_the_first_step", lambda n, block: tf.zeros(n, tf.int32)
)
even_steps_first = _steps_by(
    "even_steps_first",
    lambda n, block: tf.concat([tf.range(0, n, 2), tf.range(1, n, 2)], 0),
)


def with_a_signature(one_step, cores):
    @tf.function(
        input_signature=[
            (tf.TensorSpec([None]), tf.TensorSpec([None, cores])),
            tf.TensorSpec([], tf.int32),
        ]
    )
    def graph(block, count):
        total = tf.zeros((cores,))
        for i in tf.range(count):
            total = total + one_step(block, i)
        return total / tf.cast(count, total.dtype)

    return lambda block, count: graph(block, count)


def with_keras_ops(one_step, cores):
    @tf.function
    def graph(block, count):
        total = keras.ops.fori_loop(
            0, count, lambda i, total: total + one_step(block, i), keras.ops.zeros(cores)
        )
        return total / keras.ops.cast(count, "float32")

    return lambda block, count: graph(block, keras.ops.convert_to_tensor(count))


def with_map(one_step, cores):
    def graph(block, numbers):
        losses = tf.map_fn(
            lambda i: one_step(block, i), numbers, tf.float32, parallel_iterations=1
        )
        return tf.math.reduce_mean(losses, axis=0)

    graph = tf.function(graph)

    @tf.function
    def outer(block, count):
        return graph(block, tf.range(count))

    def run(block, count):
        return outer(block, tf.constant(count, dtype="int32"))

    return run


def by_partial(one_step, cores):
    return functools.partial(_run, tf.function(functools.partial(_loop, one_step, cores)))


def _run(graph, block, count):
    return graph(block, tf.constant(count))


def _loop(one_step, cores, block, count):
    total, i = tf.zeros([cores]), 0
    while i < count:
        total, i = total + one_step(block, i), i + 1
    return total / tf.cast(i, tf.float32)


def with_a_variable(one_step, cores):
    """The sum in a variable, which starts again in each call."""
    with tf.device("CPU:0"):
        total = tf.Variable(tf.zeros(cores), trainable=False)

    @tf.function
    def graph(block, count):
        total.assign(tf.zeros(cores))
        for i in tf.range(count):
            total.assign_add(one_step(block, i))
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


def with_a_break(one_step, cores):
    @tf.function(reduce_retracing=True)
    def graph(block, count):
        total = tf.zeros(cores)
        for i in tf.range(tf.shape(block[0])[0]):
            if i == count:
                break
            total += one_step(block, i)
        return total / tf.cast(count, tf.float32)

    return lambda block, count: graph(block, tf.constant(count))


def with_a_dict(one_step, cores):
    """A program for each length of a block, by hand."""
    programs = {}

    def graph(block, count):
        total = tf.zeros(cores)
        for i in tf.range(count):
            total += one_step(block, i)
        return total / tf.cast(count, tf.float32)

    def run(block, count):
        key = str(block[0].shape)
        if key not in programs:
            programs[key] = tf.function(graph)
        return programs[key](block, tf.constant(count))

    return run


WRONG = [
    ("traced_once", "start", start_7_1),
    ("python", "host", a_graph_of_one_step),
    ("python", "host", eight_steps_a_graph),
    ("traced_once", "retraced", a_graph_for_every_count),
    ("traced_once", "retraced", unrolls_the_loop),
    ("traced_once", "retraced", cuts_the_block),
    ("python", "traced_around", hides_the_step_in_a_graph),
    ("python", "new_graph", makes_a_graph_each_time),
    ("long_block", "unrolled", unrolls_the_block),
    ("long_block", "unrolled", unrolls_graphs_of_steps),
    ("first_steps", "baked", remembers_the_first_count),
    ("traced_once", "early", warms_up),
    ("traced_once", "early", traces_in_advance),
    ("first_steps", "shared", keeps_one_for_all),
    ("first_steps", "none", makes_no_step),
    ("first_steps", "whole_block", makes_the_filling_too),
    ("first_steps", "from_one", counts_from_step_one),
    ("first_steps", "one_less", leaves_the_last_out),
    ("first_steps", "other_steps", makes_one_step_too_many),
    ("first_steps", "other_steps", eight_at_most),
    ("first_steps", "last_steps", takes_the_last_steps),
    ("first_steps", "same_step", always_the_first_step),
    ("first_steps", "twice", makes_the_first_step_twice),
    ("first_steps", "order", goes_backwards),
    ("first_steps", "order", even_steps_first),
    ("mean", "sum", gives_the_sum),
    ("mean", "last", gives_the_last_losses),
    ("mean", "per_block", divides_by_the_block),
    ("mean", "off_by_one", divides_by_one_more),
    ("mean", "kept", keeps_its_sum),
    ("mean", "mean", gives_one_mean),
    ("mean", "other", adds_the_last_to_the_sum),
    ("shape", "shape", gives_a_column),
    ("shape", "shape", gives_a_list),
    ("shape", "dtype", adds_in_float64),
    ("shape", "shape", gives_a_variable),
    ("shape", "nothing", forgets_to_return),
    ("shape", "shape", reads_the_losses),
    ("first_steps", "raised", compiles_it),
]
RIGHT = [
    with_a_while_loop, with_foldl, keeps_all_losses, begins_with_the_first_step, Steps,
    with_a_signature, with_keras_ops, with_map, by_partial, with_a_variable,
    with_a_break, with_a_dict, looks_for_nan, counts_in_int64, reads_a_variable,
]  # fmt: skip
