import { QueryClientProvider, useQuery } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { UNSAFE_PortalProvider } from "react-aria/PortalProvider";
import { I18nProvider } from "react-aria-components";
import type { Api } from "../api/client";
import { formatsFor } from "../lib/format";
import { ApiContext, FormatsContext } from "./context";
import { makeQueryClient } from "./queryClient";
import { makeRouter } from "./router";
import { settingsQuery } from "./settings";

/** The whole app inside `root`, overlays included. */
export function App({ api, root }: { api: Api; root: HTMLElement }) {
  const [queries] = useState(makeQueryClient);
  const [router] = useState(makeRouter);
  return (
    <ApiContext value={api}>
      <QueryClientProvider client={queries}>
        <Manners api={api} root={root}>
          <UNSAFE_PortalProvider getContainer={() => root}>
            <RouterProvider router={router} />
          </UNSAFE_PortalProvider>
        </Manners>
      </QueryClientProvider>
    </ApiContext>
  );
}

/** Theme, density, numbers and times as the user's settings want them; the browser's ways until they are known. */
function Manners({ api, root, children }: { api: Api; root: HTMLElement; children: ReactNode }) {
  const { data } = useQuery(settingsQuery(api));
  const settings = data?.value;
  const formats = useMemo(
    () => formatsFor(settings?.locale, settings?.timezone),
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
