/** The decision in plain words: which one to take, what it costs, and what else there is. As strong as the verdict. */
import type { Report } from "../../../api/types";
import type { Formats } from "../../../lib/format";
import { measureOf } from "../../../lib/interval";
import { range } from "../../../lib/intervals";

export interface Decision {
  headline: string;
  /** What speaks for the first one, and what the next one offers. */
  lines: { candidate: string; facts: string }[];
  /** The lead over each rival with its interval: the evidence that decides. */
  leads: { rival: string; lead: string; isClear: boolean }[];
  /** What the leads count. */
  leadsIn: string;
}

const CHEAPER = 1.5;

/** Nothing where nobody is ahead, because nothing was compared or the candidates never met. */
export function decisionOf(report: Report, formats: Formats): Decision | undefined {
  const { verdict, ranking } = report;
  const [first] = ranking.rows;
  if (!first || verdict.outcome === "nothing" || verdict.outcome === "disconnected") return undefined;
  const lines = ranking.rows.slice(0, 2).flatMap(({ candidate }) => {
    const preferred = preferredOf(report, candidate, formats);
    const price = priceInWords(report, candidate, formats);
    return preferred ? [{ candidate, facts: `${[preferred, price].filter(Boolean).join(" · ")}.` }] : [];
  });
  const leadsIn = ranking.basis === "scores" ? "mean scores, from 0 to 1" : "points of preference";
  return { headline: headlineOf(report, formats), lines, leads: leadsOf(report, formats), leadsIn };
}

function headlineOf(report: Report, formats: Formats): string {
  const { verdict, ranking } = report;
  const leader = ranking.leaders[0] ?? ranking.rows[0]?.candidate ?? "";
  const rivals = ranking.contrasts.filter((one) => !one.excludes_zero).map(({ candidate }) => candidate);
  switch (verdict.outcome) {
    case "decided":
      if (ranking.exploratory) return `${leader} would be ahead with these judges and weights.`;
      return verdict.doubted || !report.finished ? `${leader} is ahead.` : `Take ${leader}.`;
    case "undecided":
    case "level": {
      const names = [...new Set([...ranking.leaders, ...rivals])];
      if (names.length < 2) return `${leader} leads, but nothing is decided.`;
      return `Nothing to choose between ${listed(names)} yet${moreDocuments(report, formats)}.`;
    }
    default: {
      const { leaders } = ranking;
      const stands = leaders.length > 1 ? `${listed(leaders)} are level` : `${leader} leads`;
      return `Too few documents to choose: ${stands} so far.`;
    }
  }
}

/** How many more documents would tell, if that can be told. */
function moreDocuments({ ranking }: Report, formats: Formats): string {
  const needed = ranking.contrasts.filter((one) => !one.ahead).map((one) => one.documents_needed);
  const known = needed.filter((one) => one !== null && one !== undefined);
  if (!known.length || known.length < needed.length) return "";
  const more = (documents: number) => formats.integer(Math.max(1, documents - ranking.documents));
  const [low, high] = [Math.max(...known.map((one) => one.low)), Math.max(...known.map((one) => one.high))];
  return `; ${more(low) === more(high) ? more(low) : `${more(low)} to ${more(high)}`} more documents would tell`;
}

/** What 1,000 answers cost, and how far that is from what those of the first one cost. */
function priceInWords(report: Report, candidate: string, formats: Formats): string {
  const price = priceOf(report, candidate);
  if (price === undefined) return "";
  if (price === 0) return "free";
  const first = priceOf(report, report.ranking.rows[0]?.candidate ?? "") ?? 0;
  const [low, high] = [Math.min(first, price), Math.max(first, price)];
  const times = low > 0 && high / low >= CHEAPER ? `, ${formats.decimal(high / low, 1)} times ` : "";
  const beside = times && `${times}${price < first ? "less" : "more"}`;
  return `${formats.briefDollars((1000 * price).toFixed(6))} per 1,000 answers${beside}`;
}

function preferredOf({ ranking }: Report, candidate: string, formats: Formats): string {
  const row = ranking.rows.find((one) => one.candidate === candidate);
  const measure = row && measureOf(ranking, row);
  if (!measure) return "";
  const isShare = ranking.basis !== "scores";
  const write = (value: number) => (isShare ? formats.percent(value) : formats.decimal(value));
  const said = isShare ? `preferred in ${write(measure.value)} of pairs` : `mean score ${write(measure.value)}`;
  return measure.low === null || measure.high === null ? said : `${said} (${range(measure.low, measure.high, write)})`;
}

function leadsOf({ ranking }: Report, formats: Formats): Decision["leads"] {
  return ranking.contrasts
    .filter((one) => one.scale !== "rating")
    .map((one) => {
      const scale = one.scale === "win_share" ? 100 : 1;
      const signed = (value: number) => {
        // A lead that is not 0 must not look like 0, because its sign matters; the report writes it so, too.
        const points = Math.abs(value) >= 0.005 || value === 0 ? 0 : 1;
        const text = formats.decimal(Math.abs(value * scale), scale === 100 ? points : 2);
        return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
      };
      const interval = one.low === null || one.high === null ? "" : `, ${range(one.low, one.high, signed)}`;
      return { rival: one.candidate, lead: `${signed(one.lead)}${interval}`, isClear: one.excludes_zero };
    });
}

function priceOf({ candidates }: Report, candidate: string): number | undefined {
  const cost = candidates.find((one) => one.candidate === candidate)?.cost_per_answer;
  return cost === null || cost === undefined ? undefined : Number(cost);
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}
