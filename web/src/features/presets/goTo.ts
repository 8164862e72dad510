/** Move the focus to the field of a missing value. Parts of the form name the paths that they hold in `data-part`. */

const CONTROLS = "input, select, textarea, button, summary";

export function goTo(page: HTMLElement | null, path: string): void {
  const candidate = /^generation\.candidates\[(\d+)\]/.exec(path)?.[1];
  const place = candidate ? page?.querySelectorAll("article")[Number(candidate)] : partOf(page, path);
  const control =
    place?.querySelector<HTMLElement>('[aria-invalid="true"]') ?? place?.querySelector<HTMLElement>(CONTROLS);
  control?.scrollIntoView({ block: "center" });
  control?.focus({ preventScroll: true });
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
