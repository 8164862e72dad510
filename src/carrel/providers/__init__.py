"""Where answers come from: what a provider is, and each one Carrel can call.

Begin with `base`, what every provider does, and `registry`, which has them all. `local` holds the built-in models.

    what there is     base · registry · catalogue · names · families · prices · keys
    over HTTP         wired · transport · streamed · refusals · codes · recent_lists
    where to          base_url · addresses
    chat completions  openai_chat · openai_wire · openai_stream
    Anthropic         anthropic_messages · anthropic_answers
    Google            google_generate · google_answers
    prompts           fence
"""
