import { getRouteApi } from "@tanstack/react-router";
import { TabPanel } from "react-aria-components";
import { Page } from "../../components/Page";
import { TabStrip } from "../../components/TabStrip";
import { Catalogue } from "./Catalogue";
import { JudgesPanel } from "./JudgesPanel";
import { KeysPanel } from "./KeysPanel";
import { PricesPanel } from "./PricesPanel";
import { RateLimitsPanel } from "./RateLimitsPanel";

const TABS = [
  ["models", "Models"],
  ["judges", "Judges"],
  ["keys", "Your keys"],
  ["prices", "Your prices"],
  ["limits", "Rate limits"],
] as const;

const route = getRouteApi("/models");

export function ModelsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const look = (words: string, isOnlyReady: boolean) =>
    void navigate({
      search: { tab, ...(words ? { find: words } : {}), ...(isOnlyReady ? { only: "ready" } : {}) },
      replace: true,
    });
  const tab = TABS.find(([id]) => id === search.tab)?.[0] ?? "models";
  return (
    <Page title="Models and keys" intro="What can be called, what it costs, and with whose key.">
      <TabStrip
        label="Models and keys"
        tabs={TABS}
        chosen={tab}
        onChoose={(next) => void navigate({ search: { tab: next }, replace: true })}
      >
        <TabPanel id="models">
          <Catalogue words={search.find ?? ""} isOnlyReady={search.only === "ready"} onLook={look} />
        </TabPanel>
        <TabPanel id="judges">
          <JudgesPanel />
        </TabPanel>
        <TabPanel id="keys">
          <KeysPanel />
        </TabPanel>
        <TabPanel id="prices">
          <PricesPanel
            model={tab === "prices" ? (search.find ?? "") : ""}
            onModel={(model) =>
              void navigate({ search: { tab: "prices", ...(model ? { find: model } : {}) }, replace: true })
            }
          />
        </TabPanel>
        <TabPanel id="limits">
          <RateLimitsPanel />
        </TabPanel>
      </TabStrip>
    </Page>
  );
}
