/** Hand a file to the user. It leaves the encrypted desk with that, so only ever on a press of a button. */
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
    .replace(/[^\p{L}\p{N}._ -]+/gu, "-")
    .replace(/^[.\s-]+/, "");
  return clean.slice(0, 120) || "file";
}
