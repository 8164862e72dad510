/**
 * What the navigation shows: the routes that say what they are called there, in the order in which they are declared.
 */
import type { LinkProps, StaticDataRouteOption } from "@tanstack/react-router";
import type { LucideIcon } from "lucide-react";

interface Entry {
  label: string;
  icon: LucideIcon;
  /** Where pages begin that belong to this place, though their address does not say so. */
  covers?: readonly string[];
}

declare module "@tanstack/react-router" {
  interface StaticDataRouteOption {
    navigation?: Entry;
  }
}

export interface Place extends Entry {
  to: NonNullable<LinkProps["to"]>;
}

interface Route {
  fullPath: string;
  options: { staticData?: StaticDataRouteOption };
}

export function placesOf({ routesById }: { routesById: Readonly<Record<string, Route>> }): Place[] {
  return Object.values(routesById).flatMap(({ fullPath, options }) => {
    const entry = options.staticData?.navigation;
    return entry ? [{ ...entry, to: fullPath as Place["to"] }] : [];
  });
}
