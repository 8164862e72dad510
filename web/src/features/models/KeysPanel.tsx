import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ProviderKey } from "../../api/types";
import { keysQuery } from "../../api/queries";
import { useApi, useFormats } from "../../app/context";
import { Button } from "../../components/Button";
import { Confirm } from "../../components/Dialog";
import { Empty } from "../../components/Feedback";
import { KeyForm } from "../../components/keys/KeyForm";
import { KeyOutcome } from "../../components/keys/KeyOutcome";
import { type KeyTest, useKeys } from "../../components/keys/useKeys";
import { QueryView } from "../../components/QueryView";
import { focusPage } from "../../lib/usePageChange";
import { modelPricesQuery } from "./queries";

export function KeysPanel() {
  const query = useQuery(keysQuery(useApi()));
  const { test } = useKeys();
  return (
    <div className="stack wide">
      {/* It is better to learn now that a key does not work than in the middle of a run. */}
      <KeyForm title="Store a key" onStored={(provider) => test.mutate(provider)} />
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

/** `test` is the mutation of the key that was tried last. */
function KeyRow({ stored, test }: { stored: ProviderKey; test: KeyTest }) {
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
      {isTried && test.data && <KeyOutcome provider={stored.provider} outcome={test.data} />}
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
