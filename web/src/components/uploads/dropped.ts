/** What was dropped on the page, as files. */
import type { DropItem } from "react-aria-components";

/** The most files that one drop may hold, in case somebody drops a whole disk. */
const MOST = 2_000;

/** The files, and those in folders at any depth. Hidden files in folders are left out: no user means them. */
export async function filesIn(items: readonly DropItem[]): Promise<File[]> {
  const found: File[] = [];
  for (const item of items) await gather(item, found);
  return found;
}

async function gather(item: DropItem, found: File[]): Promise<void> {
  if (found.length >= MOST) return;
  if (item.kind === "file") found.push(await item.getFile());
  if (item.kind !== "directory") return;
  for await (const entry of item.getEntries()) {
    if (!entry.name.startsWith(".")) await gather(entry, found);
  }
}
