import { expect, test } from "vitest";
import { safeName } from "./download";

test.each([
  ["Answer customers, team- friendly … memo.html", "Answer customers team friendly memo.html"],
  ["../../etc/passwd", "etc-passwd"],
  ["Prüfung №5?.html", "Prüfung No5.html"],
  ["…", "file"],
])("a file that is called %s is saved as %s", (name, saved) => {
  expect(safeName(name)).toBe(saved);
});
