/** The router's history behind the `#` of a host's page. It leaves the page's own address alone. */
import { createHashHistory } from "@tanstack/react-router";

export function makeHistory() {
  return createHashHistory({ window: hostWindow() });
}

/** Begin at this page where the address names none. */
export function beginAt(page: string | undefined): void {
  if (page && window.location.hash.length < 2) window.history.replaceState(null, "", `#${page}`);
}

/**
 * As much of the window as the router asks for.
 *
 * It would take the query of the host's page (`?page_id=12`) for one of ours, so that is part of the path here. And an
 * address that somebody typed has no place in the order of those that it knows: it would go back from it by a number
 * that it does not have, which may well reload the page.
 */
function hostWindow() {
  const { document, history } = window;
  return {
    document,
    history: {
      get state() {
        return history.state as unknown;
      },
      get length() {
        return history.length;
      },
      pushState: history.pushState.bind(history),
      replaceState: history.replaceState.bind(history),
      back: history.back.bind(history),
      forward: history.forward.bind(history),
      go: (delta: number) => (history.state === null ? history.back() : history.go(delta)),
    },
    get location() {
      const { hash, href, pathname, search } = window.location;
      return { hash, href, pathname: pathname + search, search: "" };
    },
    addEventListener: window.addEventListener.bind(window),
    removeEventListener: window.removeEventListener.bind(window),
  };
}
