"""The wire protocols of providers, as bytes: pure, without connections.

To add one, write a module here with a class that is a `wire.Wire`, name the class in an entry of `providers.catalogue`,
and add a test of the module. `tests/providers/protocols/test_every_wire.py` covers every entry without a change.

    what all have in common    wire · streamed · names · citations
    chat completions           openai_chat · openai_wire · openai_stream
    OpenAI's Responses         openai_responses
    Anthropic's messages       anthropic_messages · anthropic_answers
    batches of both            openai_batches · anthropic_batches
    Google's generateContent   google_generate · google_answers
    Bedrock's Converse         bedrock_converse · bedrock_answers
    both at Google's Vertex    vertex
"""
