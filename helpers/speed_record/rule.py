"""The numbers of the rule, which docs/speed-record-rule.md explains."""

# The mean accuracy that a submission has to reach, by the name of the target.
TARGETS = {"sprint": 0.92, "laptop": 0.93, "record": 0.94, "gpu": 0.95}

# The data of a judging: 70,000 pooled images, split again for each seed.
TRAIN_IMAGES, TEST_IMAGES = 60_000, 10_000
CLASSES = 10

# Statistics.
SEEDS = 10
P_VALUE = 0.01
CONFIDENCE = 0.95  # of every interval
CRASH_ACCURACY = 0.1  # of a seed whose training fails

# What a source may hold.
SOURCE_BYTES = 20_000
LITERAL_CHARACTERS = 200  # of one literal
ALL_LITERALS_CHARACTERS = 2_000  # of all literals of a source together
NAME_CHARACTERS = 40
PACKAGES = ("numpy", "keras", "tensorflow")  # beside Python's standard library
KIT_PACKAGES = ("helpers.network",)  # and this code of the kit
# Arithmetic below 16 bits, by the words with which libraries ask for it.
LOW_PRECISION = ("float8", "int4", "int8", "quantiz")

# The calibration load: as many steps as take 20 seconds on two quiet cores.
CALIBRATION_STEPS = 2_700
CALIBRATION_DRIFT = 0.05  # two calibrations that differ by more: the seed is repeated
MOST_REPEATS = 2  # of one seed, before the machine counts as too busy

# Predicting.
PREDICT_SHARE = 0.1  # of the seconds of a seed
SINGLE_IMAGES = 50  # that are predicted again, one by one

# The held-out workload: inverted images whose classes are permuted.
HELD_OUT_SHARE = 0.95  # of the target's accuracy
HELD_OUT_TIMES = 2  # as long as the slowest seed

# Work while nothing is asked of the submission, between training and predicting.
IDLE_SECONDS = 0.5  # after as long again, in which work is charged as training
IDLE_SHARE = 0.1  # of one core

# One training in the box.
CPUS = 2  # to which a training is pinned
MOST_SECONDS = 7200  # of one training
ALIKE_IMAGES = 200  # predicted again: SINGLE_IMAGES alone, the others in another order
MOST_UNLIKE = 2  # of them may get another label: rounding differs with the batch size
PREDICT_FLOOR_SECONDS = 1.0  # a short training may predict so long, whatever its share
WARM_UP_IMAGES = 2_000  # of noise, for the warm board
PAIRS = 5  # of interleaved runs with the holder of the record
