import { Link } from "@tanstack/react-router";
import type { Run } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Note } from "../../components/Feedback";
import { wordsForPause } from "../../lib/states";

/** Why a run waits, and what its user can do about it. */
export function PauseNote({ run }: { run: Run }) {
  if (run.state !== "paused" || !run.pause_reason) return null;
  return (
    <Note tone="warn">
      <p>
        {wordsForPause(run.pause_reason)} {run.progress.running > 0 && "Calls that were under way are being finished."}
      </p>
      <Advice run={run} reason={run.pause_reason} />
    </Note>
  );
}

function Advice({ run, reason }: { run: Run; reason: NonNullable<Run["pause_reason"]> }) {
  const formats = useFormats();
  const { upgradeUrl } = useApi().session.config;
  const { budget } = run.configuration.limits ?? {};
  if (reason === "budget")
    return (
      <p>
        The next call does not fit into {budget ? `the ${formats.dollars(String(budget))}` : "what"} that you allowed,
        or its price is not known any more. A run keeps its budget: to go further, raise it in{" "}
        {run.preset_id ? (
          <Link to="/presets/$presetId" params={{ presetId: run.preset_id }}>
            the preset
          </Link>
        ) : (
          "the preset"
        )}{" "}
        and start a new run. What is finished here stays readable.
      </p>
    );
  if (reason === "credits")
    return (
      <p>
        Get more credits on the website that you came from, and resume the run; or see{" "}
        <Link to="/account">what they were spent on</Link>.
      </p>
    );
  if (reason === "unknown-costs")
    return (
      <p>
        The service bears such calls up to a bound for each day, and that is reached. You can resume the run. Until
        midnight (UTC), each further call that is lost takes the credits that are held for it; see{" "}
        <Link to="/account">what was charged</Link>.
      </p>
    );
  if (reason === "quota")
    return <p>Resume it after midnight (UTC); it also goes on when you sign in then. Nothing is lost.</p>;
  if (reason === "membership")
    return (
      <p>
        {upgradeUrl ? <a href={upgradeUrl}>Get a membership</a> : "Get a membership on the website that you came from"},
        and resume the run.
      </p>
    );
  if (reason === "service-restarted" || reason === "service-stopped")
    return (
      <p>
        Nothing is lost: resume it when you like. Whether runs go on by themselves is among{" "}
        <Link to="/account" search={{ tab: "settings" }}>
          your settings
        </Link>
        .
      </p>
    );
  return null;
}
