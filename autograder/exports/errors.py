"""What stops an export."""


class ExportError(ValueError):
    """Something given can't be used; the message is one line and says what to do."""
