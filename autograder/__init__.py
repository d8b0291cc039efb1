"""The autograder: names the mistake in a learner's exercise."""
