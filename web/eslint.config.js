import jsxA11y from "eslint-plugin-jsx-a11y";
import reactHooks from "eslint-plugin-react-hooks";
import tseslint from "typescript-eslint";
import { rooms } from "./lint/rooms.js";

export default tseslint.config(
  { ignores: ["dist", "node_modules", "scripts", "lint", "eslint.config.js", "eslint.client.config.js"] },
  ...tseslint.configs.strictTypeChecked,
  jsxA11y.flatConfigs.recommended,
  reactHooks.configs.flat.recommended,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { carrel: { rules: { rooms } } },
    rules: {
      "carrel/rooms": "error",
      "no-restricted-syntax": [
        "error",
        {
          selector: "ExportAllDeclaration, ExportNamedDeclaration[source]",
          message: "Import from the file that defines the name; there are no barrel files here.",
        },
        {
          selector:
            "Property[key.name='queryKey'] > ArrayExpression, CallExpression[callee.property.name=/^[gs]et(Query|Queries)(Data|Defaults|State)$/] > ArrayExpression:first-child",
          message: "Take the key from src/api/queryKeys.ts.",
        },
      ],
      "max-lines": ["error", 400],
      "max-lines-per-function": ["error", 200],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      // TanStack Router redirects and stops by throwing what is no Error.
      "@typescript-eslint/only-throw-error": "off",
      // A list that makes no promise that its library can be memoised is not a fault of ours.
      "react-hooks/incompatible-library": "off",
    },
  },
);
