import { useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { type SubmitEvent, useEffect, useState, useSyncExternalStore } from "react";
import type { SessionState } from "../api/session";
import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { TextField } from "../components/Field";
import { Note } from "../components/Feedback";
import { useApi } from "./context";

const ASK_EVERY_MS = 3000;

const WORDS: Record<Exclude<SessionState, "open">, { title: string; text: string }> = {
  locked: {
    title: "Please enter your password again",
    text: "The service restarted, so the key to your workspace is no longer in its memory. Please enter your password again. Nothing is lost, and this page continues where it was.",
  },
  ended: {
    title: "Please sign in again",
    text: "Your session has ended. Sign in again, and this page continues where it was.",
  },
  missing: {
    title: "No session yet",
    text: "Open Carrel from the website where you are signed in: its page starts your session. On a machine of your own you can enter a session token here.",
  },
};

/** While there is no session every request waits; this says so, and notices when the user is back. */
export function SessionDialog() {
  const api = useApi();
  const { session } = api;
  const queries = useQueryClient();
  const state = useSyncExternalStore(session.subscribe, () => session.state);
  const { tokenUrl, unlockUrl } = session.config;

  useEffect(() => {
    if (state === "open" || state === "missing" || !tokenUrl) return;
    // The password is entered in another tab, so that nothing typed here is lost; that tab cannot tell us when it is
    // done.
    const ask = () => {
      if (!document.hidden) void api.tryAgain().then((open) => open && void queries.invalidateQueries());
    };
    const timer = setInterval(ask, ASK_EVERY_MS);
    document.addEventListener("visibilitychange", ask);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", ask);
    };
  }, [state, tokenUrl, api, queries]);

  if (state === "open") return null;
  const { title, text } = WORDS[state];
  return (
    <Dialog title={title} isOpen urgent>
      <p>{text}</p>
      {unlockUrl && state !== "missing" && (
        <a className="btn primary" href={unlockUrl} {...(tokenUrl ? { target: "_blank", rel: "noopener" } : {})}>
          <KeyRound size={16} aria-hidden /> Enter your password
        </a>
      )}
      {!unlockUrl && state !== "missing" && <p>Open the website that you came from, and sign in there.</p>}
      {tokenUrl && state !== "missing" ? (
        <p className="small dim">This page checks every few seconds whether you are back.</p>
      ) : (
        <TokenForm />
      )}
    </Dialog>
  );
}

function TokenForm() {
  const { session } = useApi();
  const [token, setToken] = useState("");
  const [isWrong, setWrong] = useState(false);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const plausible = /^[\w-]+\.[\w-]+$/.test(token.trim());
    setWrong(!plausible);
    if (plausible) session.accept(token.trim());
  };
  return (
    <form className="stack" onSubmit={submit}>
      <TextField
        label="Session token"
        type="password"
        value={token}
        onChange={(event) => setToken(event.target.value)}
        hint="It stays in the memory of this page and is forgotten when you close it."
      />
      {isWrong && <Note tone="bad">That is no session token.</Note>}
      <div className="row end">
        <Button type="submit" variant="primary">
          Open the workspace
        </Button>
      </div>
    </form>
  );
}
