import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useDeferredValue } from "react";
import { modelsQuery } from "../../api/queries";
import type { Model } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Empty, Skeleton } from "../../components/Feedback";
import { Check } from "../../components/Field";
import { QueryView } from "../../components/QueryView";
import { VirtualList } from "../../components/VirtualList";
import { modelQuery } from "./queries";

const FULL_NAME = /^[a-z0-9-]+:\S+$/;

interface Props {
  words: string;
  isOnlyReady: boolean;
  onLook: (words: string, isOnlyReady: boolean) => void;
}

/** The models that are listed, and any other by its full name. */
export function Catalogue({ words, isOnlyReady, onLook }: Props) {
  const query = useQuery(modelsQuery(useApi()));
  const wanted = words.trim().toLowerCase();
  return (
    <div className="stack">
      <div className="row">
        <div className="search grow limited">
          <Search size={16} aria-hidden />
          <input
            className="input"
            type="search"
            aria-label="Find a model"
            aria-describedby="by-name"
            placeholder="Model, provider or family"
            value={words}
            onChange={(event) => onLook(event.target.value, isOnlyReady)}
          />
        </div>
        <Check
          label="Only those that can be called now"
          checked={isOnlyReady}
          onChange={(event) => onLook(words, event.target.checked)}
        />
      </div>
      <p className="small dim" id="by-name">
        Listed are the built-in models and those of your own servers. A provider’s model is called by its full name:
        type one, such as <code>openai:gpt-5-mini</code>, to see what it costs and whether{" "}
        <Link to="/models" search={{ tab: "keys" }}>
          a key
        </Link>{" "}
        is stored for it.
      </p>
      <QueryView query={query}>
        {({ items }) => {
          const shown = items.filter(
            (model) =>
              (!isOnlyReady || model.available) &&
              (!wanted || `${model.model} ${model.family}`.toLowerCase().includes(wanted)),
          );
          if (shown.length === 0)
            return FULL_NAME.test(wanted) ? (
              <ByName name={words.trim()} />
            ) : (
              <Empty title="No model fits">
                Look for other words, or type a full name: a provider, a colon, and what it calls the model.
              </Empty>
            );
          return (
            <div className="card flush">
              <VirtualList
                items={shown}
                label="Models"
                estimate={72}
                keyOf={(model) => model.model}
                render={(model) => <ModelRow model={model} />}
              />
            </div>
          );
        }}
      </QueryView>
    </div>
  );
}

function ByName({ name }: { name: string }) {
  const query = useQuery(modelQuery(useApi(), useDeferredValue(name)));
  if (query.isError) return <Empty title="No such model">Carrel knows no provider of that name.</Empty>;
  if (!query.data) return <Skeleton lines={2} />;
  return (
    <div className="card flush" role="status">
      <ModelRow model={query.data} />
    </div>
  );
}

function ModelRow({ model }: { model: Model }) {
  const formats = useFormats();
  return (
    <div className="list-row model-row">
      <div>
        <code>{model.model}</code>
        <div className="row tight">
          {model.roles.map((role) => (
            <span key={role} className="chip">
              {role === "generate" ? "answers" : "judges"}
            </span>
          ))}
          {!model.available && (
            <span className="chip warn">
              {model.reason === "provider-key-missing" ? "needs a key" : "not available"}
            </span>
          )}
        </div>
      </div>
      <p className="small dim">
        {model.available
          ? model.description
          : model.reason === "provider-key-missing"
            ? "No key is stored for its provider."
            : model.reason}
        {model.context_tokens !== null && (
          <span className="block">Reads up to {formats.short(model.context_tokens)} tokens.</span>
        )}
      </p>
      <Price model={model} />
    </div>
  );
}

function Price({ model }: { model: Model }) {
  const formats = useFormats();
  if (model.provider === "local") return <span className="small good price">free</span>;
  if (!model.prices)
    return (
      <span className="small dim price">
        price unknown
        <SayPrice model={model.model}>Say what it costs</SayPrice>
      </span>
    );
  const { input_per_million: read, output_per_million: written, source } = model.prices;
  return (
    <span className="small num price" title={source === "own" ? undefined : `From ${source}`}>
      {formats.dollars(read)} in, {formats.dollars(written)} out
      <span className="dim block">for a million tokens</span>
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
