"""`carrel models`: the models that candidates and judges can use."""

import rich_click as click
from carrel_sdk.models import Model

from carrel.cli.interface import terminal
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
            "model": lambda model: terminal.model_at(model.model, model.host),
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
        f"model    {terminal.model_at(found.model, found.host)}",
        f"does     {', '.join(found.roles)}",
        f"now      {'yes' if found.available else found.reason or 'no'}",
        f"context  {'unknown' if found.context_tokens is None else f'{found.context_tokens:,} tokens'}",
        f"price    {_price(found) or 'unknown'}",
    ]
    cli.show(found, "\n".join([*lines, *([found.description] if found.description else [])]))


@command.command("prices")
@user_command
def prices(cli: UserCommand) -> None:
    """List the prices that you have set, in US dollars for a million tokens."""
    cli.show_rows(
        cli.workspace.models.prices(),
        {
            "model": lambda price: price.model if ":" in price.model else f"{price.model}, all others",
            "in, out (per million)": lambda price: f"${price.input_per_million}, ${price.output_per_million}",
            "since": lambda price: price.updated_at[:10],
        },
    )


@command.command("set-price")
@click.argument("model")
@click.option("--input", "given", required=True, metavar="DOLLARS", help="For a million tokens read; 0 is free.")
@click.option("--output", "written", required=True, metavar="DOLLARS", help="For a million tokens written; 0 is free.")
@user_command
def set_price(cli: UserCommand, model: str, given: str, written: str) -> None:
    """Say what a model costs with your own key, by its full name or, for all models of unknown price, its provider."""
    saved = cli.workspace.models.set_price(model, input_per_million=given, output_per_million=written)
    words = f"${saved.input_per_million} in and ${saved.output_per_million} out for a million tokens"
    cli.show(saved, f"{saved.model}: {words}")


@command.command("unset-price")
@click.argument("model")
@user_command
def unset_price(cli: UserCommand, model: str) -> None:
    """Remove a price that you have set. Calls that were made keep their costs."""
    cli.workspace.models.unset_price(model)
    cli.show_done("unset", model)


def _price(model: Model) -> str:
    prices = model.prices
    if prices is None:
        return ""
    yours = ", yours" if prices.source == "own" else ""
    return f"${prices.input_per_million}, ${prices.output_per_million}{yours}"
