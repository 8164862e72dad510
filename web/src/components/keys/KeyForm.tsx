import { useQuery } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { faultsAt } from "carrel-sdk";
import { keysQuery } from "../../api/queries";
import { useApi } from "../../app/context";
import { Button } from "../Button";
import { ErrorNote } from "../Feedback";
import { TextField } from "../Field";
import { useKeys } from "./useKeys";

/** A server of one's own, under a name of one's own. */
const OWN = "compatible";
/** Providers as people write them. */
const PROVIDERS: Readonly<Record<string, string>> = {
  openai: "OpenAI",
  anthropic: "Anthropic",
  google: "Google",
  mistral: "Mistral",
  groq: "Groq",
  xai: "xAI",
  deepseek: "DeepSeek",
  openrouter: "OpenRouter",
  vertex: "Google Vertex",
  azure: "Azure",
  bedrock: "Amazon Bedrock",
  ollama: "Ollama",
  vllm: "vLLM",
  [OWN]: "Another server",
};
/** Providers that run where the user says. */
const NEEDS_ADDRESS = new Set(["azure", "bedrock", "ollama", "vllm", OWN]);
/** Servers of one's own, which often let everybody in: then anything of eight characters is a key. */
const ASKS_FOR_NONE = new Set(["ollama", "vllm", OWN]);
const NO_KEY = "not-needed";
/** Keys of clouds, which have several parts. */
const KEYS: Readonly<Record<string, string>> = {
  azure: "A key, or tenant_id, client_id and client_secret of an application in Entra ID as a JSON object.",
  bedrock: "An API key, or ACCESS_KEY_ID:SECRET_ACCESS_KEY.",
  vertex: "The JSON file of a service account.",
};

interface Props {
  title: string;
  onStored: (provider: string) => void;
}

/** A provider's key: a tile for the provider, and a field for the key. */
export function KeyForm({ title, onStored }: Props) {
  const { store } = useKeys();
  const [tile, setTile] = useState("");
  const [own, setOwn] = useState("");
  const [key, setKey] = useState("");
  const [baseUrl, setBaseUrl] = useState("");
  const provider = tile === OWN ? own.trim().toLowerCase() || OWN : tile;
  const stored = useQuery(keysQuery(useApi())).data?.items.some((one) => one.provider === provider);
  const asksForNone = ASKS_FOR_NONE.has(tile);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    store.mutate(
      { provider, key: key.trim() || NO_KEY, base_url: baseUrl.trim() || null },
      {
        onSuccess: (key) => {
          onStored(key.provider);
          setTile("");
          setOwn("");
          setKey("");
          setBaseUrl("");
        },
      },
    );
  };
  return (
    <form className="card stack" onSubmit={submit} aria-labelledby="key-title">
      <h2 id="key-title">{title}</h2>
      <fieldset className="tiles">
        <legend className="visually-hidden">Provider</legend>
        {Object.entries(PROVIDERS).map(([id, name]) => (
          <label key={id} className="tile">
            <input type="radio" name="provider" value={id} checked={tile === id} onChange={() => setTile(id)} />
            {name}
          </label>
        ))}
      </fieldset>
      {tile && (
        <div className="columns">
          {tile === OWN && (
            <TextField
              label="Its name"
              placeholder={OWN}
              value={own}
              faults={faultsAt(store.error, "provider")}
              hint="Its models are then called by it: together:llama-4."
              onChange={(event) => setOwn(event.target.value)}
            />
          )}
          <TextField
            label="Key"
            type="password"
            required={!asksForNone}
            value={key}
            faults={faultsAt(store.error, "key")}
            hint={
              KEYS[tile] ??
              (asksForNone
                ? "Empty, if your server asks for none."
                : "Kept in your encrypted workspace; only its last four characters are ever shown.")
            }
            onChange={(event) => setKey(event.target.value)}
          />
          <TextField
            label="Address of its API"
            type="url"
            placeholder={NEEDS_ADDRESS.has(tile) ? "http://127.0.0.1:11434/v1" : "the provider’s own"}
            required={NEEDS_ADDRESS.has(tile)}
            value={baseUrl}
            faults={faultsAt(store.error, "base_url")}
            onChange={(event) => setBaseUrl(event.target.value)}
          />
        </div>
      )}
      {store.isError && <ErrorNote error={store.error} />}
      {tile && (
        <div className="row end">
          {stored && (
            <span className="small dim">
              You have a key for {PROVIDERS[provider] ?? provider}; the new one takes its place.
            </span>
          )}
          <Button type="submit" variant="primary" isDisabled={(!key.trim() && !asksForNone) || store.isPending}>
            Store
          </Button>
        </div>
      )}
    </form>
  );
}
