"""The command line: `autograder COMMAND …`, also as `python -m autograder COMMAND …`.

Wrong usage ends with exit code 2 and one line on stderr that says what to do.
"""

import contextlib
import os
import sys
from collections.abc import Callable
from typing import Any

import click

from autograder.commands.asking import hint, reset, solution
from autograder.commands.checking import check, watch
from autograder.commands.classes import grade
from autograder.commands.exporting import export, gradescope_autograder
from autograder.commands.listing import list_exercises, progress
from autograder.commands.overview import report, similar
from autograder.commands.starting import start
from autograder.commands.values import INTERRUPTED, Wrong, spelled, wrong
from autograder.faults import place_of
from autograder.render.words import clean
from autograder.spelling import like


class OneLine(click.Group):
    """A group of commands whose every complaint is one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order in which a learner meets them."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            also = like(name, self.commands) or "see 'autograder --help'"
            wrong(f"no command {name!r}; {also}")
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command and leave with its exit code, without a traceback."""
        extra |= {"prog_name": "autograder", "standalone_mode": False}
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError):  # not a terminal, file or pipe
                stream.reconfigure(errors="replace")  # type: ignore[union-attr]
        sys.exit(_ended(lambda: super(OneLine, self).main(*args, **extra)))


def _ended(command: Callable[[], Any]) -> int:
    """Run a command, say in one line what went wrong, and give the exit code."""
    try:
        code = command()
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        return _complain(sentence(error), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # Who read us has gone. Python flushes once more as it ends: let it, to nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        about = f"{error.filename}: " if error.filename else ""
        return _complain(f"{about}{error.strerror or error}", 1)
    except Exception as error:
        return _complain(
            "this is a fault of the autograder's own; please report it: "
            f"{place_of(error)}: {error}",
            1,
        )


def _complain(text: str, code: int) -> int:
    click.echo(f"autograder: {clean(' '.join(text.split()))}", err=True)
    return code


def sentence(error: click.ClickException) -> str:
    """What was wrong with the usage and what to do, in one line."""
    if isinstance(error, Wrong) or not isinstance(error, click.UsageError):
        return error.message
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx else "autograder"
    see = f"see '{path} --help'"
    match error:
        case click.NoSuchOption(option_name=name):
            params = ctx.command.params if ctx else []
            known = [text for one in params for text in one.opts]
            near = [text for text in [*known, "--help"] if text.startswith("-")]
            return f"'{path}' has no option {name}; {like(name, near) or see}"
        case click.MissingParameter(param=click.Parameter() as param):
            return f"'{path}' needs {spelled(param)}; {see}"
    message = error.format_message()
    return f"{message[:1].lower()}{message[1:].rstrip('.')}; {see}"


@click.group(
    cls=OneLine,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Grade exercises, and say of a wrong answer which mistake it is.

    Begin with 'autograder start': it lays the chapters into a workbook of your own.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


for _command in (
    *(start, list_exercises, check, watch, hint, solution),
    *(progress, reset, grade, report, similar),
    *(export, gradescope_autograder),
):
    cli.add_command(_command)


def main() -> None:
    """Run the command line with the arguments that the process was given."""
    cli.main()
