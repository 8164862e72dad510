import { QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from "@tanstack/react-router";
import { act, render } from "@testing-library/react";
import type { ReactNode } from "react";
import { Api } from "../api/client";
import type { HostConfig } from "../api/session";
import { ApiContext, FormatsContext } from "../app/context";
import { makeQueryClient } from "../app/queryClient";
import { formatsFor } from "../lib/format";

/** A token of this user for the next hour; its signature is made up. */
export function tokenOf(uuid: string): string {
  const claims = { uuid, exp: Math.floor(Date.now() / 1000) + 3600, v: 1 };
  return `${btoa(JSON.stringify(claims)).replace(/=+$/, "")}.c2ln`;
}

export const TOKEN = tokenOf("ada");

/** Render a part of a page with all that pages stand in: the API, the formats, the query cache and a router. */
export async function renderPage(children: ReactNode, config: Partial<HostConfig> = {}): Promise<HTMLElement> {
  const api = new Api({ baseUrl: "http://service.test/", sessionToken: TOKEN, ...config });
  const router = createRouter({
    routeTree: createRootRoute({ component: () => <>{children}</> }),
    history: createMemoryHistory({ initialEntries: ["/"] }),
  });
  await act(() => router.load());
  const { container } = render(
    <ApiContext value={api}>
      <FormatsContext value={formatsFor("en", "UTC")}>
        <QueryClientProvider client={makeQueryClient()}>
          <RouterProvider router={router as never} />
        </QueryClientProvider>
      </FormatsContext>
    </ApiContext>,
  );
  return container;
}
