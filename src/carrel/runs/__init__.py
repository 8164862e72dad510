"""Runs: a preset's snapshot driven through candidates and judges, task by task, every result a row before it counts.

Begin with `plan`, which says what tasks there are, and `engine`, which keeps every run of the process going. `drive` is
one run under way; `claims` and `outcomes` are its transactions before and after each call.

    words           states · schemas · setup · rounds · texts · log · names
    making a run    routes · snapshot · keeper · plan · phases · reevaluate · labels
    costs before    estimate · foresight · pricing · keyed
    working on it   engine · drive · claims · needs · steps · outcomes · answers · backoff · funds
    taking turns    gate · slots · places
    steering it     control_routes · controls · moves · store · tasks · retention
    following it    artifact_routes · pace · hub · events · sharing
    judging         evidence · judgement · combining · rankings · whatif
    blind votes     vote_routes · ballots · pairing · votes
    several runs    across_routes · across · finished · pooling
    to the library  outputs
    to GitHub       github_routes · github_schemas · github_import · github_export · deliveries
"""
