import type { Model } from "../api/types";
import { useFormats } from "../app/context";

/** What a model costs and reads, in one line; or why it cannot be called. */
export function ModelFacts({ model }: { model: Model }) {
  const formats = useFormats();
  return <span className="small dim num">{factsOf(model, formats)}</span>;
}

function factsOf(model: Model, formats: ReturnType<typeof useFormats>): string {
  if (!model.available) return model.reason === "provider-key-missing" ? "needs a key" : "not available";
  const context = model.context_tokens === null ? "" : `reads ${formats.short(model.context_tokens)}`;
  if (model.provider === "local") return [context, "free"].filter(Boolean).join(" · ");
  const price = model.prices
    ? `${formats.dollars(model.prices.input_per_million)} in, ${formats.dollars(model.prices.output_per_million)} out${model.prices.source === "own" ? " (your price)" : ""}`
    : "price unknown";
  return [context, price, model.ends_on && `ends ${model.ends_on}`].filter(Boolean).join(" · ");
}
