"""The reference callbacks of the course, each short enough to read in class."""

from callbacks.early_stopping import StopAtAccuracy
from callbacks.epoch_recorder import EpochRecorder
from callbacks.live.dashboard import TrainingDashboard, follow
from callbacks.live.progress import TrainingProgress, counted, progress
from callbacks.throughput import PrintThroughput
from callbacks.total_time import PrintTotalTime

__all__ = [
    "EpochRecorder",
    "PrintThroughput",
    "PrintTotalTime",
    "StopAtAccuracy",
    "TrainingDashboard",
    "TrainingProgress",
    "counted",
    "follow",
    "progress",
]
