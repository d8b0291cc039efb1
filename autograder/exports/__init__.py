"""What an instructor hands on: grades and results as other programs read them.

Everything here reads a `results.json` that `grade` wrote; nothing is graded.
"""
