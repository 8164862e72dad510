"""Documents: files that a user uploads. Their text becomes a content, the original is kept beside it.

    the interface            routes · schemas · refusals · upload
    keeping and having read  store · intake · jobs
    what a file is           formats · extract
    readers of files         word · slides · html · pdf · mail
    what readers share       packages · encodings · markdown · equations · numerals · word_markup
"""
