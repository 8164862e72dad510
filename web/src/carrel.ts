/** What a host's page loads by its one script tag. It takes the session token out of the page and starts the app. */
import type { HostConfig } from "./api/session";

declare global {
  interface Window {
    carrel?: Partial<HostConfig>;
  }
}

const given = window.carrel ?? {};
// Nothing else on the page needs the token, so it stays only in the app's own memory.
const { sessionToken, ...rest } = given;
window.carrel = rest;

const config: HostConfig = {
  ...rest,
  baseUrl: rest.baseUrl ?? new URL(/* @vite-ignore */ "..", import.meta.url).href,
  ...(sessionToken ? { sessionToken } : {}),
};

void import("./main").then(({ mount }) => mount(config));
