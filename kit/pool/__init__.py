"""`labs pool`: the run cards of a class as one experiment."""

from helpers.machine.quiet_tensorflow import silence_tensorflow

silence_tensorflow()  # Keras is imported with the style of the figures
