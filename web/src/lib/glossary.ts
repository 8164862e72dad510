/** What the words of statistics mean that a page cannot do without: each in a sentence or two. */
export const GLOSSARY = {
  run: {
    name: "Run",
    meaning: "One comparison from its start to its verdict. Who starts it again makes another run.",
  },
  preset: {
    name: "Preset",
    meaning: "The set-up of a comparison: documents, candidates and judges, kept to run again.",
  },
  preferred: {
    name: "Preferred in; also win share",
    meaning:
      "The part of its pairs that a candidate won. One without a clear winner counts half, and every document has one voice.",
  },
  lead: { name: "Lead", meaning: "By how many points of a hundred a candidate is preferred more than another one." },
  interval: {
    name: "95 % interval",
    meaning:
      "Of many such ranges, from runs over documents like these, 95 in 100 would hold the true value. A wide one means too few documents.",
  },
  flip: {
    name: "Flip",
    meaning: "The judge changed its mind: it preferred the other answer when the two had changed places.",
  },
  alpha: {
    name: "α, after Krippendorff",
    meaning:
      "How far judges agree beyond chance: 1 is always, 0 is what chance would bring, and less than 0 is less than that.",
  },
  lift: { name: "Lift", meaning: "How much better a judge treats models of its own family than the other judges do." },
  leniency: { name: "Leniency", meaning: "How much higher a judge scores than the others, on a scale from 0 to 1." },
  passport: {
    name: "Passport",
    meaning: "What is known of a judge: how often it flips, what it leans to, and how far it agrees with people.",
  },
  rating: {
    name: "Rating, after Bradley and Terry",
    meaning: "It counts who beat whom: a win over a strong candidate is worth more than one over a weak one.",
  },
  finalists: {
    name: "Finalists",
    meaning: "The candidates with the best scores. Only they are compared two by two, which saves calls.",
  },
  exploratory: {
    name: "Exploratory",
    meaning: "Somebody chose judges or weights after the results were seen, so the verdict proves nothing.",
  },
} as const;

export type Entry = keyof typeof GLOSSARY;
