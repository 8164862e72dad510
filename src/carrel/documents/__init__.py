"""Documents: files that a user uploads. Their text becomes a content, the original is kept beside it.

From what is shared to the interface:

    what readers share       packages · encodings · markdown · equations · numerals · word_markup
    readers of files         word · slides · html · pdf · mail
    what a file is           formats · extract
    keeping and having read  store · intake · jobs
    the interface            routes · schemas · refusals · upload
"""
