import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useState } from "react";
import { TabPanel } from "react-aria-components";
import { modelsQuery } from "../../api/queries";
import type { Model } from "../../api/types";
import { useApi } from "../../app/context";
import { Empty } from "../../components/Feedback";
import { Check } from "../../components/Field";
import { Page } from "../../components/Page";
import { QueryView } from "../../components/QueryView";
import { TabStrip } from "../../components/TabStrip";
import { VirtualList } from "../../components/VirtualList";
import { KeysPanel } from "./KeysPanel";
import { RateLimitsPanel } from "./RateLimitsPanel";

const TABS = [
  ["models", "Models"],
  ["keys", "Your keys"],
  ["limits", "Rate limits"],
] as const;

const route = getRouteApi("/models");

export function ModelsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const tab = TABS.find(([id]) => id === search.tab)?.[0] ?? "models";
  return (
    <Page title="Models and keys" intro="What can be called, what it costs, and with whose key.">
      <TabStrip label="Models and keys" tabs={TABS} chosen={tab} onChoose={(next) => void navigate({ search: { tab: next }, replace: true })}>
        <TabPanel id="models">
          <Catalogue />
        </TabPanel>
        <TabPanel id="keys">
          <KeysPanel />
        </TabPanel>
        <TabPanel id="limits">
          <RateLimitsPanel />
        </TabPanel>
      </TabStrip>
    </Page>
  );
}

function Catalogue() {
  const query = useQuery(modelsQuery(useApi()));
  const [words, setWords] = useState("");
  const [isOnlyReady, setOnlyReady] = useState(false);
  const wanted = words.trim().toLowerCase();
  return (
    <div className="stack">
      <div className="row">
        <div className="search grow limited">
          <Search size={16} aria-hidden />
          <input className="input" type="search" aria-label="Find a model" placeholder="Model, provider or family" value={words} onChange={(event) => setWords(event.target.value)} />
        </div>
        <Check label="Only those that can be called now" checked={isOnlyReady} onChange={(event) => setOnlyReady(event.target.checked)} />
      </div>
      <QueryView query={query}>
        {({ items }) => {
          const shown = items.filter((model) => (!isOnlyReady || model.available) && (!wanted || `${model.model} ${model.family}`.toLowerCase().includes(wanted)));
          if (!shown.length) return <Empty title="No model fits" />;
          return (
            <div className="card flush">
              <VirtualList items={shown} label="Models" estimate={72} keyOf={(model) => model.model} render={(model) => <ModelRow model={model} />} />
            </div>
          );
        }}
      </QueryView>
    </div>
  );
}

function ModelRow({ model }: { model: Model }) {
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
          {!model.available && <span className="chip warn">not available</span>}
        </div>
      </div>
      <p className="small dim">{model.available ? model.description : model.reason}</p>
      <Price model={model} />
    </div>
  );
}

function Price({ model }: { model: Model }) {
  if (model.provider === "local") return <span className="small good">free</span>;
  if (!model.prices) return <span className="small dim">price unknown</span>;
  return (
    <span className="small num" title={`From ${model.prices.source}`}>
      ${model.prices.input_per_million} in, ${model.prices.output_per_million} out
      <span className="dim block">for a million tokens</span>
    </span>
  );
}
