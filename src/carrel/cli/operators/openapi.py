"""`carrel openapi`: print the description that is committed as `openapi.json` and served at `/api/openapi.json`."""

import rich_click as click

from carrel.cli.interface.printing import say


@click.command("openapi")
@click.option("--page", is_flag=True, help="As a page, the one at /api/docs.")
def command(page: bool) -> None:
    """Print the OpenAPI description of every route, with the default limits."""
    from carrel.app import docs
    from carrel.app.wiring import create_app
    from carrel.config import Secret, Settings

    # No database is opened and nothing is served, so no real secret is needed.
    settings = Settings(plugin_secret=(Secret(b""),), service_key=Secret(b""))
    described = docs.describe(create_app(settings).app, settings)
    say((described.page if page else described.document).decode(), end="")
