import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { data, faultsAt } from "carrel-sdk";
import { queryKeys } from "../../api/queryKeys";
import type { NewProgramKey, ProgramKey, ProgramScope } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Button } from "../../components/Button";
import { Confirm } from "../../components/Dialog";
import { Empty, ErrorNote, Note } from "../../components/Feedback";
import { Check, TextField } from "../../components/Field";
import { QueryView } from "../../components/QueryView";
import { toast } from "../../components/Toasts";

const SCOPES: readonly (readonly [ProgramScope, string])[] = [
  ["read", "Read: texts, presets, runs, reports and exports"],
  ["run", "Run: start and steer runs, and call models, which spends money"],
  ["write", "Write: make, change and delete texts, presets, votes and settings"],
];
const ENDS: Record<Exclude<ProgramKey["state"], "active">, string> = {
  expired: "expired",
  revoked: "revoked",
  "password-changed": "ended with your earlier password",
  deactivated: "ended with the membership",
  restored: "ended when the service was restored from a backup",
};

/** The keys with which programs sign in: made, shown once, listed with their last use, revoked. */
export function ProgramsPanel() {
  const api = useApi();
  const query = useQuery({
    queryKey: queryKeys.programKeys,
    queryFn: ({ signal }) => data(api.client.GET("/api/users/me/program-keys", { signal })),
  });
  // Not in the query cache, which outlives this page.
  const [made, setMade] = useState<NewProgramKey>();
  return (
    <div className="stack wide">
      <QueryView query={query}>
        {({ items, allowed, most }) => (
          <>
            {made && <ShownOnce made={made} onDone={() => setMade(undefined)} />}
            {allowed ? (
              <KeyForm onMade={setMade} most={most} />
            ) : (
              <Note tone="warn">
                <p>The operator of this service allows no program keys. Those that exist sign nobody in.</p>
              </Note>
            )}
            {items.length ? (
              <ul className="card flush" aria-label="Program keys">
                {items.map((key) => (
                  <KeyRow key={key.id} stored={key} />
                ))}
              </ul>
            ) : (
              <Empty title="No program keys yet">
                A script or a pipeline signs in with a key of its own, also while you are signed out.
              </Empty>
            )}
          </>
        )}
      </QueryView>
    </div>
  );
}

function ShownOnce({ made, onDone }: { made: NewProgramKey; onDone: () => void }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(made.program_key);
      toast.done("Copied.");
    } catch {
      toast.failed(new Error("The browser did not allow it; select the key and copy it."));
    }
  };
  return (
    <Note tone="good" role="status">
      <TextField
        label={`The key of ${made.name}`}
        readOnly
        value={made.program_key}
        hint="It is shown this once. Put it into the secret store of your program, as CARREL_PROGRAM_KEY."
        onFocus={(event) => event.target.select()}
      />
      <div className="row">
        <Button small variant="primary" onPress={() => void copy()}>
          Copy
        </Button>
        <Button small onPress={onDone}>
          I have it
        </Button>
      </div>
    </Note>
  );
}

function KeyForm({ onMade, most }: { onMade: (made: NewProgramKey) => void; most: number }) {
  const api = useApi();
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly ProgramScope[]>(["read"]);
  const [days, setDays] = useState("90");
  const create = useMutation({
    mutationFn: () =>
      data(
        api.client.POST("/api/users/me/program-keys", {
          body: { name: name.trim(), scopes: [...scopes], days: Number(days) },
        }),
      ),
    onSuccess: (key) => {
      onMade(key);
      setName("");
    },
    // The key is not kept with the mutation either.
    gcTime: 0,
    onSettled: () => queries.invalidateQueries({ queryKey: queryKeys.programKeys }),
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    create.mutate();
  };
  const toggle = (scope: ProgramScope) =>
    setScopes(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope]);
  return (
    <form className="card stack" onSubmit={submit} aria-labelledby="program-title">
      <h2 id="program-title">Make a key for a program</h2>
      <div className="columns">
        <TextField
          label="Name"
          required
          maxLength={100}
          value={name}
          faults={faultsAt(create.error, "name")}
          hint={`Such as “nightly CI”. You can have ${String(most)} keys.`}
          onChange={(event) => setName(event.target.value)}
        />
        <TextField
          label="Days"
          type="number"
          min={1}
          max={365}
          required
          value={days}
          faults={faultsAt(create.error, "days")}
          hint="How long it is good: 1 to 365."
          onChange={(event) => setDays(event.target.value)}
        />
      </div>
      <fieldset className="stack tight">
        <legend className="label">What the program may do</legend>
        {SCOPES.map(([scope, words]) => (
          <Check key={scope} label={words} checked={scopes.includes(scope)} onChange={() => toggle(scope)} />
        ))}
        <span className="small dim">
          Each is given on its own. A program can never make keys, change keys of providers, or sign you out.
        </span>
      </fieldset>
      {create.isError && <ErrorNote error={create.error} />}
      <div className="row end">
        <Button type="submit" variant="primary" isDisabled={!name.trim() || !scopes.length || create.isPending}>
          Make the key
        </Button>
      </div>
    </form>
  );
}

function KeyRow({ stored }: { stored: ProgramKey }) {
  const api = useApi();
  const formats = useFormats();
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const revoke = useMutation({
    mutationFn: () =>
      data(
        api.client.DELETE("/api/users/me/program-keys/{program_key_id}", {
          params: { path: { program_key_id: stored.id } },
        }),
      ),
    onError: toast.failed,
    onSettled: async () => {
      setAsking(false);
      await queries.invalidateQueries({ queryKey: queryKeys.programKeys });
    },
  });
  const isActive = stored.state === "active";
  const made = `made ${formats.dateTime(stored.created_at)}`;
  const used = stored.last_used_at ? `last used ${formats.dateTime(stored.last_used_at)}` : "never used";
  return (
    <li className="list-row row between">
      <div>
        <strong>{stored.name || "Without a name"}</strong>{" "}
        {stored.scopes.map((scope) => (
          <span key={scope} className="chip">
            {scope}
          </span>
        ))}
        <span className="small dim block">
          {stored.state === "active"
            ? `${made}, ${used}, good until ${formats.dateTime(stored.expires_at)}`
            : `${made}, ${used}, ${ENDS[stored.state]} on ${formats.dateTime(stored.ended_at ?? stored.expires_at)}`}
        </span>
      </div>
      {isActive && (
        <Button small variant="danger" onPress={() => setAsking(true)} aria-label={`Revoke ${stored.name}`}>
          Revoke
        </Button>
      )}
      <Confirm
        title="Revoke this key?"
        text="Its program is signed out at once and cannot sign in again. Runs that it has started go on."
        action="Revoke"
        isOpen={isAsking}
        isPending={revoke.isPending}
        onConfirm={() => revoke.mutate()}
        onClose={() => setAsking(false)}
      />
    </li>
  );
}
