"""The definitions of the exercises, one module a chapter."""
