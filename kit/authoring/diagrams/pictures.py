"""The diagrams. `labs build` writes them to helpers/lab_NN/."""

from collections.abc import Callable

from helpers.lab_11.pipelines.pipeline_schedule import simulate
from kit.authoring.diagrams.drawing import Drawing


def matrix_product() -> Drawing:
    """One number of a matrix product is a row times a column."""
    d = Drawing(
        620, 220,
        "A row of the first matrix times a column of the second gives one number of the "
        "product: n multiplications and n additions, for each of n times n numbers.",
    )  # fmt: skip
    cell, n = 26, 5
    for left, kind in ((30, "row"), (230, "column"), (430, "one")):
        for i in range(n):
            for j in range(n):
                marked = {
                    "row": i == 1, "column": j == 3, "one": (i, j) == (1, 3),
                }[kind]  # fmt: skip
                colour = ("green" if kind == "one" else "orange") if marked else "plain"
                d.box(left + j * cell, 40 + i * cell, cell - 3, cell - 3, kind=colour)
    d.text(195, 103, "×", size=26)
    d.text(395, 103, "=", size=26)
    for x, words in ((94, "row i of A"), (294, "column j of B"), (494, "one number of C")):
        d.text(x, 193, words, kind="muted")
    return d


def gradient_noise() -> Drawing:
    """The gradients of small batches scatter around the gradient of all points."""
    d = Drawing(
        620, 230,
        "Gradients of small batches are arrows that scatter widely around the gradient "
        "of all points; gradients of larger batches lie close to it.",
    )  # fmt: skip
    for x, title, ends in (
        (50, "batches of 4", ((150, -60), (90, -78), (185, 20), (120, 55), (60, 35))),
        (
            350,
            "batches of 64",
            ((150, -28), (142, -12), (158, -20), (149, -4), (139, -31)),
        ),
    ):
        for dx, dy in ends:
            d.arrow((x, 120), (x + dx, 120 + dy), kind="orange")
        d.arrow((x, 120), (x + 150, 102), kind="blue")
        d.text(x + 75, 22, title)
    d.text(
        310,
        212,
        "blue: the gradient of all points; orange: gradients of single batches",
        kind="muted",
    )
    return d


def residual_block() -> Drawing:
    """A residual block: two convolutions, and a way around them."""
    d = Drawing(
        700, 190,
        "A residual block: the input goes through convolution, batch normalisation and "
        "ReLU, twice, and is added to the result, which it reaches by a shortcut.",
    )  # fmt: skip
    names = ("convolution", "batch norm", "ReLU", "convolution", "batch norm", "ReLU")
    x = 62
    d.text(28, 120, "x")
    d.arrow((38, 120), (x, 120))
    for i, name in enumerate(names):
        d.box(x, 98, 84, 44, name, kind="green" if name == "ReLU" else "blue", size=13)
        if i < len(names) - 1:
            d.arrow((x + 84, 120), (x + 96, 120))
        x += 96
    d.arrow((x - 12, 120), (x + 10, 120))
    d.box(x + 10, 108, 24, 24, "+", kind="orange")
    d.arrow((x + 34, 120), (x + 56, 120))
    d.arrow((48, 120), (48, 52), (x + 22, 52), (x + 22, 108), kind="orange")
    d.text(350, 34, "shortcut: the input, unchanged", kind="orange-ink")
    return d


def time_of_fit() -> Drawing:
    """When `fit` calls the methods of a callback."""
    d = Drawing(
        700, 200,
        "The time line of fit. on_train_begin is called once; then, in each epoch, "
        "on_epoch_begin before the training batches, on_test_begin before the validation, "
        "and on_epoch_end after it; on_train_end comes last.",
    )  # fmt: skip
    d.line((20, 110), (680, 110))
    for start in (60, 340):
        d.box(start, 92, 20, 36, kind="violet")
        for i in range(6):
            d.box(start + 24 + 24 * i, 92, 21, 36, kind="blue")
        d.box(start + 172, 92, 70, 36, "validation", kind="green", size=12)
    for x, name, up in (
        (36, "on_train_begin", True), (60, "on_epoch_begin", False),
        (232, "on_test_begin", False), (244 + 60, "on_epoch_end", True),
        (340, "on_epoch_begin", False), (512, "on_test_begin", False),
        (244 + 340, "on_epoch_end", True), (640, "on_train_end", False),
    ):  # fmt: skip
        d.arrow((x, 50 if up else 160), (x, 88 if up else 130), kind="orange")
        d.text(max(x, 62), 36 if up else 176, name, size=13)
    d.text(143, 72, "training batches", kind="muted", size=13)
    return d


def time_to_target() -> Drawing:
    """Time to a target is the product of two curves that run against each other."""
    d = Drawing(
        700, 230,
        "Three curves over the batch size. The steps to the target fall and then level "
        "off; the seconds per step are level and then rise; their product has a "
        "minimum in between.",
    )  # fmt: skip

    def steps(t):
        return 0.18 + 0.75 * 2 ** (-6 * t)

    def seconds(t):
        return 0.15 + 0.02 * 2 ** (5.3 * t)

    curves = (
        ("steps to the target", "blue", steps),
        ("seconds per step", "orange", seconds),
        ("time to the target", "green", lambda t: 4 * steps(t) * seconds(t)),
    )
    for k, (name, kind, curve) in enumerate(curves):
        x = 30 + 230 * k
        d.line((x, 40), (x, 180), (x + 175, 180))
        points = [(x + 175 * i / 40, 180 - 140 * min(1, curve(i / 40))) for i in range(41)]
        d.line(*points, kind=kind)
        d.text(x + 88, 22, name)
        d.text(x + 88, 200, "batch size", kind="muted", size=13)
    d.text(218, 110, "×", size=26)
    d.text(448, 110, "=", size=26)
    return d


def training_step() -> Drawing:
    """The parts of a custom training step."""
    d = Drawing(
        700, 170,
        "A training step. A batch goes forward through the model to predictions and a "
        "loss, which the tape records; the gradient goes back to the weights; the "
        "optimizer changes them.",
    )  # fmt: skip
    boxes = (
        ("batch", "plain"),
        ("model", "blue"),
        ("predictions", "plain"),
        ("loss", "plain"),
    )
    for i, (name, kind) in enumerate(boxes):
        d.box(30 + 170 * i, 40, 120, 40, name, kind=kind)
        if i:
            d.arrow((30 + 170 * i - 50, 60), (30 + 170 * i, 60), kind="blue")
    d.text(345, 20, "forward: the tape records", kind="blue-ink")
    d.box(200, 115, 120, 40, "optimizer", kind="green")
    d.arrow((600, 80), (600, 135), (322, 135), kind="orange")
    d.text(460, 120, "gradients", kind="orange-ink")
    d.arrow((260, 115), (260, 82), kind="green")
    return d


def replicas() -> Drawing:
    """Data parallelism: the same weights, a part of the batch each, one sum."""
    d = Drawing(
        700, 280,
        "Data parallelism on four replicas. A global batch is cut into four; each "
        "replica has the same weights and computes a gradient of its part; an "
        "all-reduce adds the gradients up, and every replica makes the same update.",
    )  # fmt: skip
    d.box(30, 20, 640, 34, "global batch", kind="plain")
    for i in range(4):
        x = 30 + 163 * i
        d.arrow((x + 75, 54), (x + 75, 84))
        d.box(x, 84, 150, 62, f"replica {i}\nsame weights", kind="blue")
        d.arrow((x + 75, 146), (x + 75, 180), kind="orange")
        d.arrow((x + 75, 214), (x + 75, 246), kind="green")
        d.text(x + 75, 260, "same update", kind="green-ink", size=13)
    d.box(30, 180, 640, 34, "all-reduce: the sum of all gradients", kind="orange")
    return d


def divided_loss() -> Drawing:
    """Where the loss is divided when several replicas share a batch."""
    d = Drawing(
        700, 220,
        "Two replicas with 3 and 1 images. Each adds up its losses and divides by the "
        "global batch of 4, so that the sum over replicas is the mean over all images. "
        "Dividing by 3 and by 1 instead counts the lone image three times as much.",
    )  # fmt: skip
    for y, count, name in ((40, 3, "replica 0"), (110, 1, "replica 1")):
        d.text(20, y + 18, name, anchor="start")
        for i in range(count):
            d.box(110 + 44 * i, y, 38, 38, f"ℓ{1 + i if count == 3 else 4}", kind="blue")
        d.arrow((250, y + 19), (300, y + 19))
        d.box(300, y, 120, 38, "sum ÷ 4", kind="green")
        d.arrow((420, y + 19), (480, 94))
    d.box(482, 74, 40, 40, "+", kind="orange")
    d.arrow((522, 94), (552, 94))
    d.box(552, 74, 130, 40, "mean of 4", kind="green")
    d.text(
        350, 195,
        "4 is the global batch; dividing by 3 and 1 would count ℓ4 three times as much",
        kind="muted", size=13,
    )  # fmt: skip
    return d


def mesh() -> Drawing:
    """A mesh of eight devices: the batch along one axis, the weights along the other."""
    d = Drawing(
        700, 270,
        "Eight devices in a mesh of two rows and four columns. The images are cut in two "
        "along the axis data, and the weights in four along the axis model, so each device "
        "holds half of the images and a quarter of the weights.",
    )  # fmt: skip
    d.text(400, 22, "axis “model”: each column has a quarter of W", kind="orange-ink")
    for i in range(4):
        d.box(150 + 130 * i, 40, 120, 30, f"W, quarter {i + 1}", kind="orange", size=13)
    for j in range(2):
        y = 84 + 84 * j
        d.box(20, y, 118, 72, f"images\nhalf {j + 1}", kind="blue", size=13)
        for i in range(4):
            d.box(150 + 130 * i, y, 120, 72, f"device {4 * j + i}", kind="plain")
    d.text(
        20,
        258,
        "axis “data”: each row has half of the images",
        anchor="start",
        kind="blue-ink",
    )
    return d


def prefetch() -> Drawing:
    """A batch that is fetched while the step before it runs costs no time of its own."""
    d = Drawing(
        700, 240,
        "Two time lines. Without prefetching, fetching a batch and training on it take "
        "turns. With prefetching, the next batch is fetched while the step runs, so a "
        "step takes the longer of both.",
    )  # fmt: skip
    d.text(20, 26, "in turn", anchor="start")
    x = 20
    for i in range(4):
        d.box(x, 42, 60, 34, f"fetch {i}", kind="orange", size=13)
        d.box(x + 62, 42, 90, 34, f"step {i}", kind="blue", size=13)
        x += 156
    d.text(20, 118, "fetched ahead", anchor="start")
    for i in range(5):
        d.box(20 if i == 0 else 82 + 92 * (i - 1), 134, 60, 34, f"fetch {i}", "orange", 13)
    for i in range(4):
        d.box(82 + 92 * i, 172, 90, 34, f"step {i}", "blue", 13)
    d.arrow((20, 224), (680, 224))
    d.text(640, 210, "time", kind="muted", size=13)
    return d


def float_formats() -> Drawing:
    """The bits of float32, TF32, bfloat16 and float16."""
    d = Drawing(
        700, 210,
        "Bits of four formats. float32: 1 sign, 8 exponent, 23 fraction. TF32: 1, 8, "
        "10. bfloat16: 1, 8, 7. float16: 1, 5, 10.",
    )  # fmt: skip
    bit = 17.5
    for row, (name, exponent, fraction) in enumerate(
        (("float32", 8, 23), ("TF32", 8, 10), ("bfloat16", 8, 7), ("float16", 5, 10))
    ):
        y = 24 + 40 * row
        d.text(16, y + 14, name, anchor="start")
        x = 104.0
        for count, kind in ((1, "violet"), (exponent, "orange"), (fraction, "blue")):
            for _ in range(count):
                d.box(x, y, bit - 2, 28, kind=kind)
                x += bit
    for x, words, kind in ((104, "sign", "violet"), (150, "exponent: range", "orange"),
                           (320, "fraction: precision", "blue")):  # fmt: skip
        d.text(x, 194, words, anchor="start", kind=f"{kind}-ink", size=13)
    return d


def ring() -> Drawing:
    """The two phases of a ring all-reduce over three workers."""
    d = Drawing(
        700, 250,
        "A ring of three workers with three chunks each. In the reduce-scatter phase, "
        "partial sums travel round the ring until each worker holds one finished chunk; "
        "in the all-gather phase, the finished chunks travel round to everybody.",
    )  # fmt: skip
    columns = (
        ("start", (("a0", "b0", "c0"), ("a1", "b1", "c1"), ("a2", "b2", "c2"))),
        (
            "after reduce-scatter",
            (("a0", "Σb", "c0+c2"), ("a0+a1", "b1", "Σc"), ("Σa", "b1+b2", "c2")),
        ),
        ("after all-gather", (("Σa", "Σb", "Σc"),) * 3),
    )
    for k, (title, rows) in enumerate(columns):
        x = 20 + 240 * k
        d.text(x + 90, 24, title)
        for i, row in enumerate(rows):
            for j, chunk in enumerate(row):
                kind = "green" if chunk.startswith("Σ") else "blue"
                size = 13 if "+" in chunk else 15
                d.box(x + 60 * j, 50 + 60 * i, 54, 40, chunk, kind=kind, size=size)
        if k < 2:
            d.arrow((x + 186, 130), (x + 234, 130), kind="orange")
    d.text(
        350, 232, "a0: worker 0's chunk a; a0+a1: a partial sum; Σa: the sum of all",
        kind="muted", size=13,
    )  # fmt: skip
    return d


def checkpoint_and_restart() -> Drawing:
    """The cost of a failure, and the time that a checkpoint saves."""
    d = Drawing(
        700, 190,
        "A training as a time line with checkpoints. A worker dies between two of them; "
        "all restart from the last checkpoint, and the steps since then are done again.",
    )  # fmt: skip
    x = 20
    for i in range(4):
        d.box(x, 60, 110, 36, "steps", kind="blue", size=13)
        d.box(x + 112, 60, 18, 36, kind="green")
        x += 132
        if i == 2:
            break
    d.box(x, 60, 74, 36, "lost", kind="orange", size=13)
    d.text(x + 86, 78, "✗", kind="orange-ink", size=24)
    d.text(x + 86, 40, "a worker dies", kind="orange-ink", size=13)
    d.arrow((x + 86, 98), (x + 86, 138), (x - 10, 138), (x - 10, 100), kind="orange")
    d.box(x + 112, 60, 74, 36, "again", kind="blue", size=13)
    d.box(x + 188, 60, 42, 36, "…", kind="plain")
    d.text(141, 122, "green: a checkpoint", kind="green-ink", size=13)
    d.text(x + 38, 160, "restart from the last checkpoint", kind="orange-ink", size=13)
    return d


def buckets() -> Drawing:
    """Gradients are sent in buckets, while backward still computes."""
    d = Drawing(
        700, 190,
        "Two time lines. Backward computes gradients from the last layer to the first. "
        "As soon as a bucket is full, its all-reduce begins, beside the rest of "
        "backward; only the end of the last all-reduce comes after it.",
    )  # fmt: skip
    d.text(20, 48, "backward", anchor="start")
    d.text(20, 118, "network", anchor="start")
    for i in range(8):
        d.box(110 + 52 * i, 30, 50, 36, f"g{8 - i}", kind="blue", size=13)
    for k, (start, width, words) in enumerate(
        ((214, 110, "g8 g7"), (326, 110, "g6 g5"), (438, 90, "g4 g3"), (530, 90, "g2 g1"))
    ):
        d.box(start, 100, width, 36, words, kind="orange", size=13)
        full = 110 + 104 * (k + 1)
        d.arrow((full, 66), (max(full, start + 4), 98))
    d.line((526, 20), (526, 150), kind="green")
    d.text(574, 162, "not hidden", kind="green-ink", size=13)
    d.arrow((110, 178), (680, 178))
    d.text(60, 176, "time", kind="muted", size=13)
    return d


def sharded_optimizer() -> Drawing:
    """The parts that each of four workers holds, computes and sends, before and after."""
    d = Drawing(
        700, 350,
        "Four workers, before and after they share the optimizer. Before, each worker "
        "holds all weights and the whole state of Adam, and updates everything after an "
        "all-reduce. After, each still holds all weights, but only a quarter of the "
        "state; it updates that quarter between reduce-scatter and all-gather.",
    )  # fmt: skip
    for x, title in (
        (100, "before: each updates everything"),
        (420, "after: each its part"),
    ):
        d.text(x + 115, 22, title)
        d.text(x + 46, 50, "weights", kind="blue-ink", size=13)
        d.text(x + 166, 50, "Adam's state", kind="orange-ink", size=13)
        for rank in range(4):
            for part in range(4):
                y = 66 + 40 * rank
                own = x == 100 or part == (rank + 1) % 4
                d.box(x + 24 * part, y, 21, 28, kind="blue")
                d.box(x + 120 + 24 * part, y, 21, 28, kind="orange" if own else "plain")
    for rank in range(4):
        d.text(20, 80 + 40 * rank, f"worker {rank}", anchor="start", size=13)
    for x, steps in (
        (100, ("all-reduce of the gradients", "update of all weights")),
        (420, ("reduce-scatter of the gradients", "update of its own part",
               "all-gather of the new weights")),
    ):  # fmt: skip
        for k, words in enumerate(steps):
            y = 236 + 30 * k
            d.text(x, y, f"{k + 1}. {words}", anchor="start", size=13)
    d.text(20, 236, "a step:", anchor="start", kind="muted", size=13)
    d.text(
        350, 332, "both send 2 (N - 1) messages, each with an N-th of the array",
        kind="muted", size=13,
    )  # fmt: skip
    return d


def tensor_parallel() -> Drawing:
    """Two matrices on two devices, split by columns and by rows, and one all-reduce."""
    d = Drawing(
        700, 300,
        "Two devices hold the same input x. Each has half of the columns of the first "
        "matrix and computes half of the hidden values. It multiplies them by its half of "
        "the rows of the second matrix. The results are partial sums, and one all-reduce "
        "adds them up on both devices.",
    )  # fmt: skip
    d.text(185, 22, "columns of A", kind="orange-ink", size=13)
    d.text(407, 22, "rows of B", kind="orange-ink", size=13)
    for i, (y, number) in enumerate(((44, "first"), (174, "second"))):
        d.text(20, y + 94, f"device {i}", anchor="start", kind="muted", size=13)
        d.box(20, y + 24, 70, 36, "x, whole", kind="blue", size=13)
        # The matrix A is wide and B is high: each device has half of it.
        for j in range(2):
            kind = "orange" if i == j else "plain"
            d.box(130 + 56 * j, y + 14, 54, 56, f"A{j}" if i == j else "", kind=kind)
            d.box(380, y - 8 + 51 * j, 54, 49, f"B{j}" if i == j else "", kind=kind)
        d.box(266, y + 24, 90, 36, f"{number} half\nof hidden", kind="blue", size=12)
        d.box(468, y + 24, 86, 36, f"partial\nsum {i}", kind="violet", size=12)
        d.arrow((90, y + 42), (128, y + 42))
        d.arrow((242, y + 42), (264, y + 42))
        d.arrow((356, y + 42), (378, y + 42))
        d.arrow((434, y + 42), (466, y + 42))
        d.arrow((554, y + 42), (582, y + 42))
        d.arrow((658, y + 42), (690, y + 42))
    d.box(584, 44, 74, 214, "all-reduce\nadds both", kind="green", size=12)
    d.text(500, 284, "The only message of the two layers", kind="green-ink", size=13)
    return d


def pipeline() -> Drawing:
    """Two orders of the same work: equally long, but with other needs of memory."""
    d = Drawing(
        700, 326,
        "Time lines of three stages with four micro-batches. GPipe does all forwards and "
        "then all backwards; with 1F1B the last stage does them in turn. Both end after "
        "18 units of time, but stage 0 holds four micro-batches or three.",
    )  # fmt: skip
    unit, left = 34, 72
    gpipe = ["F0 F1 F2 F3 B0 B1 B2 B3"] * 3
    one_by_one = [
        "F0 F1 F2 B0 F3 B1 B2 B3", "F0 F1 B0 F2 B1 F3 B2 B3", "F0 B0 F1 B1 F2 B2 F3 B3",
    ]  # fmt: skip
    for top, name, lists in ((20, "GPipe", gpipe), (164, "1F1B", one_by_one)):
        work = [[(item[0], int(item[1])) for item in line.split()] for line in lists]
        d.text(20, top, name, anchor="start")
        for stage in range(len(work)):
            d.text(20, top + 36 + 36 * stage, f"stage {stage}", "start", "muted", 12)
        for box in simulate(work):
            kind = "blue" if box.kind == "F" else "orange"
            x, width = left + unit * box.begin, unit * (box.end - box.begin)
            y, text = top + 20 + 36 * box.stage, f"{box.kind}{box.micro_batch}"
            d.box(x + 1, y, width - 2, 32, text, kind, 13)
    bottom = 296
    d.arrow((left, bottom), (690, bottom))
    for time in range(0, 19, 2):
        d.text(left + unit * time, bottom + 16, f"{time}", kind="muted", size=12)
    d.text(20, bottom, "time", "start", "muted", 13)
    return d


def recomputation() -> Drawing:
    """Which inputs of layers are held while backward is in a segment."""
    d = Drawing(
        700, 252,
        "Twelve layers in three segments of four, shown twice. During forward only the "
        "inputs of layers 0, 4 and 8 are kept, and all others are dropped. While "
        "backward is in the second segment, the inputs of layers 5, 6 and 7 have been "
        "computed again from the kept input of layer 4.",
    )  # fmt: skip
    kept = dict.fromkeys((0, 4, 8), "green")
    rows = (
        (64, "forward", kept),
        (160, "backward", kept | dict.fromkeys((5, 6, 7), "orange")),
    )
    for y, name, kinds in rows:
        d.text(16, y + 18, name, anchor="start")
        for i in range(12):
            x = 104 + 48 * i + 6 * (i // 4)
            d.box(x, y, 42, 36, str(i), kind=kinds.get(i, "plain"), size=13)
    for k in range(3):
        left = 104 + 198 * k
        d.text(left + 93, 24, f"segment {k}", size=13)
        d.line((left, 40), (left + 186, 40))
    d.arrow((104, 114), (688, 114), kind="blue")
    d.text(396, 130, "recompute segment 1 from the input of layer 4", size=13)
    d.line((104 + 198 + 21, 138), (104 + 198 + 21, 148), kind="orange")
    d.arrow((104 + 198 + 21, 148), (104 + 198 + 165, 148), kind="orange")
    d.arrow((488, 208), (302, 208), kind="blue")
    legend = ("green", "kept"), ("orange", "computed again"), ("plain", "dropped")
    for x, (kind, words) in zip((104, 214, 398), legend, strict=True):
        d.box(x, 222, 20, 18, kind=kind)
        d.text(x + 28, 231, words, anchor="start", size=13)
    return d


def judging() -> Drawing:
    """What the judge's clock counts: training and predicting, between calibrations."""
    d = Drawing(
        700, 178,
        "A time line: a calibration, then training and predicting with seed 1, a "
        "calibration, training and predicting with seed 2, and a calibration. The clock "
        "counts from the beginning of each training to the end of its predicting.",
    )  # fmt: skip
    x = 24
    for seed in (1, 2, None):
        d.box(x, 62, 86, 44, "calibrate", kind="plain", size=13)
        x += 94
        if seed is None:
            break
        d.box(x, 62, 124, 44, f"train, seed {seed}", kind="blue", size=13)
        d.box(x + 130, 62, 60, 44, "predict", kind="orange", size=13)
        d.line((x, 40), (x, 54), kind="green")
        d.line((x + 190, 40), (x + 190, 54), kind="green")
        d.arrow((x, 47), (x + 190, 47), kind="green")
        d.text(x + 95, 28, f"the clock counts t{seed}", size=13)
        x += 198
    for left, seed in ((24, 1), (24 + 292, 2)):
        d.text(left + 189, 142, f"c{seed}: the mean of the loads beside it", size=13)
        d.line((left + 43, 112), (left + 43, 126), (left + 335, 126), (left + 335, 112))
    d.arrow((24, 164), (676, 164))
    d.text(660, 152, "time", kind="muted", size=12)
    return d


DIAGRAMS: dict[str, dict[str, Callable[[], Drawing]]] = {
    "00": {"matrix_product": matrix_product},
    "01": {"gradient_noise": gradient_noise},
    "02": {"residual_block": residual_block, "time_of_fit": time_of_fit},
    "03": {"time_to_target": time_to_target},
    "04": {"training_step": training_step},
    "05": {"replicas": replicas},
    "06": {"divided_loss": divided_loss},
    "07": {"mesh": mesh},
    "08": {"prefetch": prefetch, "float_formats": float_formats},
    "09": {"ring": ring, "checkpoint_and_restart": checkpoint_and_restart},
    "10": {"buckets": buckets},
    "11": {
        "recomputation": recomputation,
        "sharded_optimizer": sharded_optimizer,
        "tensor_parallel": tensor_parallel,
        "pipeline": pipeline,
    },
    "12": {"judging": judging},
}
