"""Commands whose every complaint is one line that says what to do."""

import sys
from typing import NoReturn

import click

from minigpt.checkpoint import CheckpointError
from minigpt.corpus import CorpusError
from minigpt.trainer import Diverged

#: What both commands do alike.
SETTINGS = {"show_default": True, "help_option_names": ["-h", "--help"]}


def one_line(command: click.Command, name: str) -> NoReturn:
    """Run a command and leave: 0 when done, 2 for wrong usage, 1 for anything else."""
    try:
        command.main(prog_name=f"python -m {name}", standalone_mode=False)
    except click.ClickException as error:
        _complain(name, error.format_message(), 2)
    except (CheckpointError, CorpusError, ValueError) as error:
        _complain(name, str(error), 2)
    except Diverged as error:
        _complain(name, str(error), 1)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except OSError as error:
        about = f"{error.filename}: " if error.filename else ""
        _complain(name, f"{about}{error.strerror or error}", 1)
    sys.exit(0)


def _complain(name: str, text: str, code: int) -> NoReturn:
    click.echo(f"{name}: {' '.join(text.split())}", err=True)
    sys.exit(code)
