/** What every component may ask for: the API, and how the user's numbers and times are written. */
import { createContext, use } from "react";
import type { Api } from "../api/client";
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
