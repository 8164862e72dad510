import { type RefObject, useEffect, useRef } from "react";
import { ApiError } from "carrel-sdk";

/** Move the focus to the field of a missing value. Parts of the form name the paths that they hold in `data-part`. */

const CONTROLS = 'input:not([type="file"]), select, textarea, button, summary';

export function goTo(page: HTMLElement | null, path: string): void {
  const candidate = /^generation\.candidates\[(\d+)\]/.exec(path)?.[1];
  const place = candidate ? page?.querySelectorAll("article")[Number(candidate)] : partOf(page, path);
  const control =
    place?.querySelector<HTMLElement>('[aria-invalid="true"]') ?? place?.querySelector<HTMLElement>(CONTROLS);
  const go = () => {
    control?.scrollIntoView({ block: "center" });
    control?.focus({ preventScroll: true });
  };
  const folded = control?.closest(".disclosure-panel[hidden]")?.parentElement;
  if (!folded) {
    go();
    return;
  }
  folded.querySelector<HTMLElement>('[aria-expanded="false"]')?.click();
  // It is there once it is drawn.
  requestAnimationFrame(go);
}

/** Move the focus to the field that the service refuses, once for each refusal. */
export function useGoToFault(
  page: RefObject<HTMLElement | null>,
  error: unknown,
  placeOf: (path: string) => string = (path) => path,
): void {
  const place = useRef(placeOf);
  useEffect(() => {
    place.current = placeOf;
  });
  useEffect(() => {
    const path = error instanceof ApiError ? error.faults[0]?.path : undefined;
    if (path) goTo(page.current, place.current(path));
  }, [page, error]);
}

/** The part of the longest beginning of a path that has one, with the numbers of its places or without. */
function partOf(page: HTMLElement | null, path: string): HTMLElement | null | undefined {
  const steps = path.split(/(?=[.[])/);
  for (let count = steps.length; count > 0; count--) {
    const beginning = steps.slice(0, count).join("");
    const part = page?.querySelector<HTMLElement>(`[data-part="${beginning}"]`);
    if (part) return part;
  }
  return undefined;
}
