"""``python -m skipstone.cli`` is the ``skipstone`` command."""

from skipstone.cli.main import app

app(prog_name="skipstone")
