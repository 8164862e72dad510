import app from "./eslint.config.js";

/** The rules of the app for the client in `sdk/typescript`, whose `index.ts` lists what its users import. */
export default [
  ...app,
  { ignores: ["src/schema.ts"] },
  { files: ["src/index.ts"], rules: { "no-restricted-syntax": "off" } },
];
