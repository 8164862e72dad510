/** The lines of a text, and the line that a fault of the service names. */

const LINE = /\s*\(line (\d+)\)$/;

/** The line, from 1, that a message of the service names. */
export function lineIn(message: string): number | undefined {
  const told = /\bline (\d+)/.exec(message)?.[1];
  return told === undefined ? undefined : Number(told);
}

/** The message where its line is of no use: beside the field itself, or behind the number. */
export function withoutLine(message: string): string {
  return message.replace(LINE, "");
}

/** Where a line, from 1, begins and ends among the characters of the text. */
export function spanOf(body: string, line: number): [number, number] {
  const lines = body.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, before) => sum + before.length + 1, 0);
  return [Math.min(start, body.length), Math.min(start + (lines[line - 1]?.length ?? 0), body.length)];
}
