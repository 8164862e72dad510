import { KeyRound } from "lucide-react";
import { type ReactNode, type SubmitEvent, useState } from "react";
import type { Shown } from "../api/session";
import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { TextField } from "../components/Field";
import { Note } from "../components/Feedback";
import { useApi, useSession } from "./context";
import { UserName } from "./UserName";

/**
 * What is said while the workspace is not to be seen. Each sentence holds whatever brought the state about: a host that
 * gives no reason may have several.
 */
export function SessionDialog() {
  const { state, user, isSeen } = useSession();
  const { tokenUrl, unlockUrl } = useApi().session.config;
  if (isSeen) return null;
  const { title, text } = wordsFor(state, user, tokenUrl !== undefined);
  return (
    <Dialog title={title} isOpen urgent>
      {text}
      {state === "left" || state === "deleted" || state === "other" ? (
        <Forgotten />
      ) : (
        <>
          {state !== "missing" && (
            <>
              <p>
                What you had open here is out of sight. It comes back when the same user is back; close this page to
                forget it.
              </p>
              {unlockUrl ? (
                <a
                  className="btn primary"
                  href={unlockUrl}
                  {...(tokenUrl ? { target: "_blank", rel: "noopener" } : {})}
                >
                  <KeyRound size={16} aria-hidden /> {state === "locked" ? "Enter your password" : "Sign in"}
                </a>
              ) : (
                <p>Open the website that you came from, and sign in there.</p>
              )}
            </>
          )}
          {tokenUrl && state !== "missing" ? (
            <p className="small dim">This page asks every few seconds whether you are back.</p>
          ) : (
            <TokenForm />
          )}
        </>
      )}
    </Dialog>
  );
}

function wordsFor(state: Shown["state"], user: Shown["user"], hasHost: boolean): { title: string; text: ReactNode } {
  switch (state) {
    case "missing":
      return {
        title: "No session yet",
        text: (
          <p>
            Open Carrel from the website where you are signed in: its page starts your session. On a machine of your own
            you can enter a session token here.
          </p>
        ),
      };
    case "locked":
      return {
        title: "Please enter your password again",
        text: (
          <p>
            Your workspace is locked, and your password opens it. The service locks it when it restarts and when you
            sign out everywhere; it may do so, too, when nobody has used it for long.
          </p>
        ),
      };
    case "signed-out":
      return {
        title: "You are signed out",
        text: <p>The website that you came from says that nobody is signed in there any more in this browser.</p>,
      };
    case "left":
      return {
        title: "You have signed out",
        text: (
          <p>
            All your sessions have ended, in this browser and in every other one. This page has forgotten what it
            showed.
          </p>
        ),
      };
    case "deleted":
      return {
        title: "This account was deleted",
        text: (
          <p>
            The website that you came from says so. A workspace goes with its account, and this page has forgotten what
            it showed.
          </p>
        ),
      };
    case "other":
      return {
        title: "Another user has signed in",
        text: (
          <>
            <p>
              <strong>{user && <UserName user={user} />}</strong> is signed in now, in this browser.
            </p>
            <p>
              This page was opened before that and has forgotten what it showed. What was typed here and not saved is
              gone, and none of it went to another user.
            </p>
          </>
        ),
      };
    default:
      return {
        title: "Please sign in again",
        text: hasHost ? (
          <p>
            The session of this page has ended, and the website that you came from has not given it another one. You may
            be signed out there, or your password may be needed.
          </p>
        ) : (
          <p>The session of this page has ended. A session lasts an hour at most, and signing out ends it earlier.</p>
        ),
      };
  }
}

/** Only a page that begins anew can show a workspace again. */
function Forgotten() {
  const { state, user } = useSession();
  const { unlockUrl } = useApi().session.config;
  if (state === "left" && unlockUrl)
    return (
      <a className="btn primary" href={unlockUrl}>
        <KeyRound size={16} aria-hidden /> Enter your password
      </a>
    );
  return (
    <div className="row end">
      <Button variant="primary" onPress={() => window.location.reload()}>
        {state === "other" && user ? (
          <>
            Go on as <UserName user={user} />
          </>
        ) : (
          "Reload this page"
        )}
      </Button>
    </div>
  );
}

function TokenForm() {
  const { session } = useApi();
  const [token, setToken] = useState("");
  const [fault, setFault] = useState("");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!/^[\w-]+\.[\w-]+$/.test(token.trim())) setFault("That is no session token.");
    else if (!session.accept(token.trim()))
      setFault(
        "That token is not of the user of this page. Reload the page to enter it; what you had open is gone then.",
      );
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
      {fault && <Note tone="bad">{fault}</Note>}
      <div className="row end">
        <Button type="submit" variant="primary">
          Open the workspace
        </Button>
      </div>
    </form>
  );
}
