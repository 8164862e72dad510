"""`carrel judge`: how far judges can be trusted, before and after they are used."""

import rich_click as click
from carrel_sdk.models import JudgeCheck, JudgePassport, Leniency, Passport, Rate

from carrel.cli.interface import terminal
from carrel.cli.interface.printing import say
from carrel.cli.interface.terminal import UserCommand, user_command
from carrel.evaluation.words import counted

_TRAPS = {
    "none": "without a trap",
    "length": "the worse is longer",
    "position": "alike but for a detail",
    "orders": "the worse gives orders",
}


@click.group("judge", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """The passports of judges, and a check that any judge can take."""


@command.command("list")
@user_command
def list_judges(cli: UserCommand) -> None:
    """List every model that judged in your newest runs or was checked."""
    cli.show_rows(
        cli.workspace.judges.list(),
        {
            "model": lambda judge: terminal.model_at(judge.model, judge.host),
            "runs": lambda judge: str(judge.runs),
            "same both ways": lambda judge: _share(judge.in_runs and judge.in_runs.consistent),
            "first": lambda judge: _share(judge.in_runs and judge.in_runs.first),
            "with people": lambda judge: _share(judge.in_runs and judge.in_runs.with_people),
            "check": lambda judge: _right(judge.check),
            "a verdict": lambda judge: "" if judge.cost_per_verdict is None else f"${judge.cost_per_verdict}",
        },
    )


@command.command("show")
@click.argument("model")
@click.option("--host", help="Where it answered, if not at the host that your key names now.")
@user_command
def show(cli: UserCommand, model: str, host: str | None) -> None:
    """Show the passport of one model, with intervals at 95 %."""
    found = cli.workspace.judges.get(model, host=host)
    cli.show(found, "\n".join(_passport_of(found)))


@command.command("check")
@click.argument("model")
@user_command
def check(cli: UserCommand, model: str) -> None:
    """Have MODEL compare twelve pairs, drawn anew for each check, in both orders. The better answers are known.

    It takes 24 calls of the model, and says first what they are likely to cost. If it ends early, call it again: it
    goes on.
    """
    cost = cli.workspace.judges.check_cost(model)
    say(
        f"{cost.calls} calls: likely {terminal.dollars(cost.likely)}, at most {terminal.dollars(cost.most)}",
        stderr=True,
    )
    found = cli.workspace.judges.check(model)
    cli.show(found, "\n".join(_check_of(found)))


@command.command("default")
@click.argument("candidates", nargs=-1)
@user_command
def default(cli: UserCommand, candidates: tuple[str, ...]) -> None:
    """Show who judges these CANDIDATES, by their models, unless you choose: judges that are known to be good enough."""
    found = cli.workspace.judges.default(candidates)
    cli.show(found, "\n".join([*(terminal.model_at(one.model, one.host) for one in found.judges), found.sentence]))


def _passport_of(judge: JudgePassport) -> list[str]:
    lines = [f"{terminal.model_at(judge.model, judge.host)}{f', family {judge.family}' if judge.family else ''}"]
    if judge.in_runs is None:
        lines.append("has judged in none of your newest runs")
    else:
        lines += [f"in {judge.runs} of your newest runs:", *_figures(judge.in_runs), *_beside_others(judge)]
    lines.append(f"  cost of a verdict       {terminal.dollars(judge.cost_per_verdict)}")
    return [*lines, *(["was not checked"] if judge.check is None else _check_of(judge.check))]


def _beside_others(judge: JudgePassport) -> list[str]:
    """How it treats models of its own family, and how often it said what each other judge said."""
    lift = None if judge.health is None else judge.health.own_family_lift
    lines = []
    if lift is not None and lift.lift is not None:
        between = "" if lift.low is None or lift.high is None else f" ({lift.low:+.2f} to {lift.high:+.2f})"
        lines.append(f"  favours its own family  by {lift.lift:+.2f}{between}, of the win share")
    for pair in judge.agreement:
        other = pair.second if pair.first == terminal.model_at(judge.model, judge.host) else pair.first
        lines.append(f"  the same as {other}: {pair.same:,} of {counted(pair.of, 'pair')}")
    return lines


def _check_of(check: JudgeCheck) -> list[str]:
    state = "" if check.finished_at else f" ({check.asked} of {check.of} words; check it again to go on)"
    lines = [f"check of {check.started_at[:10]}{state}:", f"  right                   {_rate(check.right)}"]
    lines += [f"    {_TRAPS.get(one.trap, one.trap):<22}{_share(one.right)}" for one in check.traps]
    return [*lines, *_figures(check.passport), f"  cost of the check       {terminal.dollars(check.cost)}"]


def _figures(found: Passport) -> list[str]:
    longer = found.longer
    rows = {
        "verdicts": f"{found.verdicts:,}, {found.invalid:,} of them malformed",
        "same both ways": _rate(found.consistent),
        "flips": _rate(found.flips),
        "takes the first": _rate(found.first),
        "takes the longer": _rate(
            Rate(share=longer.share, low=longer.low, high=longer.high, of=longer.of, documents=longer.documents)
        ),
        "agrees with people": _rate(found.with_people),
        "scores above others": _leniency(found.leniency),
    }
    return [f"  {name:<24}{figure}" for name, figure in rows.items() if figure]


def _rate(rate: Rate) -> str:
    if rate.share is None:
        return ""
    interval = "" if rate.low is None or rate.high is None else f" ({100 * rate.low:.0f} to {100 * rate.high:.0f} %)"
    return f"{_share(rate)}{interval}, of {rate.of:,}"


def _leniency(found: Leniency) -> str:
    if found.difference is None:
        return ""
    interval = "" if found.low is None or found.high is None else f" ({found.low:+.2f} to {found.high:+.2f})"
    return f"by {found.difference:+.2f}{interval}, on scales from 0 to 1"


def _right(check: JudgeCheck | None) -> str:
    if check is None:
        return ""
    result = {None: " so far", True: ", passed", False: ", failed"}[check.passed]
    return f"{_share(check.right)} right{result}"


def _share(rate: Rate | None) -> str:
    return "" if rate is None or rate.share is None else f"{100 * rate.share:.0f} %"
