"""Keys that do not simply stand in a header: they are traded for a token, or sign each request.

trades in general, Google Vertex, Azure    trade · service_account · entra
Amazon Bedrock                             aws
"""
