"""The exit codes of every command, for scripts to rely on."""

from enum import IntEnum, unique


@unique
class Exit(IntEnum):
    """What a command ended with."""

    OK = 0
    FAILED = 1
    """Something in memvault went wrong; the message and the logs tell what."""
    USAGE = 2
    """The command line cannot be understood."""
    REFUSED = 3
    """The request was understood and refused; the message says what to change."""
    NOT_FOUND = 4
    """There is no such block or dead letter."""
    UNAVAILABLE = 5
    """memvault does not run, or a part it needs is away; trying again later helps."""
    ALREADY_RUNNING = 6
    """A memvault runs in this folder already."""
    PORT_TAKEN = 7
    """Another program listens on a public port."""
    FOLDER = 8
    """The data folder cannot be used."""
    PARTIAL = 9
    """Some of many things were refused or not there, or the doctor found something."""
    MISCONFIGURED = 78
    """A setting cannot be used."""
    INTERRUPTED = 130
    """Stopped by ctrl-C."""
