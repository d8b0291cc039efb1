"""References once more, with a switch wherever people slip."""
