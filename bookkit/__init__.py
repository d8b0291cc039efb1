"""What the chapters and the book share and no learner needs: plumbing, no grading."""
