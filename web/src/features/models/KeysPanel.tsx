import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";
import { faultsAt } from "carrel-sdk";
import type { ProviderKey } from "../../api/types";
import { keysQuery } from "../../api/queries";
import { useApi, useFormats } from "../../app/context";
import { Button } from "../../components/Button";
import { Confirm } from "../../components/Dialog";
import { Empty, ErrorNote, Note } from "../../components/Feedback";
import { TextField } from "../../components/Field";
import { QueryView } from "../../components/QueryView";
import { focusPage } from "../../lib/usePageChange";
import { modelPricesQuery, useKeys } from "./queries";

/** Why a test of a key failed, by its code. */
const TROUBLES: Record<string, string> = {
  "provider-key-rejected": "the provider does not take this key",
  "provider-no-credit": "the account at the provider is empty",
  "provider-unreachable": "the provider cannot be reached",
  "provider-timeout": "the provider did not answer in time",
  "provider-overloaded": "the provider has too much to do; try again later",
  "provider-redirected": "its address leads elsewhere: store the one that it leads to",
  "provider-untrusted": "its certificate cannot be verified",
  "rate-limited": "the provider asks to wait; try again later",
  "request-refused": "the provider refused the request",
  "model-unknown": "the provider has nothing at this address; its path may be wrong",
  "models-not-listed": "nothing answers at this address; its path may be wrong",
  "provider-malformed": "what answers at this address could not be read; it may be no such server",
  "provider-host-not-allowed": "the operator does not allow calls to this address",
  "answer-too-large": "the list of models is longer than any list should be",
  "service-busy": "too many long answers came at once; try again",
  "parameter-not-supported": "the provider refused the request",
};
/** Providers with an address of their own. Any other name is that of a server that runs where the user says. */
const ADDRESSED = ["openai", "anthropic", "google", "mistral", "groq", "xai", "deepseek", "openrouter", "vertex"];
const PROVIDERS = [...ADDRESSED, "azure", "bedrock", "ollama", "vllm", "compatible"];
/** Keys of clouds, which have several parts. */
const KEYS: Record<string, string> = {
  azure: "A key, or tenant_id, client_id and client_secret of an application in Entra ID as a JSON object.",
  bedrock: "An API key, or ACCESS_KEY_ID:SECRET_ACCESS_KEY.",
  vertex: "The JSON file of a service account.",
};

export function KeysPanel() {
  const query = useQuery(keysQuery(useApi()));
  const { test } = useKeys();
  return (
    <div className="stack wide">
      {/* It is better to learn now that a key does not work than in the middle of a run. */}
      <KeyForm onStored={(provider) => test.mutate(provider)} />
      <QueryView query={query}>
        {({ items }) =>
          items.length ? (
            <ul className="card flush">
              {items.map((key) => (
                <KeyRow key={key.provider} stored={key} test={test} />
              ))}
            </ul>
          ) : (
            <Empty title="No keys yet">
              The built-in models need none. For others, store the key that you have from their provider.
            </Empty>
          )
        }
      </QueryView>
    </div>
  );
}

function KeyForm({ onStored }: { onStored: (provider: string) => void }) {
  const { store } = useKeys();
  const [provider, setProvider] = useState("");
  const [key, setKey] = useState("");
  const [baseUrl, setBaseUrl] = useState("");
  const name = provider.trim().toLowerCase();
  const needsAddress = name !== "" && !ADDRESSED.includes(name);
  const stored = useQuery(keysQuery(useApi())).data?.items.some((one) => one.provider === name);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    store.mutate(
      { provider: name, key: key.trim(), base_url: baseUrl.trim() || null },
      {
        onSuccess: (key) => {
          onStored(key.provider);
          setProvider("");
          setKey("");
          setBaseUrl("");
        },
      },
    );
  };
  return (
    <form className="card stack" onSubmit={submit} aria-labelledby="key-title">
      <h2 id="key-title">Store a key</h2>
      <div className="columns thirds">
        <TextField
          label="Provider"
          list="carrel-providers"
          required
          value={provider}
          faults={faultsAt(store.error, "provider")}
          hint="Such as openai or ollama, or a name of your own for any other OpenAI-compatible server."
          onChange={(event) => setProvider(event.target.value)}
        />
        <TextField
          label="Key"
          type="password"
          required
          value={key}
          faults={faultsAt(store.error, "key")}
          hint={
            KEYS[name] ??
            (needsAddress
              ? "If your server asks for none, write anything of eight characters, such as “not-needed”."
              : "Kept in your encrypted workspace; only its last four characters are ever shown.")
          }
          onChange={(event) => setKey(event.target.value)}
        />
        <TextField
          label="Address of its API"
          type="url"
          placeholder={needsAddress ? "http://127.0.0.1:11434/v1" : "the provider’s own"}
          required={needsAddress}
          value={baseUrl}
          faults={faultsAt(store.error, "base_url")}
          hint="For a server of your own. Its models are then called by its name: together:llama-4."
          onChange={(event) => setBaseUrl(event.target.value)}
        />
      </div>
      <datalist id="carrel-providers">
        {PROVIDERS.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {store.isError && <ErrorNote error={store.error} />}
      <div className="row end">
        {stored && <span className="small dim">You have a key for {name}; the new one takes its place.</span>}
        <Button type="submit" variant="primary" isDisabled={!name || !key.trim() || store.isPending}>
          Store
        </Button>
      </div>
    </form>
  );
}

type Test = ReturnType<typeof useKeys>["test"];

/** `test` is the mutation of the key that was tried last. */
function KeyRow({ stored, test }: { stored: ProviderKey; test: Test }) {
  const formats = useFormats();
  const { remove } = useKeys();
  const isTried = test.variables === stored.provider;
  const [isAsking, setAsking] = useState(false);
  const { last_test: last } = stored;
  return (
    <li className="list-row stack">
      <div className="row between">
        <div>
          <strong>{stored.provider}</strong> <code>…{stored.hint}</code>
          {stored.base_url && <span className="small dim block">{stored.base_url}</span>}
          <span className="small dim block">
            {last ? `${last.ok ? "worked" : "failed"} on ${formats.dateTime(last.at)}` : "never tried"}
          </span>
          {stored.base_url && <UsualPrice provider={stored.provider} />}
        </div>
        <div className="row tight">
          <Button small onPress={() => test.mutate(stored.provider)} isDisabled={test.isPending}>
            {isTried && test.isPending ? "Trying…" : "Try it"}
          </Button>
          <Button small variant="danger" onPress={() => setAsking(true)}>
            Delete
          </Button>
        </div>
      </div>
      {isTried && test.data && <Outcome provider={stored.provider} outcome={test.data} />}
      <Confirm
        title="Delete this key?"
        text="Runs that need it pause or fail until another is stored. Results keep its name and its host."
        action="Delete"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutate(stored.provider, { onSuccess: () => setTimeout(focusPage) })}
      />
    </li>
  );
}

/** What the user said that the models of a server of their own cost, where no list knows it. */
function UsualPrice({ provider }: { provider: string }) {
  const formats = useFormats();
  const usual = useQuery(modelPricesQuery(useApi())).data?.items.find(({ model }) => model === provider);
  return (
    <span className="small block">
      {usual
        ? `Its models cost ${formats.dollars(usual.input_per_million)} in, ${formats.dollars(usual.output_per_million)} out. `
        : ""}
      <Link to="/models" search={{ tab: "prices", find: provider }}>
        {usual ? "Change" : "Say what its models cost"}
      </Link>
    </span>
  );
}

function Outcome({ provider, outcome }: { provider: string; outcome: NonNullable<Test["data"]> }) {
  const formats = useFormats();
  const { ok, latency_ms: latency, models = [], code, said } = outcome;
  if (!ok)
    return (
      <Note tone="bad" role="status">
        <p>
          The key is stored, but it does not work: {TROUBLES[code ?? ""] ?? "no reason was given"}.{" "}
          {code && <code>{code}</code>}
        </p>
        {said && <p className="small">The provider says: {said}</p>}
      </Note>
    );
  return (
    <Note tone="good" role="status">
      {code === "models-not-listed" && (
        <p>The server has no list of its models. Name the one that you want: it can be used all the same.</p>
      )}
      <p>
        It is stored, encrypted with your own key, and works: it answered
        {latency === null || latency === undefined ? "" : ` in ${formats.integer(latency)} ms`} and knows{" "}
        {models.length === 1 ? "one model" : `${formats.integer(models.length)} models`}.
      </p>
      {models.length > 0 && <p className="small">Candidates and judges propose them.</p>}
      {models.length > 0 && (
        <details>
          <summary>Which ones</summary>
          <ul className="names small">
            {models.map((name) => (
              <li key={name}>
                <Link to="/models" search={{ find: `${provider}:${name}` }}>
                  {provider}:{name}
                </Link>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Note>
  );
}
