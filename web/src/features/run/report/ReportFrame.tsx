import { useRef } from "react";

const STYLE = /<style[^>]*>([\s\S]*?)<\/style>/gi;
const BLANK =
  "<!doctype html><html lang='en'><head><meta name='color-scheme' content='light dark'></head><body></body></html>";

/**
 * A report in a frame that runs no script: `sandbox` without `allow-scripts`.
 *
 * The frame takes over the policy of the host's page, which need not allow inline styles. So the page's style is handed
 * over as a style sheet object, which no policy concerns, and its body as parsed nodes.
 */
export function ReportFrame({ html, title }: { html: string; title: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const fill = () => {
    const inside = frame.current?.contentDocument;
    const view = inside?.defaultView;
    if (!view) return;
    const styles = [...html.matchAll(STYLE)].map(([, text]) => text);
    // Taken out before parsing: a policy looks at style elements even in a document that is not shown.
    const page = new DOMParser().parseFromString(html.replaceAll(STYLE, ""), "text/html");
    const sheet = new view.CSSStyleSheet();
    sheet.replaceSync(styles.join("\n"));
    for (const active of page.querySelectorAll("script, style, link, meta, base, iframe, object, embed"))
      active.remove();
    inside.adoptedStyleSheets = [sheet];
    inside.title = title;
    inside.body.replaceChildren(...[...page.body.childNodes].map((node) => inside.importNode(node, true)));
  };
  return (
    <iframe
      key={html}
      ref={frame}
      className="frame"
      title={title}
      sandbox="allow-same-origin"
      srcDoc={BLANK}
      onLoad={fill}
    />
  );
}
