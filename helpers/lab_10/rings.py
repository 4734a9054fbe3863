"""The ring all-reduce of lab 09, with which the workers of lab 10 add up."""

from helpers.workers.collectives import ring_all_reduce as ring_all_reduce
