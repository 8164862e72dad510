/** What every component may ask for: the API, and how the user's numbers and times are written. */
import { createContext, use, useSyncExternalStore } from "react";
import type { Api } from "../api/client";
import type { Shown } from "../api/session";
import { type Formats, formatsFor } from "../lib/format";

export const ApiContext = createContext<Api | null>(null);
export const FormatsContext = createContext<Formats>(formatsFor(undefined, undefined));

export function useApi(): Api {
  const api = use(ApiContext);
  if (!api) throw new Error("There is no API around this component.");
  return api;
}

export function useFormats(): Formats {
  return use(FormatsContext);
}

/** The session as it stands; `isSeen`: the workspace may be shown; `isForgotten`: it never will again. */
export function useSession(): Shown & { isSeen: boolean; isForgotten: boolean } {
  const { session } = useApi();
  const shown = useSyncExternalStore(session.subscribe, () => session.shown);
  return { ...shown, isSeen: shown.state === "open" || shown.state === "away", isForgotten: session.gone.aborted };
}
