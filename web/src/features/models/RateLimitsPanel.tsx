import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useApi, useFormats } from "../../app/context";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { Empty, ErrorNote } from "../../components/Feedback";
import { TextField } from "../../components/Field";
import { NumberHead } from "../../components/NumberHead";
import { QueryView } from "../../components/QueryView";
import { Scroll } from "../../components/Scroll";
import { type RateLimit, type RateLimitIn, rateLimitsQuery, useRateLimits } from "./queries";

/** The rate limit of each provider, and the concurrency that it takes at present. */
export function RateLimitsPanel() {
  const formats = useFormats();
  const query = useQuery(rateLimitsQuery(useApi()));
  const [editing, setEditing] = useState<RateLimit>();
  const number = (value: number | null) => (value === null ? "no limit" : formats.integer(value));
  return (
    <QueryView query={query}>
      {({ items }) =>
        items.length ? (
          <Scroll label="Rate limits">
            <table className="table middle data">
              <thead>
                <tr>
                  <th scope="col">Provider</th>
                  <NumberHead>Requests a minute</NumberHead>
                  <NumberHead>Tokens a minute</NumberHead>
                  <NumberHead>At once</NumberHead>
                  <NumberHead>Under way</NumberHead>
                  <th scope="col">
                    <span className="visually-hidden">Change</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {items.map((limit) => (
                  <tr key={limit.provider}>
                    <th scope="row">
                      {limit.provider} {!limit.is_default && <span className="chip accent">yours</span>}
                    </th>
                    <td className="n" data-label="Requests a minute">
                      {number(limit.requests_per_minute)}
                    </td>
                    <td className="n" data-label="Tokens a minute">
                      {number(limit.tokens_per_minute)}
                    </td>
                    <td className="n" data-label="At once">
                      {limit.concurrency_now < limit.concurrency
                        ? `${limit.concurrency_now} of ${limit.concurrency}`
                        : formats.integer(limit.concurrency)}
                    </td>
                    <td className="n" data-label="Under way">
                      {formats.integer(limit.in_flight)}
                    </td>
                    <td className="whole">
                      <div className="row end">
                        <Button
                          small
                          onPress={() => setEditing(limit)}
                          aria-label={`Change the limits of ${limit.provider}`}
                        >
                          Change
                        </Button>
                      </div>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            {editing && <LimitDialog limit={editing} onClose={() => setEditing(undefined)} />}
          </Scroll>
        ) : (
          <Empty title="No providers yet">Store a key, and its provider appears here.</Empty>
        )
      }
    </QueryView>
  );
}

function LimitDialog({ limit, onClose }: { limit: RateLimit; onClose: () => void }) {
  const { save, reset } = useRateLimits();
  const [draft, setDraft] = useState<RateLimitIn>({
    concurrency: limit.concurrency,
    requests_per_minute: limit.requests_per_minute,
    tokens_per_minute: limit.tokens_per_minute,
  });
  return (
    <Dialog title={`Limits of ${limit.provider}`} isOpen onClose={onClose}>
      <TextField
        label="Requests a minute"
        type="number"
        min={1}
        placeholder="no limit"
        value={draft.requests_per_minute ?? ""}
        onChange={(event) => setDraft({ ...draft, requests_per_minute: event.target.valueAsNumber || null })}
      />
      <TextField
        label="Tokens a minute"
        type="number"
        min={1}
        placeholder="no limit"
        value={draft.tokens_per_minute ?? ""}
        onChange={(event) => setDraft({ ...draft, tokens_per_minute: event.target.valueAsNumber || null })}
      />
      <TextField
        label="Calls at once"
        type="number"
        min={1}
        max={2000}
        value={draft.concurrency ?? 64}
        onChange={(event) => setDraft({ ...draft, concurrency: event.target.valueAsNumber || 1 })}
      />
      {save.isError && <ErrorNote error={save.error} />}
      <div className="row end">
        <Button
          variant="quiet"
          onPress={() => reset.mutate(limit.provider, { onSuccess: onClose })}
          isDisabled={limit.is_default}
        >
          Back to the default
        </Button>
        <Button
          variant="primary"
          onPress={() => save.mutate({ provider: limit.provider, limit: draft }, { onSuccess: onClose })}
          isDisabled={save.isPending}
        >
          Save
        </Button>
      </div>
    </Dialog>
  );
}
