/** Names of models as people type them: what is wrong with one, and which one was probably meant. */
import type { Model } from "../api/types";

const FAR = 3;

/** What to tell about a name while it is typed; nothing if a model is known by it. */
export function hintForModel(name: string, models: readonly Model[]): string | undefined {
  const wanted = name.trim();
  if (!wanted) return undefined;
  const found = models.find((one) => one.model === wanted);
  if (found) return found.reason === "provider-key-missing" ? noKey(found.provider) : undefined;
  const [provider = ""] = wanted.split(":");
  const ofProvider = models.filter((one) => one.provider === provider);
  const near = nearest(wanted, models);
  const meant = near ? ` Did you mean ${near}?` : "";
  if (!wanted.includes(":"))
    return near ? `Did you mean ${near}?` : "Name the provider first, such as openai:gpt-6-luna.";
  // Its key opens no list that we know of, or there is none: the service will tell when the set-up is saved.
  if (!ofProvider.length) return near ? meant.trim() : noKey(provider);
  return `“${wanted.slice(provider.length + 1)}” is not among the ${ofProvider.length} models of ${provider} that you can call.${meant}`;
}

function noKey(provider: string): string {
  return `No key of yours opens models of ${provider}.`;
}

/** The model whose name is nearest to what was typed, if one is near. */
export function nearest(name: string, models: readonly Model[]): string | undefined {
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let least = Math.min(FAR, Math.floor(wanted.length / 3)) + 1;
  for (const { model } of models) {
    const known = model.toLowerCase();
    const bare = known.slice(known.indexOf(":") + 1);
    const distance = Math.min(
      distanceOf(wanted, known, least),
      wanted.includes(":") ? least : distanceOf(wanted, bare, least),
    );
    if (distance < least) [best, least] = [model, distance];
  }
  return best;
}

/** Levenshtein's distance; `most` where it is that or more. */
function distanceOf(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) >= most) return most;
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const change = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return Math.min(most, row[other.length] ?? most);
}

/** Whether the name is that of a model which writes texts: providers list those for sounds and pictures, too. */
export function writesTexts({ model }: Pick<Model, "model">): boolean {
  return !/embed|tts|whisper|image|dall-e|audio|realtime|moderation|transcribe|sora|ocr|rerank|guard|veo|imagen/i.test(
    model,
  );
}
