// @vitest-environment jsdom
import { expect, test } from "vitest";
import { harmless } from "./Markdown";

function shown(text: string): HTMLDivElement {
  const place = document.createElement("div");
  place.append(harmless(text));
  return place;
}

test.each([
  "<script>document.title = 'owned'</script>",
  "<img src=x onerror=alert(1)>",
  "<svg onload=alert(1)><a href='javascript:alert(1)'>x</a></svg>",
  "<iframe srcdoc='<script>1</script>'></iframe>",
  "<style>body { display: none }</style>",
  "<form action='https://evil.example'><button>x</button></form>",
  "[x](javascript:alert(1))",
  "![x](https://evil.example/pixel.png)",
  "<a href='https://evil.example' onclick='alert(1)'>x</a>",
  "<math><mtext><table><mglyph><style><img src onerror=alert(1)>",
])("%s does nothing, loads nothing and leads nowhere", (text) => {
  const place = shown(text);
  expect(place.querySelector("script, style, img, iframe, svg, form, a, math, link, object, embed")).toBeNull();
  for (const element of place.querySelectorAll("*"))
    expect(element.getAttributeNames().filter((name) => !["align", "start"].includes(name))).toEqual([]);
});

test("what Markdown means is kept, and a link shows where it would have led", () => {
  const place = shown("# Title\n\n- one\n- **two**\n\n[more](https://example.com)\n\n| a | b |\n|---|---|\n| 1 | 2 |");
  expect(place.querySelector("h1")?.textContent).toBe("Title");
  expect(place.querySelectorAll("li")).toHaveLength(2);
  expect(place.querySelectorAll("td")).toHaveLength(2);
  expect(place.textContent).toContain("more (https://example.com)");
});

test.each(["_a".repeat(500_000), "a".repeat(1_000_000) + "@", ">".repeat(20_000), "[".repeat(20_000)])(
  "a text that is made to stop the page is shown at once, as it is",
  (text) => {
    const begun = performance.now();
    expect(shown(text).textContent.trim()).toBe(text);
    expect(performance.now() - begun).toBeLessThan(5_000);
  },
);
