import { QueryClientProvider, useQuery } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { UNSAFE_PortalProvider } from "react-aria/PortalProvider";
import { I18nProvider } from "react-aria-components";
import { createPortal } from "react-dom";
import type { Api } from "../api/client";
import { formatsFor } from "../lib/format";
import { ApiContext, FormatsContext, useApi, useSession } from "./context";
import { makeQueryClient } from "./queryClient";
import { makeRouter } from "./router";
import { SessionDialog } from "./SessionDialog";
import { settingsQuery } from "./settings";
import { useLooking } from "./useLooking";

/** The whole app inside `root`, overlays included. */
export function App({ api, root }: { api: Api; root: HTMLElement }) {
  return (
    <ApiContext value={api}>
      <Person root={root} />
    </ApiContext>
  );
}

/** One person's workspace as long as it is theirs, and what is said when it is not to be seen. */
function Person({ root }: { root: HTMLElement }) {
  const [queries] = useState(makeQueryClient);
  const { isForgotten, isSeen } = useSession();
  useLooking(queries);
  useEffect(() => {
    if (!isForgotten) return;
    queries.clear();
    // An address holds what was looked for.
    window.history.replaceState(null, "", window.location.pathname + window.location.search);
  }, [isForgotten, queries]);
  return (
    <QueryClientProvider client={queries}>
      {!isForgotten && <Workspace root={root} isSeen={isSeen} />}
      <UNSAFE_PortalProvider getContainer={() => root}>
        <SessionDialog />
      </UNSAFE_PortalProvider>
    </QueryClientProvider>
  );
}

/**
 * The pages, in an element of their own. It leaves the document while the workspace is not to be seen, so that nothing
 * of it can be read there; what was typed stays in the element, and comes back with it.
 */
function Workspace({ root, isSeen }: { root: HTMLElement; isSeen: boolean }) {
  const [router] = useState(makeRouter);
  const [place] = useState(() => document.createElement("div"));
  const top = useRef(0);
  useLayoutEffect(() => {
    if (!isSeen) return;
    root.append(place);
    window.scrollTo(0, top.current);
    return () => {
      top.current = window.scrollY;
      place.remove();
    };
  }, [isSeen, root, place]);
  return createPortal(
    <Manners root={root}>
      <UNSAFE_PortalProvider getContainer={() => place}>
        <RouterProvider router={router} />
      </UNSAFE_PortalProvider>
    </Manners>,
    place,
  );
}

/** Theme, density, numbers and times as the user's settings want them; the browser's ways until they are known. */
function Manners({ root, children }: { root: HTMLElement; children: ReactNode }) {
  const { data } = useQuery(settingsQuery(useApi()));
  const settings = data?.value;
  const formats = useMemo(
    () => formatsFor(settings?.locale ?? undefined, settings?.timezone ?? undefined),
    [settings?.locale, settings?.timezone],
  );
  useEffect(() => {
    root.setAttribute("data-theme", settings?.theme ?? "system");
    root.setAttribute("data-density", settings?.density ?? "comfortable");
  }, [root, settings?.theme, settings?.density]);
  return (
    <FormatsContext value={formats}>
      <I18nProvider locale={formats.locale}>{children}</I18nProvider>
    </FormatsContext>
  );
}
