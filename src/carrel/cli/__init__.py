"""The program `carrel`: one module for each command, which is imported only when that command runs.

Begin with `program`, which runs first, and `main`, which finds the command. The users' commands go through the SDK, as
any other program would.

    operators   init · serve · openapi · admin · cluster · cluster_moves · backup · verify · restore
    users       login · content · data_set · preset · run · run_vote · models · judge · keys · rate_limits · usage
    likewise    settings · github · workspace · votes · program_key · mcp · gate
    likewise    rotate_service_key
    everybody   program · main · demo · rank · verify_receipt

Everything that is not a command is in a package: `interface` (what commands share), `serving` (the server inside of
`serve`) and `demonstration` (what `demo` needs).
"""
