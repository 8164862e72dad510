/**
 * Save a file on the user's machine. It leaves the encrypted workspace with that, so call this only when the user
 * presses a button.
 */
export function download(name: string, blob: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = safeName(name);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A name that no file system takes for a folder or a command. */
export function safeName(name: string): string {
  const clean = name
    .normalize("NFKC")
    .replace(/\.{2,}/g, "")
    .replace(/[^\p{L}\p{N}._ -]+/gu, "-")
    .replace(/-(?=[\s.]|$)/g, "")
    .replace(/\s+/g, " ")
    .replace(/ (?=\.)/g, "")
    .replace(/^[.\s-]+/, "");
  return clean.slice(0, 120) || "file";
}
