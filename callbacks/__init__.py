"""The reference callbacks: each short enough to read in class."""

from callbacks.dashboard import TrainingDashboard, follow
from callbacks.early_stopping import StopAtAccuracy
from callbacks.progress import TrainingProgress, counted
from callbacks.throughput import PrintThroughput
from callbacks.total_time import PrintTotalTime

__all__ = [
    "PrintThroughput",
    "PrintTotalTime",
    "StopAtAccuracy",
    "TrainingDashboard",
    "TrainingProgress",
    "counted",
    "follow",
]
