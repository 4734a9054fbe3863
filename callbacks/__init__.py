"""The reference callbacks: each short enough to read in class."""

from callbacks.early_stopping import StopAtAccuracy
from callbacks.progress import TrainingProgress, progress
from callbacks.throughput import PrintThroughput
from callbacks.total_time import PrintTotalTime

__all__ = [
    "PrintThroughput",
    "PrintTotalTime",
    "StopAtAccuracy",
    "TrainingProgress",
    "progress",
]
