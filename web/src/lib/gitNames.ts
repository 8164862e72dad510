/** Folders and branches of a repository, by the rules that the service goes by. */

const MAX_DEPTH = 32;
const BRANCH = /^[A-Za-z0-9_]([A-Za-z0-9._/-]{0,198}[A-Za-z0-9_-])?$/;
const ODD = /[\u0000-\u001f\u007f\\]/;

function isPlain(path: string): boolean {
  const parts = path.split("/");
  if (parts.length > MAX_DEPTH || ODD.test(path) || path.includes("..")) return false;
  return parts.every((part) => part !== "" && part !== "." && part.toLowerCase() !== ".git" && !part.endsWith(".lock"));
}

/** What is wrong with the name of a folder; the empty one is the root. */
export function folderFault(path: string): string | undefined {
  if (!path) return undefined;
  if (path.startsWith("/") || path.endsWith("/")) return "Leave out the slash at the beginning or the end.";
  if (path.trim() !== path) return "Leave out the space at the beginning or the end.";
  return isPlain(path) ? undefined : "This is no folder inside a repository.";
}

/** What is wrong with the name of a branch; without one it is the connection's. */
export function branchFault(name: string): string | undefined {
  return !name || (BRANCH.test(name) && isPlain(name)) ? undefined : "This is no name of a branch.";
}
