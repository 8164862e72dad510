import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

/** One entry with a fixed name, `carrel.js`; everything that it loads is named by its content and lies beside it. */
export default defineConfig({
  plugins: [react()],
  base: "./",
  // The client is built with the app, from its sources, so that nothing has to be built or installed before.
  resolve: { alias: { "carrel-sdk": fileURLToPath(new URL("../sdk/typescript/src/index.ts", import.meta.url)) } },
  build: {
    target: ["chrome123", "firefox125", "safari17.5"],
    cssTarget: ["chrome123", "firefox125", "safari17.5"],
    modulePreload: { polyfill: false },
    manifest: true,
    // Pictures as data: URLs would need a leave in the host's content security policy.
    assetsInlineLimit: 0,
    rollupOptions: {
      // The page's only script is the entry that a host's page loads too.
      input: "index.html",
      output: {
        entryFileNames: "carrel.js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
  // A test holds the lists of the app against the description of the API, which lies beside this folder.
  server: { fs: { allow: [".."] } },
  test: {
    projects: [
      {
        extends: true,
        test: { name: "app", environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}", "lint/**/*.test.js"] },
      },
      { test: { name: "client", root: "../sdk/typescript", environment: "node", include: ["tests/**/*.test.ts"] } },
    ],
  },
});
