import DOMPurify from "dompurify";
import { Marked } from "marked";
import { useLayoutEffect, useRef } from "react";

const ALLOWED = [
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "p",
  "ul",
  "ol",
  "li",
  "blockquote",
  "pre",
  "code",
  "em",
  "strong",
  "del",
  "hr",
  "br",
  "table",
  "thead",
  "tbody",
  "tr",
  "th",
  "td",
  "a",
];

/**
 * Longer texts are not read as Markdown, as in the report: some take time that grows with the square of their length.
 */
const MAX_CHARACTERS = 20_000;

/** Shows raw HTML as text, as the report does. A picture becomes its description and its address. */
const markdown = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ text, href }) => escaped(`${text} (${href})`),
  },
});

/**
 * Markdown of documents and models. Its links lead nowhere and it loads nothing: what a model wrote may want to send
 * what it read to somebody.
 */
export function Markdown({ text }: { text: string }) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    place.current?.replaceChildren(harmless(text));
  }, [text]);
  return <div className="prose" ref={place} />;
}

export function harmless(text: string): DocumentFragment {
  const html = htmlOf(text);
  if (html === undefined) return plain(text);
  const fragment = DOMPurify.sanitize(html, {
    ALLOWED_TAGS: ALLOWED,
    ALLOWED_ATTR: ["href", "align", "start"],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of fragment.querySelectorAll("a")) {
    const words = document.createElement("span");
    const target = link.getAttribute("href") ?? "";
    words.append(...link.childNodes);
    if (target && target !== words.textContent) words.append(` (${target})`);
    link.replaceWith(words);
  }
  return fragment;
}

/** `undefined` for a text that is too long, or nested too deeply, as thousands of quotations in each other are. */
function htmlOf(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  try {
    return markdown.parse(text, { async: false });
  } catch {
    return undefined;
  }
}

function plain(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  const lines = fragment.appendChild(document.createElement("pre"));
  lines.textContent = text;
  lines.className = "prewrap";
  return fragment;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
