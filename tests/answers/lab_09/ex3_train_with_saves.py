"""Recorded answers to 9.3: wrong ones, and right ones in other styles."""

from pathlib import Path

import numpy as np
import tensorflow as tf

from tests.answers.lab_09.shared import holds_a_lock


def first_start(model, optimizer, train_step, data, epochs, folder, save_every, chief):
    for epoch in range(epochs):
        for batch in data(epoch, 0):
            train_step(batch)
    return 0


def saving(
    *,
    track=("model", "optimizer"),
    keep=2,
    position=lambda epoch, place: (epoch, place),
    due=lambda step, place, every: step % every == 0,
    count_first=True,
    writes=lambda chief: chief,
    reads=lambda chief: True,
    found=lambda manager, folder: manager.latest_checkpoint,
    begun=lambda step, place: step,
    more_epochs=0,
):
    """An answer to 9.3 with these parts; as they stand it is right."""

    def answer(model, optimizer, train_step, data, epochs, folder, save_every, chief):
        names = ("step", "epoch", "place")
        state = {name: tf.Variable(0, dtype=tf.int64) for name in names}
        # An optimizer in a checkpoint also has the weights that it trains: its states alone
        # have not.
        both = {"model": model, "optimizer": optimizer, "states": list(optimizer.variables)}
        saved = state | {name: both[name] for name in track}
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(**saved), folder, keep)
        if reads(chief):
            path = found(manager, folder)
            manager.checkpoint.restore(path).expect_partial()
        step, first = int(state["step"]), int(state["step"])
        epoch, place = position(int(state["epoch"]), int(state["place"]))
        first = begun(first, place)
        while epoch < epochs + more_epochs:
            for batch in data(epoch, place):
                train_step(batch)
                if count_first:
                    step, place = step + 1, place + 1
                if due(step, place, save_every) and writes(chief):
                    for name, now in zip(names, (step, epoch, place), strict=True):
                        state[name].assign(now)
                    manager.save()
                if not count_first:
                    step, place = step + 1, place + 1
            epoch, place = epoch + 1, 0
        return first

    return answer


def highest_number(manager, folder):
    files = Path(folder).glob("*.index")
    by_number = {int(f.stem.rpartition("-")[2]): str(f.with_suffix("")) for f in files}
    return by_number[max(by_number)] if by_number else None


def new_if_broken(model, optimizer, train_step, data, epochs, folder, save_every, chief):
    given = model, optimizer, train_step, data, epochs, folder, save_every, chief
    try:
        return WRONG_RESTARTS["takes_the_highest_number"](*given)
    except (tf.errors.OpError, ValueError):
        return saving(reads=lambda chief: False)(*given)


def halves_the_rate(model, optimizer, train_step, data, epochs, folder, save_every, chief):
    if tf.train.latest_checkpoint(folder):
        pull, train_step = train_step, lambda batch: (slower(), pull(batch))
    rate = float(optimizer.learning_rate.numpy())

    def slower():
        optimizer.learning_rate = rate / 2

    return saving()(model, optimizer, train_step, data, epochs, folder, save_every, chief)


def saves_into_one_file(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step)
    path = Path(folder, "training")
    if path.with_suffix(".index").exists():
        checkpoint.read(str(path))
    first = int(step)
    for epoch in range(epochs):
        for number, batch in enumerate(data(epoch, 0)):
            if epoch * len(list(data(epoch, 0))) + number < first:
                continue
            train_step(batch)
            step.assign_add(1)
            if chief and int(step) % save_every == 0:
                checkpoint.write(str(path))
    return first


def saves_after_epochs(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    epoch = tf.Variable(0)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, epoch=epoch)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    checkpoint.restore(manager.latest_checkpoint)
    for number in range(int(epoch), epochs):
        for batch in data(number, 0):
            train_step(batch)
        epoch.assign_add(1)
        if chief:
            manager.save()
    return 0


def counts_from_the_start_of_the_loop(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    step, epoch, place = (tf.Variable(0, dtype=tf.int64) for _ in range(3))
    checkpoint = tf.train.Checkpoint(
        model=model, optimizer=optimizer, step=step, epoch=epoch, place=place
    )
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    checkpoint.restore(manager.latest_checkpoint)
    begun, first = int(step), int(place)
    for e in range(int(epoch), epochs):
        epoch.assign(e)
        for number, batch in enumerate(data(e, first), start=1):
            train_step(batch)
            step.assign_add(1)
            place.assign(number)
            if chief and int(step) % save_every == 0:
                manager.save()
        first = 0
    return begun


WRONG_RESTARTS = {
    "saves_every_step": saving(due=lambda step, place, every: True),
    "saves_one_late": saving(due=lambda step, place, every: step % every == 1),
    "saves_before_it_counts": saving(
        due=lambda step, place, every: (step + 1) % every == 0, count_first=False
    ),
    "counts_in_the_epoch": saving(due=lambda step, place, every: place % every == 0),
    "forgets_the_model": saving(track=("states",)),
    "forgets_the_averages": saving(track=("optimizer",)),
    "forgets_the_optimizer": saving(track=("model",)),
    "begins_the_epoch_again": saving(position=lambda epoch, place: (epoch, 0)),
    "goes_on_with_the_next_epoch": saving(
        position=lambda epoch, place: (epoch + bool(place or epoch), 0)
    ),
    "leaves_a_batch_out": saving(
        position=lambda epoch, place: (epoch, place + bool(place or epoch))
    ),
    "begins_with_epoch_0": saving(position=lambda epoch, place: (0, place)),
    "counts_from_the_epoch": saving(begun=lambda step, place: place),
    "says_zero": saving(begun=lambda step, place: 0),
    "says_nothing_at_first": saving(begun=lambda step, place: step or None),
    "keeps_five": saving(keep=5),
    "keeps_one": saving(keep=1),
    "everybody_writes": saving(writes=lambda chief: True),
    "only_the_chief_reads": saving(reads=lambda chief: chief),
    "takes_the_highest_number": saving(found=highest_number),
    "one_epoch_more": saving(more_epochs=1),
}
for _name, _answer in WRONG_RESTARTS.items():
    _answer.__name__ = _name


def with_variables(model, optimizer, train_step, data, epochs, folder, save_every, chief):
    step, epoch, place = (tf.Variable(0, dtype=tf.int64) for _ in range(3))
    checkpoint = tf.train.Checkpoint(
        model=model, optimizer=optimizer, step=step, epoch=epoch, place=place
    )
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    manager.restore_or_initialize()
    first = int(step)
    while epoch < epochs:
        for batch in data(int(epoch), int(place)):
            train_step(batch)
            step.assign_add(1)
            place.assign_add(1)
            if chief and step % save_every == 0:
                manager.save()
        epoch.assign_add(1)
        place.assign(0)
    return first


def with_latest(model, optimizer, train_step, data, epochs, folder, save_every, chief):
    epoch, place, step = [tf.Variable(0) for _ in "abc"]
    state = tf.train.Checkpoint(m=model, o=optimizer, e=epoch, p=place, s=step)
    if newest := tf.train.latest_checkpoint(folder):
        state.restore(newest)
    manager = tf.train.CheckpointManager(state, folder, 2)
    start = int(step.numpy())
    for e in range(int(epoch), epochs):
        epoch.assign(e)
        for batch in data(e, int(place)):
            train_step(batch)
            place.assign_add(1)
            step.assign_add(1)
            if chief and not int(step) % save_every:
                manager.save(checkpoint_number=int(step))
        place.assign(0)
    return start


def with_a_number_array(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    position = tf.Variable([0, 0, 0])
    saver = tf.train.Checkpoint(model=model, optimizer=optimizer, position=position)
    manager = tf.train.CheckpointManager(saver, directory=folder, max_to_keep=2)
    saver.restore(manager.latest_checkpoint)
    begun, epoch, place = (int(n) for n in position.numpy())
    step = begun
    while epoch < epochs:
        for batch in data(epoch, place):
            train_step(batch)
            step, place = step + 1, place + 1
            if chief and step % save_every == 0:
                position.assign([step, epoch, place])
                manager.save()
        epoch, place = epoch + 1, 0
    return begun


def skips_by_itself(model, optimizer, train_step, data, epochs, folder, save_every, chief):
    step = tf.Variable(0, dtype=tf.int64)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=step)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    checkpoint.restore(manager.latest_checkpoint)
    first, number = int(step), 0
    for epoch in range(epochs):
        for batch in data(epoch, 0):
            number += 1
            if number <= first:
                continue
            train_step(batch)
            step.assign(number)
            if chief and number % save_every == 0:
                manager.save()
    return first


def with_one_stream(model, optimizer, train_step, data, epochs, folder, save_every, chief):
    counts = {name: tf.Variable(0) for name in ("epoch", "place", "step")}
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, **counts)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    checkpoint.restore(manager.latest_checkpoint)
    first, epoch0, place0 = (int(counts[n]) for n in ("step", "epoch", "place"))

    def stream():
        for epoch in range(epoch0, epochs):
            skip = place0 if epoch == epoch0 else 0
            for place, batch in enumerate(data(epoch, skip), skip + 1):
                yield epoch, place, batch

    for step, (epoch, place, batch) in enumerate(stream(), first + 1):
        train_step(batch)
        if chief and step % save_every == 0:
            for name, n in (("step", step), ("epoch", epoch), ("place", place)):
                counts[name].assign(n)
            manager.save()
    return first


def with_step_counter(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    step = tf.Variable(0, dtype=tf.int64)
    epoch = tf.Variable(0, dtype=tf.int64)
    place = tf.Variable(0, dtype=tf.int64)
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(
            model=model, optimizer=optimizer, step=step, epoch=epoch, place=place
        ),
        folder,
        max_to_keep=2,
        step_counter=step,
        checkpoint_interval=save_every,
    )
    manager.checkpoint.restore(manager.latest_checkpoint)
    first = int(step)
    while int(epoch) < epochs:
        for batch in data(int(epoch), int(place)):
            train_step(batch)
            step.assign_add(1)
            place.assign_add(1)
            if chief and int(step) % save_every == 0:
                manager.save()
        epoch.assign_add(1)
        place.assign(0)
    return first


def by_hand_two_files(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    position = tf.Variable([0, 0, 0])
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, position=position)
    newest = Path(folder, "newest.txt")
    if newest.exists():
        checkpoint.read(str(Path(folder, newest.read_text())))
    first, epoch, place = map(int, position.numpy())
    step = first
    while epoch < epochs:
        for batch in data(epoch, place):
            train_step(batch)
            step, place = step + 1, place + 1
            if chief and step % save_every == 0:
                position.assign([step, epoch, place])
                name = "ab"[step // save_every % 2]
                checkpoint.write(str(Path(folder, name)))
                unfinished = Path(folder, "newest.part")
                unfinished.write_text(name)
                unfinished.replace(newest)
        epoch, place = epoch + 1, 0
    return first


def with_recursion(model, optimizer, train_step, data, epochs, folder, save_every, chief):
    state = tf.Variable(tf.zeros(3, tf.int64))
    checkpoint = tf.train.Checkpoint(state=state, model=model, optimizer=optimizer)
    manager = tf.train.CheckpointManager(checkpoint, folder, 2)
    checkpoint.restore(manager.latest_checkpoint)

    def one_epoch(epoch, place, step):
        if epoch == epochs:
            return
        for batch in data(epoch, place):
            train_step(batch)
            place, step = place + 1, step + 1
            if step % save_every == 0 and chief:
                state.assign([epoch, place, step])
                manager.save()
        one_epoch(epoch + 1, 0, step)

    epoch, place, step = state.numpy().tolist()
    one_epoch(epoch, place, step)
    return step


RIGHT_RESTARTS = [
    saving(), with_variables, with_latest, with_a_number_array, skips_by_itself,
    with_one_stream, with_step_counter, by_hand_two_files, with_recursion,
    saving(found=lambda manager, folder: tf.train.latest_checkpoint(folder)),
    saving(begun=lambda step, place: np.int64(step)),
]  # fmt: skip


def last_by_name(manager, folder):
    names = sorted(str(f.with_suffix("")) for f in Path(folder).glob("*.index"))
    whole = [name for name in names if Path(name).with_suffix(".index").stat().st_size > 99]
    return whole[-1] if whole else None


def not_after_the_last_step(
    model, optimizer, train_step, data, epochs, folder, save_every, chief
):
    total = sum(len(list(data(epoch, 0))) for epoch in range(epochs))
    due = lambda step, place, every: step % every == 0 and step < total  # noqa: E731
    return saving(due=due)(
        model, optimizer, train_step, data, epochs, folder, save_every, chief
    )


takes_the_last_by_name = saving(found=last_by_name)
takes_the_last_by_name.__name__ = "takes_the_last_by_name"


class CountsOutside:
    """Its counters outlive a training."""

    __name__ = "CountsOutside"

    def __init__(self):
        self.step, self.epoch, self.place = 0, 0, 0

    def __call__(
        self, model, optimizer, train_step, data, epochs, folder, save_every, chief
    ):
        state = {n: tf.Variable(getattr(self, n)) for n in ("step", "epoch", "place")}
        checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, **state)
        manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
        manager.restore_or_initialize()
        begun, place = int(state["step"]), int(state["place"])
        for epoch in range(int(state["epoch"]), epochs):
            state["epoch"].assign(epoch)
            for batch in data(epoch, place):
                train_step(batch)
                place += 1
                state["step"].assign_add(1)
                state["place"].assign(place)
                if int(state["step"]) % save_every == 0 and chief:
                    manager.save()
            place = 0
        self.step, self.epoch = int(state["step"]), epochs
        return begun


WRONG = [
    ("returns", "returned", CountsOutside()),
    ("place", "by_name", takes_the_last_by_name),
    ("every", "not_at_the_end", not_after_the_last_step),
    ("place", "start", first_start),
    ("every", "every_step", WRONG_RESTARTS["saves_every_step"]),
    ("every", "one_late", WRONG_RESTARTS["saves_one_late"]),
    ("every", "each_epoch", saves_after_epochs),
    ("place", "repeats_one", WRONG_RESTARTS["saves_before_it_counts"]),
    ("every", "in_epoch", WRONG_RESTARTS["counts_in_the_epoch"]),
    ("model", "no_model", WRONG_RESTARTS["forgets_the_model"]),
    ("model", "no_averages", WRONG_RESTARTS["forgets_the_averages"]),
    ("optimizer", "no_optimizer", WRONG_RESTARTS["forgets_the_optimizer"]),
    ("place", "no_place", WRONG_RESTARTS["begins_the_epoch_again"]),
    ("place", "next_epoch", WRONG_RESTARTS["goes_on_with_the_next_epoch"]),
    ("place", "counts_from_here", counts_from_the_start_of_the_loop),
    ("place", "leaves_one_out", WRONG_RESTARTS["leaves_a_batch_out"]),
    ("epoch", "no_epoch", WRONG_RESTARTS["begins_with_epoch_0"]),
    ("epoch", "other", WRONG_RESTARTS["one_epoch_more"]),
    ("returns", "returned", WRONG_RESTARTS["says_zero"]),
    ("returns", "returned", WRONG_RESTARTS["says_nothing_at_first"]),
    ("returns", "returned", WRONG_RESTARTS["counts_from_the_epoch"]),
    ("two", "two", WRONG_RESTARTS["keeps_five"]),
    ("two", "two", WRONG_RESTARTS["keeps_one"]),
    ("two", "two", saves_into_one_file),
    ("chief", "chief", WRONG_RESTARTS["everybody_writes"]),
    ("others", "others", WRONG_RESTARTS["only_the_chief_reads"]),
    ("optimizer", "weights", halves_the_rate),
    ("half", "half", new_if_broken),
    ("travels", "travels", holds_a_lock()),
    ("half", "raised", WRONG_RESTARTS["takes_the_highest_number"]),
]
RIGHT = RIGHT_RESTARTS
