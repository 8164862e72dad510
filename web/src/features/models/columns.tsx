import { Link } from "@tanstack/react-router";
import type { Model } from "../../api/types";
import { useFormats } from "../../app/context";
import type { Column } from "../../components/table/column";
import type { Formats } from "../../lib/format";
import { modelAt } from "../../lib/modelAt";

/** What is known of a model before it is called. */
export function columnsOf(formats: Formats): [Column<Model>, ...Column<Model>[]] {
  return [
    {
      id: "model",
      label: "Model",
      isText: true,
      value: modelAt,
      cell: (model) => <Name model={model} />,
    },
    {
      id: "about",
      label: "What it is",
      isText: true,
      className: "whole",
      value: about,
      cell: (model) => <span className="small dim">{about(model)}</span>,
    },
    {
      id: "family",
      label: "Family",
      isText: true,
      isExtra: true,
      value: ({ family }) => family,
      cell: ({ family }) => family,
    },
    {
      id: "reads",
      label: "Reads, tokens",
      isBestHigh: true,
      value: ({ context_tokens }) => context_tokens,
      cell: ({ context_tokens }) => (context_tokens === null ? "–" : formats.short(context_tokens)),
    },
    {
      id: "price",
      label: "Price per million tokens",
      value: ({ provider, prices }) =>
        provider === "local" ? 0 : prices ? Number(prices.input_per_million) + Number(prices.output_per_million) : null,
      cell: (model) => <Price model={model} />,
    },
    {
      id: "ends",
      label: "Switched off",
      isText: true,
      value: ({ ends_on }) => ends_on,
      cell: ({ provider, ends_on, ends_source }) => (
        <span className={ends_on ? "" : "dim"} title={ends_source ?? undefined}>
          {ends_on ?? (provider === "local" ? "–" : "unknown")}
        </span>
      ),
    },
  ];
}

function about({ available, reason, description }: Model): string | null {
  if (available) return description;
  return reason === "provider-key-missing" ? "No key is stored for its provider." : reason;
}

function Name({ model }: { model: Model }) {
  const { roles, available, reason } = model;
  return (
    <>
      <code>{modelAt(model)}</code>
      <div className="row tight">
        {roles.map((role) => (
          <span key={role} className="chip">
            {role === "generate" ? "answers" : "judges"}
          </span>
        ))}
        {!available && (
          <span className="chip warn">{reason === "provider-key-missing" ? "needs a key" : "not available"}</span>
        )}
      </div>
    </>
  );
}

function Price({ model }: { model: Model }) {
  const formats = useFormats();
  if (model.provider === "local") return <span className="good">free</span>;
  if (!model.prices)
    return (
      <span className="dim">
        price unknown
        <SayPrice model={model.model}>Say what it costs</SayPrice>
      </span>
    );
  const { input_per_million: read, output_per_million: written, source } = model.prices;
  return (
    <span title={source === "own" ? undefined : `From ${source}`}>
      {formats.dollars(read)} in, {formats.dollars(written)} out
      {source === "own" && <SayPrice model={model.model}>your price</SayPrice>}
    </span>
  );
}

function SayPrice({ model, children }: { model: string; children: string }) {
  return (
    <Link className="block" to="/models" search={{ tab: "prices", find: model }}>
      {children}
    </Link>
  );
}
