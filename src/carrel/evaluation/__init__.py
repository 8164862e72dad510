"""How Carrel has answers judged, and what it concludes from the judgements. This module imports nothing.

Begin with `records`, the judges' verdicts and scores, and `ranking.ranking`, the conclusions. Imports go down this
list only:

    people                     what people would say, from judges on all documents and votes on a few
    verdict                    the words of a verdict; `remarks` lists the kinds of doubts about it
    gate                       whether a candidate is worse than its baseline
    split                      the results on parts of the rows, which have a value in common
    passing                    how often answers pass the checks that need no judge
    judges                     what is known of each judge: agreement, health, a person's check
    ranking                    conclusions about candidates, and how sure they are
    asking                     prompts for a judge, and its replies
    statistics                 intervals, quantiles, means
    records                    the material
"""
