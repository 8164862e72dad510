import { type RefObject, useEffect } from "react";
import { ApiError } from "carrel-sdk";

/** Move the focus to the field of a missing value. Parts of the form name the paths that they hold in `data-part`. */

const CONTROLS = 'input:not([type="file"]), select, textarea, button, summary';

export function goTo(page: HTMLElement | null, path: string): void {
  const candidate = /^generation\.candidates\[(\d+)\]/.exec(path)?.[1];
  const place = candidate ? page?.querySelectorAll("article")[Number(candidate)] : partOf(page, path);
  const control =
    place?.querySelector<HTMLElement>('[aria-invalid="true"]') ?? place?.querySelector<HTMLElement>(CONTROLS);
  control?.scrollIntoView({ block: "center" });
  control?.focus({ preventScroll: true });
}

/** Move the focus to the field that the service refuses, once for each refusal. */
export function useGoToFault(page: RefObject<HTMLElement | null>, error: unknown): void {
  useEffect(() => {
    const path = error instanceof ApiError ? error.faults[0]?.path : undefined;
    if (path) goTo(page.current, path);
  }, [page, error]);
}

/** The part of the longest beginning of a path that has one. */
function partOf(page: HTMLElement | null, path: string): HTMLElement | null | undefined {
  const names = path.replace(/\[.*/, "").split(".");
  for (let count = names.length; count > 0; count--) {
    const part = page?.querySelector<HTMLElement>(`[data-part="${names.slice(0, count).join(".")}"]`);
    if (part) return part;
  }
  return undefined;
}
