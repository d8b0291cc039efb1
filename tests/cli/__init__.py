"""Tests of the command line: what a learner and an instructor type and read."""
