"""Train a MiniGPT and let it write: `python -m minigpt.train`, `… minigpt.generate`."""
