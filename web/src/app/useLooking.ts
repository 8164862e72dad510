/** Looks whether the page's user is still the one who is signed in, and whether one who was away is back. */
import type { QueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { useApi, useSession } from "./context";

const ASK_EVERY_MS = 3000;
/** Where the pages of one website tell each other that one was opened, and whose it is. */
const CHANNEL = "carrel";

/**
 * When somebody comes to this window, when another user's page opens beside it, and every few seconds while requests
 * wait: the password is entered in another tab, which cannot tell us when it is done.
 */
export function useLooking(queries: QueryClient): void {
  const api = useApi();
  const { state, user, isForgotten } = useSession();
  const isWaiting = state !== "open" && state !== "missing" && !isForgotten;
  useEffect(() => {
    const look = () => {
      if (!document.hidden) void api.look();
    };
    const timer = isWaiting ? setInterval(look, ASK_EVERY_MS) : undefined;
    window.addEventListener("focus", look);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      window.removeEventListener("focus", look);
      document.removeEventListener("visibilitychange", look);
      // What was shown before may be old.
      if (isWaiting) void queries.invalidateQueries();
    };
  }, [api, queries, isWaiting]);
  const uuid = isForgotten ? undefined : user?.uuid;
  useEffect(() => {
    if (!uuid) return;
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = ({ data }) => {
      if (data !== uuid) void api.look();
    };
    channel.postMessage(uuid);
    return () => {
      // What ended this page may concern the others.
      channel.postMessage(null);
      channel.close();
    };
  }, [api, uuid]);
}
