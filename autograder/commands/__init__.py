"""The commands of the command line.

What needs torch is imported where it is used, so that `--help` answers at once.
"""
