"""Commands whose every complaint is one line that says what to do."""

import sys
from typing import NoReturn

import click

from minigpt.checkpoint import CheckpointError
from minigpt.corpus import CorpusError
from minigpt.interrupts import Stopped
from minigpt.memory import ran_out
from minigpt.trainer import Diverged

#: What both commands do alike.
SETTINGS = {"show_default": True, "help_option_names": ["-h", "--help"]}

#: What a shell says of a command that Ctrl-C ended.
INTERRUPTED = 130


def one_line(command: click.Command, name: str) -> NoReturn:
    """Run a command and leave with its exit code.

    0 when done, 2 for wrong usage, 130 for Ctrl-C, 1 for anything else that went wrong.
    A fault of the command's own, or of somebody's parts, keeps its traceback.
    """
    try:
        command.main(prog_name=f"python -m {name}", standalone_mode=False)
    except click.ClickException as error:
        _complain(name, error.format_message(), 2)
    except (CheckpointError, CorpusError, ValueError) as error:
        _complain(name, str(error), 2)
    except Diverged as error:
        _complain(name, str(error), 1)
    except Stopped as error:
        _complain(name, str(error), INTERRUPTED)
    except (click.Abort, KeyboardInterrupt):
        _complain(name, "stopped", INTERRUPTED)
    except OSError as error:
        about = f"{error.filename}: " if error.filename else ""
        _complain(name, f"{about}{error.strerror or error}", 1)
    except (MemoryError, RuntimeError) as error:
        if not ran_out(error):
            raise
        advice = "a smaller model or batch takes less, another --device may have more"
        _complain(name, f"the memory ran out: {advice}", 1)
    sys.exit(0)


def _complain(name: str, text: str, code: int) -> NoReturn:
    click.echo(f"{name}: {' '.join(text.split())}", err=True)
    sys.exit(code)
