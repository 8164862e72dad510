/** Finds the line of a fault in a list of criteria: the service names the entry and the field. */

/** The line, from 1, of a path such as `body[2].weight`; undefined if the fault is of the whole text. */
export function lineOf(body: string, path: string): number | undefined {
  const [, entry, field] = /^body\[(\d+)\](?:\.([a-z.]+))?$/.exec(path) ?? [];
  if (entry === undefined) return undefined;
  const lines = body.split("\n");
  const starts = entriesOf(lines);
  const first = starts[Number(entry)];
  if (first === undefined) return undefined;
  const last = starts[Number(entry) + 1] ?? lines.length;
  let at = first;
  for (const name of field?.split(".") ?? []) {
    const found = lines.findIndex(
      (line, index) => index >= at && index < last && new RegExp(`(^|[\\s{,-])["']?${name}["']?\\s*:`).test(line),
    );
    if (found < 0) break;
    at = found;
  }
  return at + 1;
}

/** The faults of a list of criteria, each with its line, as far as that can be told. */
export function faultsByLine(body: string, faults: readonly { path: string; message: string }[]): string[] {
  return faults
    .filter(({ path }) => /^body\b/.test(path))
    .map(({ path, message }) => {
      const line = lineOf(body, path) ?? lineIn(message);
      const field = path.replace(/^body(\[\d+\])?\.?/, "");
      const at = line === undefined ? "" : `Line ${line}`;
      return `${[at, field].filter(Boolean).join(", ")}${at || field ? ": " : ""}${message}`;
    });
}

/** The line that a message of the service names, as for YAML that cannot be parsed. */
export function lineIn(message: string): number | undefined {
  const told = /\bline (\d+)/.exec(message)?.[1];
  return told === undefined ? undefined : Number(told);
}

/** The lines on which the entries of the outermost list begin. */
function entriesOf(lines: readonly string[]): number[] {
  const dashes = lines.flatMap((line, index) => {
    const indent = /^(\s*)-(\s|$)/.exec(line)?.[1]?.length;
    return indent === undefined ? [] : [{ index, indent }];
  });
  const outermost = Math.min(...dashes.map(({ indent }) => indent));
  return dashes.filter(({ indent }) => indent === outermost).map(({ index }) => index);
}

/** Where a line, from 1, begins and ends among the characters of the text. */
export function spanOf(body: string, line: number): [number, number] {
  const lines = body.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, before) => sum + before.length + 1, 0);
  return [Math.min(start, body.length), Math.min(start + (lines[line - 1]?.length ?? 0), body.length)];
}
