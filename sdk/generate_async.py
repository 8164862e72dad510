"""The asynchronous client, from the synchronous modules, so that both have one description.

What touches the network is emitted as a coroutine, an async iterator or an async context manager. Everything else is
imported from the synchronous module: models, requests, errors, the rules of retrying.
"""

import ast
from pathlib import Path
from typing import Final

MODULES: Final = (
    "transport",
    "calls",
    "event_stream",
    "transfer",
    "single",
    "program_keys",
    "catalogue",
    "contents",
    "documents",
    "data_sets",
    "evaluation",
    "github",
    "judges",
    "metering",
    "presets",
    "provider_keys",
    "rate_limits",
    "runs",
    "settings",
    "votes",
    "workspace",
)
"""The modules that `Workspace` needs, each after those that it imports. A new group of routes belongs here."""

RENAMED: Final = {
    "Iterator": "AsyncIterator",
    "contextmanager": "asynccontextmanager",
    "closing": "aclosing",
    "iter_bytes": "aiter_bytes",
    "BaseTransport": "AsyncBaseTransport",
    "Client": "AsyncClient",
    "__enter__": "__aenter__",
    "__exit__": "__aexit__",
    "__iter__": "__aiter__",
    "__next__": "__anext__",
}
WORDS: Final = {"in a `with` block": "in an `async with` block", " Thread-safe, like httpx's client.": ""}
"""What docstrings say otherwise."""
EMITTED_ANYWAY: Final = {"TokenSource", "_Body"}
"""They call nothing of ours, but what they promise differs."""
RECEIVERS: Final = {
    "self._calls": "Calls",
    "calls": "Calls",
    "self._transport": "Transport",
    "transport": "Transport",
}
"""Of which class an expression is, by its text."""
AWAITED: Final = {
    "self._client.send": "self._client.send",
    "self._client.close": "self._client.aclose",
    "response.read": "response.aread",
    "response.close": "response.aclose",
    "self._pieces.close": "self._pieces.aclose",
    "self._sleep": "self._sleep",
    "sleep": "sleep",
    "self._source": "self._source",
    "next": "anext",
}
"""Calls that wait, and how they are called in a coroutine."""
HEADER: Final = '"""Written by `sdk/generate.py` from `carrel_sdk.{module}`. Change that, and run it again."""\n\n'
PACKAGE: Final = '''"""The asynchronous client: what `AsyncWorkspace` is made of.

Written by `sdk/generate.py` from the synchronous modules of the same names. Change those, and run it again.

    the network      {0}
    groups           {1}
    more groups      {2}
"""
'''
Function = ast.FunctionDef


class Colours:
    """What is known of all modules so far: which names are emitted, and how each function is called."""

    def __init__(self) -> None:
        self.emitted: dict[str, set[str]] = {}
        self.kinds: dict[str, str] = {}
        """`coroutine`, `iterator` or `context`, by the function's name, with its class before it if it has one."""

    def of(self, function: ast.expr, class_name: str) -> str | None:
        """The kind of what is called here, if it is ours."""
        text = ast.unparse(function)
        if text in AWAITED:
            return "coroutine"
        if text.endswith(".iter_bytes"):
            return "iterator"
        receiver, _, method = text.rpartition(".")
        if not receiver:
            return self.kinds.get(text)
        owner = class_name if receiver == "self" else RECEIVERS.get(receiver)
        return self.kinds.get(f"{owner}.{method}") if owner else None


def kind_of(function: Function, class_name: str, colours: Colours) -> str | None:
    """How a function will have to be called."""
    called = {colours.of(node.func, class_name) for node in ast.walk(function) if isinstance(node, ast.Call)}
    decorators = {ast.unparse(decorator) for decorator in function.decorator_list}
    yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))
    if function.name in ("__enter__", "__exit__"):
        return "coroutine"
    if "contextmanager" in decorators:
        return "context" if called - {None} else None
    if yields:
        return "iterator" if called - {None} else None
    if "coroutine" in called or "context" in called:
        return "coroutine"
    return "iterator" if "iterator" in called else None


def names_in(node: ast.AST) -> set[str]:
    """Every name that is used, annotations in quotes among them."""
    names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return names | {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and type(part.value) is str}


def defined(node: ast.stmt) -> set[str]:
    """The names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def learn(tree: ast.Module, module: str, colours: Colours) -> None:
    """Find what has to be emitted of a module: again and again, until nothing more is found."""
    emitted = colours.emitted.setdefault(module, set())
    foreign = {name for names in colours.emitted.values() for name in names}
    while True:
        before = (len(emitted), len(colours.kinds))
        for node in tree.body:
            owner = node.name if isinstance(node, ast.ClassDef) else ""
            for function in (part for part in ast.walk(node) if isinstance(part, Function)):
                kind = kind_of(function, owner, colours)
                if kind:
                    colours.kinds[f"{owner}.{function.name}" if owner else function.name] = kind
                    emitted |= defined(node)
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and names_in(node) & (foreign | emitted):
                emitted |= defined(node)
            emitted |= defined(node) & EMITTED_ANYWAY
        if before == (len(emitted), len(colours.kinds)):
            return


class Rewriting(ast.NodeTransformer):
    """Rewrites the emitted statements of one module."""

    def __init__(self, colours: Colours, renamed: dict[str, str]) -> None:
        self._colours = colours
        self._renamed = renamed
        self._class = ""
        self._closed: set[str] = set()
        """Variables that hold an iterator which is closed at the end of its block."""

    def _iterates(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self._colours.of(node.func, self._class) == "iterator"

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._class = node.name
        self.generic_visit(node)
        self._class = ""
        node.name = self._renamed.get(node.name, node.name)
        return node

    def visit_FunctionDef(self, node: Function) -> ast.AST:
        kind = kind_of(node, self._class, self._colours)
        yields = any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node))
        self.generic_visit(node)
        node.name = RENAMED.get(node.name, node.name)
        if kind in ("coroutine", "context") or yields:
            return ast.AsyncFunctionDef(node.name, node.args, node.body, node.decorator_list, node.returns)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._renamed.get(node.id, RENAMED.get(node.id, node.id))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if ast.unparse(node) == "time.sleep":
            return ast.parse("asyncio.sleep", mode="eval").body
        self.generic_visit(node)
        node.attr = RENAMED.get(node.attr, node.attr)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str):
            node.value = self._renamed.get(node.value, node.value)
            for here, there in WORDS.items():
                node.value = node.value.replace(here, there)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        text = ast.unparse(node)
        if text in ("Callable[[], str]", "Callable[[float], None]"):
            result = "str" if text.endswith("str]") else "None"
            return ast.parse(text.replace(f", {result}]", f", Awaitable[{result}]]"), mode="eval").body
        if text.startswith("Generator["):
            return ast.parse(f"Async{text.removesuffix(', None]')}]", mode="eval").body
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        kind = self._colours.of(node.func, self._class)
        text = ast.unparse(node.func)
        self.generic_visit(node)
        if text in AWAITED:
            node.func = ast.parse(AWAITED[text], mode="eval").body
        return ast.Await(node) if kind == "coroutine" else node

    def visit_For(self, node: ast.For) -> ast.AST:
        waits = ast.unparse(node.iter) in self._closed or self._iterates(node.iter)
        self.generic_visit(node)
        if not waits:
            return node
        return ast.AsyncFor(target=node.target, iter=node.iter, body=node.body, orelse=node.orelse)

    def visit_With(self, node: ast.With) -> ast.AST:
        first = node.items[0].context_expr
        waits = isinstance(first, ast.Call) and self._colours.of(first.func, self._class) == "context"
        if isinstance(first, ast.Call) and ast.unparse(first.func) == "closing" and self._iterates(first.args[0]):
            self._closed.add(ast.unparse(node.items[0].optional_vars or first))
            waits = True
        self.generic_visit(node)
        return ast.AsyncWith(items=node.items, body=node.body) if waits else node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if not isinstance(node.value, ast.YieldFrom):
            return self.generic_visit(node)
        # An async generator has no `yield from`.
        loop = ast.parse("for item in (): yield item").body[0]
        if not isinstance(loop, ast.For):
            raise TypeError
        loop.iter = node.value.value
        return self.visit_For(loop)


def imports(tree: ast.Module, module: str, colours: Colours, renamed: dict[str, str]) -> list[str]:
    """What the emitted code may need; what it does not is taken out afterwards."""
    lines = ["import asyncio", "from collections.abc import AsyncGenerator, AsyncIterator, Awaitable"]
    for node in tree.body:
        if isinstance(node, ast.Import):
            lines.append(ast.unparse(node))
        elif isinstance(node, ast.ImportFrom):
            source = (node.module or "").removeprefix("carrel_sdk.")
            for alias in node.names:
                if alias.name in colours.emitted.get(source, ()):
                    lines.append(f"from carrel_sdk.aio.{source} import {renamed.get(alias.name, alias.name)}")
                else:
                    lines.append(f"from {node.module} import {RENAMED.get(alias.name, alias.name)}")
        else:
            own = defined(node) - colours.emitted[module]
            lines += [f"from carrel_sdk.{module} import {name}" for name in sorted(own)]
    return lines


def generated(source: Path) -> dict[str, str]:
    """The text of every module of `carrel_sdk/aio`, before it is formatted; `source` is the folder `carrel_sdk`."""
    colours, texts = Colours(), dict[str, str]()
    for module in MODULES:
        tree = ast.parse((source / f"{module}.py").read_text("utf-8"))
        learn(tree, module, colours)
        if not colours.emitted[module]:
            continue
        renamed = {
            name: f"_Async{name[1:]}" if name.startswith("_") else f"Async{name}"
            for names in colours.emitted.values()
            for name in names
            if name.lstrip("_")[:1].isupper()
        }
        kept = [node for node in tree.body if defined(node) & colours.emitted[module]]
        lines = imports(tree, module, colours, renamed)
        rewriting = Rewriting(colours, renamed)
        body = [ast.unparse(ast.fix_missing_locations(rewriting.visit(node))) for node in kept]
        texts[f"{module}.py"] = HEADER.format(module=module) + "\n".join(lines) + "\n\n\n" + "\n\n\n".join(body) + "\n"
    names = [name.removesuffix(".py") for name in texts]
    texts["__init__.py"] = PACKAGE.format(*(" · ".join(part) for part in (names[:4], names[4:12], names[12:])))
    return texts
