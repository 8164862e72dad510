import path from "node:path";

const ALLOWED_TO_LOAD_PAGES = "app/router.tsx";

/**
 * Keep the folders of `src/features` apart. A file there imports from its own folder, from the folders above it and
 * from the folders below it, never from a folder beside those: what two features share is in `components`, `api` or
 * `lib`, and what two tabs of a page share is beside the page. Outside `src/features` only the router loads pages.
 */
export const rooms = {
  meta: {
    type: "problem",
    docs: { description: "disallow imports between features and between the rooms of a feature" },
    messages: {
      sideways: "{{from}} must not import from {{to}}: move what both need to a folder above them.",
      outside: "Only src/app/router.tsx may import from a feature.",
    },
    schema: [{ type: "object", properties: { root: { type: "string" } }, additionalProperties: false }],
  },
  create(context) {
    const root = context.options[0]?.root ?? path.join(context.cwd, "src");
    const features = path.join(root, "features") + path.sep;
    const from = path.dirname(context.filename);

    function check(node) {
      const name = node.source?.value;
      if (typeof name !== "string" || !name.startsWith(".")) return;
      const to = path.dirname(path.resolve(from, name));
      if (!`${to}${path.sep}`.startsWith(features)) return;
      if (!context.filename.startsWith(features)) {
        if (path.relative(root, context.filename).split(path.sep).join("/") === ALLOWED_TO_LOAD_PAGES) return;
        context.report({ node, messageId: "outside" });
      } else if (!isWithin(to, from) && !isWithin(from, to)) {
        const short = (folder) => path.relative(root, folder).split(path.sep).join("/");
        context.report({ node, messageId: "sideways", data: { from: short(from), to: short(to) } });
      }
    }

    return { ImportDeclaration: check, ImportExpression: check };
  },
};

function isWithin(inner, outer) {
  return `${inner}${path.sep}`.startsWith(`${outer}${path.sep}`);
}
