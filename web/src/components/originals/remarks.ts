/** What of a file is not in its text, or may be wrong there, in words. */
import type { Document } from "../../api/types";

type Kind = Document["remarks"][number]["kind"];

const WORDS: Record<Kind, readonly [string, string]> = {
  attachment: ["attachment", "attachments"],
  comment: ["comment", "comments"],
  deleted_text: ["deleted piece of text", "deleted pieces of text"],
  doubtful_page: ["page whose text may be garbage", "pages whose text may be garbage"],
  guessed_encoding: ["guess at the encoding: Windows-1252", "guesses at the encoding: Windows-1252"],
  header_or_footer: ["header or footer", "headers or footers"],
  hidden_text: ["hidden piece of text", "hidden pieces of text"],
  page_without_text: ["page without text", "pages without text"],
  picture: ["picture", "pictures"],
  placeholder: ["placeholder", "placeholders"],
  unreadable_page: ["unreadable page", "unreadable pages"],
};
const DOUBTS: readonly Kind[] = ["doubtful_page", "guessed_encoding"];
const OF_PAGES: readonly Kind[] = ["doubtful_page", "page_without_text", "unreadable_page"];
const NAMED = 8;

/** The pages that a reader should look at, in their order. */
export function doubtfulPages({ remarks }: Pick<Document, "remarks">): number[] {
  const pages = remarks.filter(({ kind }) => OF_PAGES.includes(kind)).flatMap(({ pages = [] }) => pages);
  return [...new Set(pages)].toSorted((one, other) => one - other);
}

/** What is doubtful, or what else is left out: "2 pages whose text may be garbage (3, 7), 1 picture". */
export function remarksInWords({ remarks }: Pick<Document, "remarks">, areDoubts: boolean): string {
  return remarks
    .filter(({ kind }) => DOUBTS.includes(kind) === areDoubts)
    .map(({ kind, count, pages = [] }) => {
      const places = pages.length ? ` (${pages.slice(0, NAMED).join(", ")}${count > NAMED ? " …" : ""})` : "";
      return `${count} ${WORDS[kind][count === 1 ? 0 : 1]}${places}`;
    })
    .join(", ");
}
