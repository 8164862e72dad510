"""Where answers come from: what a provider is, and each one Carrel can call.

Begin with `base`, what every provider does, and `registry`, which has them all. `local` holds the built-in models,
`protocols` what is said over the wire, and `connections` how it gets there.

    what there is   base · remote · registry · catalogue · families · prices · own_prices · endings
    over HTTP       http_provider · extra · refusals · waits · recent_lists
    what it brings  answer_room · foreign_json · thought
    at half price   batches · batch_client
    where to        base_url · hosts
    prompts         fence
"""
