"""`carrel models`: the models that candidates and judges can use."""

import rich_click as click
from carrel_sdk.catalogue import Model

from carrel.cli.interface.terminal import UserCommand, user_command


@click.group("models", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """The models that candidates and judges can use."""


@command.command("list")
@click.argument("words", nargs=-1)
@click.option("--role", type=click.Choice(["generate", "judge"]), help="Only models that can do this.")
@click.option("--available", is_flag=True, help="Only models that you can call now.")
@user_command
def list_models(cli: UserCommand, words: tuple[str, ...], role: str | None, available: bool) -> None:
    """List models. With WORDS, only those whose name contains all of them."""
    found = (
        model
        for model in cli.workspace.models.each()
        if all(word.lower() in model.model.lower() for word in words)
        and (role is None or role in model.roles)
        and (model.available or not available)
    )
    cli.show_rows(
        found,
        {
            "model": lambda model: model.model,
            "does": lambda model: ", ".join(model.roles),
            "context": lambda model: "" if model.context_tokens is None else f"{model.context_tokens:,}",
            "in, out (per million)": _price,
            "now": lambda model: "yes" if model.available else model.reason or "no",
        },
    )


@command.command("show")
@click.argument("model")
@user_command
def show(cli: UserCommand, model: str) -> None:
    """Show what is known about one model, by its full name."""
    found = cli.workspace.models.get(model)
    lines = [
        f"model    {found.model}",
        f"does     {', '.join(found.roles)}",
        f"now      {'yes' if found.available else found.reason or 'no'}",
        f"context  {'unknown' if found.context_tokens is None else f'{found.context_tokens:,} tokens'}",
        f"price    {_price(found) or 'unknown'}",
    ]
    cli.show(found, "\n".join([*lines, *([found.description] if found.description else [])]))


def _price(model: Model) -> str:
    prices = model.prices
    return "" if prices is None else f"${prices.input_per_million}, ${prices.output_per_million}"
