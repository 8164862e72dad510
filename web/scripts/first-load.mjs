// Prints what a browser downloads before the first page shows, compressed, and fails when it is more than the limit.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LIMIT_KB = 200;
const dist = new URL("../dist/", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL(".vite/manifest.json", dist), "utf8"));

const files = new Set();
function add(key) {
  const chunk = manifest[key];
  if (files.has(chunk.file)) return;
  files.add(chunk.file);
  for (const sheet of chunk.css ?? []) files.add(sheet);
  for (const other of chunk.imports ?? []) add(other);
}
// The entry, what it loads at once, and the page that opens first.
for (const key of ["index.html", "src/main.tsx", "src/features/runs/RunsPage.tsx"]) add(key);

const size = (file) => gzipSync(readFileSync(new URL(file, dist)), { level: 9 }).length / 1000;
const total = [...files].reduce((sum, file) => sum + size(file), 0);
console.log(`first load: ${total.toFixed(0)} kB compressed in ${files.size} files (limit ${LIMIT_KB} kB)`);
if (total > LIMIT_KB) process.exit(1);
