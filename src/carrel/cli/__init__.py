"""The program `carrel`: one module for each command, which is imported only when that command runs.

Begin with `program`, which runs first, and `main`, which finds the command. The commands of operators are in
`operators`, those of users in `users`; `start`, `demo`, `rank` and `verify_receipt` are
everybody's.

Everything that is not a command is in a package: `interface` (what commands share), `serving` (the server inside of
`serve`) and `demonstration` (what `demo` needs).
"""
