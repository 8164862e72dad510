"""How Carrel has answers judged, and what it concludes from the judgements. This module imports nothing.

Begin with `records`, the judges' verdicts and scores, and `ranking`, the conclusions.

    asking a judge   judge · replies
    one-off calls    routes · schemas · single
    the material     records · table · shares · scores
    conclusions      ranking · bradley_terry · verdict · stopping · power
    doubts           doubts · length · health · agreement · human
    arithmetic       intervals · quantiles
"""
