"""Jobs can be asked for all that their commands can. No Spark."""

from __future__ import annotations

import pytest
from typer.main import get_command

from skipstone.actions.advise import Advise
from skipstone.actions.drop import Drop
from skipstone.actions.replicate import Replicate
from skipstone.cli.main import app
from skipstone.server.job_arguments import AdviseArguments, DropArguments, ReplicateArguments
from skipstone.server.job_kinds import KINDS

COMMANDS = get_command(app).commands  # type: ignore[attr-defined]
# What has a place of its own in a request, and what a shell needs only.
OF_THE_SHELL = {
    *("table", "more", "each", "queries", "dialect", "column", "format"),
    *("as_json", "conf", "master", "directory", "output"),
    *("parsed", "plot"),
    *("once", "watch", "interval"),
}


@pytest.mark.parametrize("name", sorted(set(KINDS) & set(COMMANDS)))
def test_every_option_of_a_command_is_an_argument_of_its_job(name: str) -> None:
    options = {option.name for option in COMMANDS[name].params}
    arguments = set(KINDS[name].arguments.model_fields)
    assert options - OF_THE_SHELL <= arguments
    assert arguments <= options


def test_the_options_of_single_layouts_reach_the_action() -> None:
    given = ReplicateArguments(layout="gsop", grouping="single", max_vectors=50, block_rows=9)
    replicate = KINDS["replicate"].make(given, None)
    assert isinstance(replicate, Replicate)
    assert replicate.options.own == {"grouping": "single", "max_vectors": "50"}
    assert replicate.options.block_rows == 9
    advise = KINDS["advise"].make(AdviseArguments(layout=["gsop", "qdtree"], balance="worst"), None)
    assert isinstance(advise, Advise)
    assert (advise.layouts, advise.options.own) == (("gsop", "qdtree"), {"balance": "worst"})
    drop = KINDS["drop"].make(DropArguments(replica="a", now=True), None)
    assert isinstance(drop, Drop)
    assert drop.now
