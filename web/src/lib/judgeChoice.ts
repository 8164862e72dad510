/** Which judges a comparison starts with: cheap ones that can read, of families that do not compete. */
import type { Model } from "../api/types";
import { writesTexts } from "./modelNames";

const WANTED = 2;
/** A judge reads the document, both answers and the question. */
const READS_TOKENS = 16_000;

/**
 * Two judges for these candidates. Models that a key opens come before the built-in ones, families that do not compete
 * before those that do, and cheap ones before dear ones. Without any such model the built-in judges judge.
 */
export function judgesFor(
  models: readonly Model[],
  candidates: readonly string[],
  among: readonly Model[] = models,
): Model[] {
  const competing = new Set(models.filter(({ model }) => candidates.includes(model)).map(({ family }) => family));
  const able = among.filter((model) => model.available && model.roles.includes("judge"));
  const rented = able.filter(
    (model) =>
      model.provider !== "local" &&
      writesTexts(model) &&
      !candidates.includes(model.model) &&
      (model.context_tokens ?? READS_TOKENS) >= READS_TOKENS,
  );
  if (!rented.length) return able.filter(({ provider }) => provider === "local").slice(0, WANTED);
  const sorted = rented.toSorted(
    (one, other) =>
      Number(competing.has(one.family)) - Number(competing.has(other.family)) ||
      priceOf(one) - priceOf(other) ||
      one.model.localeCompare(other.model),
  );
  const first = sorted[0];
  // The second one of another family, so that the two do not share a taste, unless that one competes.
  const second =
    sorted.find((model) => model !== first && model.family !== first?.family && !competing.has(model.family)) ??
    sorted.find((model) => model !== first);
  return [first, second].filter((model) => model !== undefined);
}

/** Dollars for a million tokens in and a quarter of that out, as judges read and write; unknown ones come last. */
function priceOf({ prices }: Model): number {
  return prices ? Number(prices.input_per_million) + Number(prices.output_per_million) / 4 : Infinity;
}
