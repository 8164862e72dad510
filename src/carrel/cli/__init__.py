"""The program `carrel`: one module for each command, which is imported only when that command runs.

Begin with `main`, which finds the command. The users' commands go through the SDK, as any other program would.

<<<<<<< HEAD
    operators   init · serve · openapi · admin · backup · verify · restore
    users       login · content · preset · run · run_vote · models · keys · rate_limits · usage · settings · github ·
                workspace
    everybody   demo

Everything that is not a command is in a package: `interface` (what commands share), `serving` (the server inside of
`serve`) and `demonstration` (what `demo` needs).
=======
    everybody     main · refusal · secret_input
    operators     init · serve · openapi · admin · backup · verify · restore
    their parts   server · protocol · operating
    users         login · content · preset · run · models · keys · rate_limits · usage · settings · github · workspace
    their parts   terminal · tokens · saving · watch · vote · ranking_table
    the demo      demo · own_service · at_rest
>>>>>>> c5cdfe0 (tests: speak to public names, 134 private touches become 37)
"""
