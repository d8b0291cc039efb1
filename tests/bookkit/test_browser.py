"""Finding a browser: what is installed, then Playwright's, then Debian's package."""

import os
import subprocess
from pathlib import Path

import pytest

from bookkit import browser


@pytest.fixture
def bare(monkeypatch):
    """A machine without any browser, and the commands that were run on it."""
    ran: list[list[str]] = []

    def run(command, **_):
        ran.append([str(part) for part in command])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(browser, "installed", lambda: None)
    monkeypatch.setattr(browser, "playwrights", lambda: None)
    monkeypatch.setattr(browser.subprocess, "run", run)
    return ran


def test_a_command_on_the_path_comes_first(tmp_path, monkeypatch):
    program = tmp_path / "chromium"
    program.touch(mode=0o755)
    place = tmp_path / "Google Chrome"
    place.touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert browser.installed(["chromium"], [place]) == program
    assert browser.installed(["chrome"], [place]) == place
    assert browser.installed(["chrome"], [tmp_path / "none"]) is None


def test_a_browser_that_cannot_start_is_passed_over(tmp_path, monkeypatch):
    broken, working = tmp_path / "broken", tmp_path / "working"
    broken.write_text("#!/bin/sh\nexit 127\n")
    working.write_text("#!/bin/sh\nexit 0\n")
    for program in broken, working:
        program.chmod(0o755)
    monkeypatch.setattr(browser, "installed", lambda: broken)
    monkeypatch.setattr(browser, "playwrights", lambda: working)
    assert browser.find() == working


def test_playwright_downloads_and_says_so(bare, monkeypatch, capsys):
    there = iter([None, Path("/downloaded/chrome")])
    monkeypatch.setattr(browser, "playwrights", lambda: next(there))
    assert browser.bring() == Path("/downloaded/chrome")
    assert "Playwright downloads one" in capsys.readouterr().out
    assert bare[0][1:] == ["-m", "playwright", "install", "chromium"]


def test_debians_package_is_the_last_resort_and_only_for_root(
    bare, monkeypatch, capsys
):
    monkeypatch.setattr(browser.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(FileNotFoundError, match="install Chromium or Chrome"):
        browser.bring()
    assert not any(command[0] == "apt-get" for command in bare)

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(FileNotFoundError):
        browser.bring()
    assert bare[-1] == ["apt-get", "install", "-q", "-y", "chromium"]
    assert "Debian's package is installed instead" in capsys.readouterr().out
