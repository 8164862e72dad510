"""The program `carrel`: one module for each command, imported only when that command runs.

Begin with `main`, which finds the command. Users' commands go through the SDK, as any other program would.

    everybody     main · refusal · secret_input
    operators     init · serve · openapi · admin · backup · verify · restore
    their parts   server · protocol · operating
    users         login · content · preset · run · models · keys · rate_limits · usage · settings · github · workspace
    their parts   desk · tokens · saving · watch · vote · ranking_table
    the demo      demo · own_service · at_rest
"""
