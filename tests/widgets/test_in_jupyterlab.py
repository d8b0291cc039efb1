"""A figure in a real JupyterLab: run its cell, move it, in the dark, and once more."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect, sync_playwright

from bookkit.browser import FLAGS, find

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """\
import torch
from bookkit.widgets import grid, moving

def draw(width, kind):
    mask = torch.ones(4, 4).tril().triu(1 - width)
    return grid(mask, range(4), range(4), words=f"{kind} {width}")

moving(draw, title="t", alt="a", play="width", width=[1, 2, 3], kind=["one", "two"])"""
PLUGIN = "@jupyterlab/apputils-extension/themes.jupyterlab-settings"


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def answers(address):
    try:
        with urllib.request.urlopen(f"{address}/api/status", timeout=2):
            return True
    except OSError:
        return False


@pytest.fixture
def lab(tmp_path):
    """The address of a JupyterLab, dark, with one notebook; everything is temporary."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(cells=[new_code_cell(SOURCE)])
    notebook.metadata["kernelspec"] = kernel
    (tmp_path / "work").mkdir()
    nbformat.write(notebook, tmp_path / "work" / "one.ipynb")
    settings = tmp_path / "settings" / PLUGIN
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"theme": "JupyterLab Dark"}))
    homes = {
        f"JUPYTER_{name}_DIR": str(tmp_path / name)
        for name in ("CONFIG", "DATA", "RUNTIME")
    }
    homes |= {"JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings")}
    homes |= {"JUPYTERLAB_WORKSPACES_DIR": str(tmp_path / "workspaces")}
    homes |= {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    port = free_port()
    options = {"ServerApp.ip": "127.0.0.1", "ServerApp.port": port}
    options |= {"ServerApp.port_retries": 0, "ServerApp.open_browser": False}
    options |= {"IdentityProvider.token": "", "ServerApp.allow_root": True}
    command = [sys.executable, "-m", "jupyterlab", str(tmp_path / "work")]
    command += [f"--{name}={value}" for name, value in options.items()]
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(
            command, env=os.environ | homes, stdout=log, stderr=log
        )
        address = f"http://127.0.0.1:{port}"
        try:
            deadline = time.monotonic() + 90
            while not answers(address) and time.monotonic() < deadline:
                assert server.poll() is None, (tmp_path / "log").read_text()
                time.sleep(0.3)
            yield address
        finally:
            server.terminate()
            server.wait(timeout=30)


def test_a_figure_moves_in_jupyterlab(lab):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
        page = browser.new_page()
        page.set_default_timeout(90_000)
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{lab}/lab/tree/one.ipynb?reset", wait_until="domcontentloaded")
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        page.locator(".jp-Notebook .cm-content", has_text="moving(").click()
        page.keyboard.press("Shift+Enter")
        words, slider = page.locator(".mv-words"), page.locator(".mv [type=range]")
        expect(words).to_have_text("one 1", timeout=90_000)
        expect(page.locator(".mv")).to_have_css("background-color", "rgb(29, 34, 41)")
        slider.press("ArrowRight")
        expect(words).to_have_text("one 2")
        slider.press("End")
        expect(words).to_have_text("one 3")
        page.locator(".mv-chip", has_text="two").click()
        expect(words).to_have_text("two 3")
        box = slider.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + 2, box["y"] + box["height"] / 2)
        page.mouse.up()
        expect(words).to_have_text("two 1")
        assert errors == []
        browser.close()
