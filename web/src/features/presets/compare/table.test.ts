import { expect, test } from "vitest";
import type { DataSetColumn } from "../../../api/types";
import { guessedRoles, type TableRow, withRole } from "./table";

const columns = (...names: string[]): DataSetColumn[] => names.map((name) => ({ name, role: "metadata" }));
const row = (number: number, values: Record<string, string>): TableRow => ({ number, id: String(number), values });
const TICKETS = [
  row(1, { Ticket: "T-1001", Category: "Delivery", "Customer message": "Hi, I ordered a helmet on Monday …" }),
  row(2, { Ticket: "T-1002", Category: "Returns", "Customer message": "I want to send back the saddle …" }),
  row(3, { Ticket: "T-1003", Category: "Returns", "Customer message": "Where is my parcel? It was to come …" }),
];
const roles = (found: DataSetColumn[]) => Object.fromEntries(found.map(({ name, role }) => [name, role]));

test.each([
  [
    "the longest text asks, and a short column that tells all rows apart names them",
    columns("Ticket", "Category", "Customer message"),
    TICKETS,
    { Ticket: "id", Category: "metadata", "Customer message": "variable" },
  ],
  [
    "what the service knows stays",
    [
      { name: "Category", role: "variable" },
      { name: "Ticket", role: "expected" },
    ] as DataSetColumn[],
    TICKETS,
    { Category: "variable", Ticket: "expected" },
  ],
  [
    "of one row nothing tells it apart",
    columns("Nr.", "Frage"),
    [row(1, { "Nr.": "1", Frage: "Wo ist …" })],
    { "Nr.": "metadata", Frage: "variable" },
  ],
])("%s", (_, given, rows, wanted) => {
  expect(roles(guessedRoles(given, rows))).toEqual(wanted);
});

test("a role goes from one column to another, or away", () => {
  const found = guessedRoles(columns("Ticket", "Category", "Customer message"), TICKETS);
  expect(roles(withRole(found, "id", "Category"))).toMatchObject({ Ticket: "metadata", Category: "id" });
  expect(roles(withRole(found, "id", undefined))).toMatchObject({ Ticket: "metadata" });
});
