"""How answers are judged, and what may be concluded from the judgements; the package itself imports nothing.

Begin with `records`, what judges said, and `ranking`, what follows from it.

    asking a judge   judge · replies
    one-off calls    routes · schemas · single
    the material     records · table · shares · scores
    conclusions      ranking · bradley_terry · verdict · stopping · power
    doubts           doubts · length · health · agreement · human
    arithmetic       intervals · quantiles
"""
