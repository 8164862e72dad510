import { expect, test } from "vitest";
import type { Report } from "../../../api/types";
import { formatsFor } from "../../../lib/format";
import { decisionOf } from "./decision";

const formats = formatsFor("en", "UTC");
const REPORT = {
  finished: true,
  verdict: { outcome: "decided", notes: [] },
  ranking: {
    basis: "comparisons",
    documents: 25,
    exploratory: false,
    leaders: ["gpt-5"],
    rows: [
      { candidate: "gpt-5", win_share: 0.86, low: 0.8, high: 0.91 },
      { candidate: "mini", win_share: 0.5, low: 0.44, high: 0.57 },
    ],
    contrasts: [{ candidate: "mini", lead: 0.19, low: 0.01, high: 0.37, scale: "win_share", excludes_zero: true }],
  },
  candidates: [
    { candidate: "gpt-5", cost_per_answer: "0.003963" },
    { candidate: "mini", cost_per_answer: "0.0006" },
  ],
  human: null,
  judges: [],
} as unknown as Report;

function having(verdict: object, ranking: object = {}): Report {
  return {
    ...REPORT,
    verdict: { ...REPORT.verdict, ...verdict },
    ranking: { ...REPORT.ranking, ...ranking },
  };
}

test("a decided comparison says which one to take, its price, what the next one offers, and the lead that decides", () => {
  expect(decisionOf(REPORT, formats)).toEqual({
    headline: "Take gpt-5.",
    lines: [
      {
        candidate: "gpt-5",
        facts: "preferred in 86\u00a0% of pairs (80\u00a0% to 91\u00a0%) · $3.96 per 1,000 answers.",
      },
      {
        candidate: "mini",
        facts: "preferred in 50\u00a0% of pairs (44\u00a0% to 57\u00a0%) · $0.60 per 1,000 answers, 6.6 times less.",
      },
    ],
    leads: [{ rival: "mini", lead: "+19, +1 to +37", isClear: true }],
    leadsIn: "points of preference",
  });
  expect(decisionOf(having({}, { basis: "scores" }), formats)?.leadsIn).toBe("mean scores, from 0 to 1");
});

test("the headline is never stronger than the verdict", () => {
  const open = { contrasts: [{ candidate: "mini", excludes_zero: false, documents_needed: { low: 55, high: 85 } }] };
  const headlines = [
    having({ doubted: true }),
    having({}, { exploratory: true }),
    having({ outcome: "undecided" }, open),
    having({ outcome: "too_few" }),
    having({ outcome: "too_few" }, { leaders: ["gpt-5", "mini"] }),
  ].map((report) => decisionOf(report, formats)?.headline);
  expect(headlines).toEqual([
    "gpt-5 is ahead.",
    "gpt-5 would be ahead with these judges and weights.",
    "Nothing to choose between gpt-5 and mini yet; 30 to 60 more documents would tell.",
    "Too few documents to choose: gpt-5 leads so far.",
    "Too few documents to choose: gpt-5 and mini are level so far.",
  ]);
  expect(decisionOf(having({ outcome: "nothing" }), formats)).toBeUndefined();
});

test("candidates that cost nothing are called free, and the price of one that is not known is left out", () => {
  const candidates = [
    { candidate: "gpt-5", cost_per_answer: "0" },
    { candidate: "mini", cost_per_answer: null },
  ];
  const lines = decisionOf({ ...REPORT, candidates } as unknown as Report, formats)?.lines ?? [];
  expect(lines[0]?.facts).toMatch(/ · free\.$/);
  expect(lines[1]?.facts).toMatch(/\)\.$/);
});

test("a lead is rounded as the report rounds it: one that is not 0 does not look like 0", () => {
  const contrasts = [{ ...REPORT.ranking.contrasts[0], lead: 0.004, low: -0.025, high: 0.033 }];
  expect(decisionOf(having({}, { contrasts }), formats)?.leads[0]?.lead).toBe("+0.4, −2 to +3");
});
