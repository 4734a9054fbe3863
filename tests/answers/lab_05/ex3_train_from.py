"""Recorded answers to 5.3: wrong ones, and right ones in other styles."""

import copy
import math

import keras
import numpy as np
import tensorflow as tf

from tests.answers.lab_05.shared import but


def training(start, strategy, new_model, images, labels, batch, **options):
    """What most answers to 5.3 have in common: right, but for the options of `fit`."""
    with strategy.scope():
        model = new_model()
    model.set_weights(start)
    model.fit(images, labels, batch, **{"verbose": 0, "shuffle": False} | options)
    return model.get_weights()


shuffles = but(training, "shuffles", shuffle=True)
trains_longer = but(training, "trains_longer", epochs=3)
weighs_classes = but(training, "weighs_classes", class_weight={0: 1.0, 1: 2.0, 2: 3.0})
shows_the_bar = but(training, "shows_the_bar", verbose=1)


def start_train(start, strategy, new_model, images, labels, global_batch):
    model = new_model()
    model.fit(images, labels, batch_size=global_batch, verbose=0)
    return model.get_weights()


def starts_anywhere(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
    model.fit(images, labels, batch_size=global_batch, verbose=0, shuffle=False)
    return model.get_weights()


def trains_twice(start, strategy, new_model, images, labels, global_batch):
    """The second training begins where the first has ended."""
    start = training(start, strategy, new_model, images, labels, global_batch)
    return training(start, strategy, new_model, images, labels, global_batch)


def sets_them_afterwards(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
    model.fit(images, labels, global_batch, shuffle=False, verbose=0)
    model.set_weights(start)
    return model.get_weights()


def does_not_train(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
    model.set_weights(start)
    return model.get_weights()


def reads_them_before(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
    model.set_weights(start)
    weights = model.get_weights()
    model.fit(images, labels, global_batch, shuffle=False, verbose=0)
    return weights


def sets_trained_weights_only(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
        for i, variable in enumerate(model.weights):
            if variable.trainable:
                variable.assign(start[i])
    model.fit(images, labels, global_batch, shuffle=False, verbose=0)
    return model.get_weights()


def sets_layers_with_a_kernel(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
    model.layers[-1].set_weights(start[-2:])
    model.fit(images, labels, global_batch, shuffle=False, verbose=0)
    return model.get_weights()


def takes_the_batch_of_one(start, strategy, new_model, images, labels, global_batch):
    batch = global_batch // strategy.num_replicas_in_sync
    return training(start, strategy, new_model, images, labels, batch)


def multiplies_the_batch(start, strategy, new_model, images, labels, global_batch):
    batch = global_batch * strategy.num_replicas_in_sync
    return training(start, strategy, new_model, images, labels, batch)


def forgets_the_batch(start, strategy, new_model, images, labels, global_batch):
    return training(start, strategy, new_model, images, labels, None)


def forgets_the_strategy(start, strategy, new_model, images, labels, global_batch):
    model = new_model()
    model.set_weights(start)
    model.fit(images, labels, batch_size=global_batch, shuffle=False, verbose=0)
    return model.get_weights()


def compiles_again(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
        model.compile("sgd", "sparse_categorical_crossentropy", jit_compile=False)
    model.set_weights(start)
    model.fit(images, labels, global_batch, shuffle=False, verbose=0)
    return model.get_weights()


def changes_the_loss(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
        loss = keras.losses.SparseCategoricalCrossentropy(reduction="sum")
        model.compile(model.optimizer, loss, jit_compile=False)
    model.set_weights(start)
    model.fit(images, labels, global_batch, shuffle=False, verbose=0)
    return model.get_weights()


def drops_the_last(start, strategy, new_model, images, labels, global_batch):
    n = len(images) // global_batch * global_batch
    return training(start, strategy, new_model, images[:n], labels[:n], global_batch)


def in_reverse(start, strategy, new_model, images, labels, global_batch):
    return training(start, strategy, new_model, images[::-1], labels[::-1], global_batch)


def batch_by_batch(start, strategy, new_model, images, labels, global_batch):
    """A batch on its own that does not divide ends in an error."""
    with strategy.scope():
        model = new_model()
        model.set_weights(start)
    for i in range(0, len(images), global_batch):
        part = slice(i, i + global_batch)
        model.fit(images[part], labels[part], batch_size=global_batch, verbose=0)
    return model.get_weights()


def fits_twice(start, strategy, new_model, images, labels, global_batch):
    """Half of the batches each time: the same steps."""
    with strategy.scope():
        model = new_model()
    model.set_weights(start)
    for part in slice(2 * global_batch), slice(2 * global_batch, None):
        model.fit(images[part], labels[part], global_batch, shuffle=False, verbose=0)
    return model.get_weights()


def trains_on_batches(start, strategy, new_model, images, labels, global_batch):
    """Every replica gets the whole batch."""
    with strategy.scope():
        model = new_model()
    model.set_weights(start)
    for i in range(0, len(images), global_batch):
        part = slice(i, i + global_batch)
        model.train_on_batch(images[part], labels[part])
    return model.get_weights()


def returns_nothing(start, strategy, new_model, images, labels, global_batch):
    training(start, strategy, new_model, images, labels, global_batch)


def trained_ones_first(start, strategy, new_model, images, labels, global_batch):
    weights = training(start, strategy, new_model, images, labels, global_batch)
    return [*weights[1:], weights[0]]


def returns_variables(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
    model.set_weights(start)
    model.fit(images, labels, global_batch, shuffle=False, verbose=0)
    return model.weights


def returns_lists(start, strategy, new_model, images, labels, global_batch):
    weights = training(start, strategy, new_model, images, labels, global_batch)
    return [array.tolist() for array in weights]


def scales_a_copy(start, strategy, new_model, images, labels, global_batch):
    return training(start, strategy, new_model, images / 255, labels, global_batch)


def changes_the_rate(start, strategy, new_model, images, labels, global_batch):
    def with_another_rate():
        model = new_model()
        model.optimizer.learning_rate = 0.01
        return model

    return training(start, strategy, with_another_rate, images, labels, global_batch)


def writes_into_start(start, strategy, new_model, images, labels, global_batch):
    weights = training(start, strategy, new_model, images, labels, global_batch)
    for old, new in zip(start, weights, strict=True):
        old[...] = new
    return start


def puts_into_the_list(start, strategy, new_model, images, labels, global_batch):
    start[:] = training(start, strategy, new_model, images, labels, global_batch)
    return start


def scales_the_images(start, strategy, new_model, images, labels, global_batch):
    images -= images.mean()
    return training(start, strategy, new_model, images, labels, global_batch)


def with_a_dataset(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
        model.set_weights(start)
    pairs = tf.data.Dataset.from_tensor_slices((images, labels))
    model.fit(pairs.batch(global_batch), epochs=1, verbose=0)
    return tuple(model.get_weights())


def all_in_scope(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
        model.set_weights(start)
        model.fit(
            x=images, y=labels, batch_size=global_batch, epochs=1, verbose=0, shuffle=False
        )
        return model.get_weights()


def assigns_each(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        net = new_model()
        for variable, value in zip(net.weights, start, strict=True):
            variable.assign(value)
    net.fit(images, labels, global_batch, 1, 0, shuffle=False)
    return [keras.ops.convert_to_numpy(weight) for weight in net.weights]


def with_copies(start, strategy, new_model, images, labels, global_batch):
    start, images, labels = copy.deepcopy((start, images, labels))
    scope = strategy.scope()
    with scope:
        model = new_model()
    model.set_weights(start)
    history = model.fit(
        np.asarray(images), np.asarray(labels), global_batch, verbose=0, shuffle=False
    )
    assert len(history.epoch) == 1
    return [np.copy(w) for w in model.get_weights()]


def with_tensors(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
    model.set_weights(list(start))
    x, y = tf.convert_to_tensor(images), tf.convert_to_tensor(labels)
    model.fit(x, y, batch_size=global_batch, shuffle=False, verbose=0)
    return model.get_weights()


def layer_by_layer(start, strategy, new_model, images, labels, global_batch):
    with strategy.scope():
        model = new_model()
    rest = list(start)
    for layer in model.layers:
        n = len(layer.weights)
        layer.set_weights(rest[:n])
        rest = rest[n:]
    model.fit(images, labels, batch_size=global_batch, shuffle=False, verbose=0)
    return [array for layer in model.layers for array in layer.get_weights()]


def with_options(start, strategy, new_model, images, labels, global_batch):
    options = {"batch_size": global_batch, "shuffle": False, "verbose": 0}
    with strategy.scope():
        model = new_model()
        assert model.compiled
    model.set_weights(start)
    model.fit(images, labels, **options)
    print("trained", len(images), "images")
    return model.get_weights()


def with_steps(start, strategy, new_model, images, labels, global_batch):
    """Counts the steps itself, the last one too."""
    with strategy.scope():
        model = new_model()
    model.set_weights(start)
    data = tf.data.Dataset.from_tensor_slices((images, labels)).batch(global_batch)
    steps = math.ceil(len(images) / global_batch)
    model.fit(data, steps_per_epoch=steps, verbose=0)
    return model.get_weights()


def by_callback(start, strategy, new_model, images, labels, global_batch):
    class Starts(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            self.model.set_weights(start)

        def on_train_end(self, logs=None):
            self.after = self.model.get_weights()

    with strategy.scope():
        model = new_model()
    starts = Starts()
    model.fit(images, labels, batch_size=global_batch, shuffle=False, callbacks=[starts],
              verbose=0)  # fmt: skip
    return starts.after


WRONG = [
    ("start", "start", start_train),
    ("start", "from", starts_anywhere),
    ("start", "averages", sets_trained_weights_only),
    ("start", "averages", sets_layers_with_a_kernel),
    ("scope", "scope", forgets_the_strategy),
    ("compiled", "compiled", compiles_again),
    ("compiled", "compiled", changes_the_loss),
    ("compiled", "settings", changes_the_rate),
    ("compiled", "settings", weighs_classes),
    ("epoch", "epochs", trains_longer),
    ("epoch", "epochs", trains_twice),
    ("epoch", "untrained", does_not_train),
    ("returns", "too_early", reads_them_before),
    ("returns", "too_early", sets_them_afterwards),
    ("returns", "raised", returns_nothing),
    ("returns", "shapes", trained_ones_first),
    ("returns", "arrays", returns_variables),
    ("returns", "arrays", returns_lists),
    ("batch", "batch", takes_the_batch_of_one),
    ("batch", "batch", multiplies_the_batch),
    ("returns", "raised", forgets_the_batch),
    ("fit", "shares", trains_on_batches),
    ("returns", "raised", batch_by_batch),
    ("fit", "fits", fits_twice),
    ("order", "shuffle", shuffles),
    ("order", "shuffle", in_reverse),
    ("order", "shuffle", scales_a_copy),
    ("last", "last", drops_the_last),
    ("silent", "silent", shows_the_bar),
    ("unchanged", "changed", writes_into_start),
    ("unchanged", "changed", puts_into_the_list),
    ("unchanged", "changed", scales_the_images),
]
RIGHT = [
    with_a_dataset, all_in_scope, assigns_each, with_copies, with_tensors,
    layer_by_layer, with_options, with_steps, by_callback, training,
]  # fmt: skip
