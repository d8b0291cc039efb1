"""Tests of what an instructor hands on."""
