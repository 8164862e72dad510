import { Link } from "@tanstack/react-router";
import { useFormats } from "../../app/context";
import { Note } from "../Feedback";
import type { KeyTest } from "./useKeys";

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

/** Whether a key works, as its provider says. */
export function KeyOutcome({ provider, outcome }: { provider: string; outcome: NonNullable<KeyTest["data"]> }) {
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
        {models.length === 1 ? "one model" : formats.counted(models.length, "model")}.
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
