/** Mounts the app into the page: into `#carrel` if there is one, else at its end. */
import { createRoot } from "react-dom/client";
import { Api } from "./api/client";
import type { HostConfig } from "./api/session";
import { App } from "./app/App";
import { beginAt } from "./app/history";
import { bringSerif } from "./app/fonts";
import { fetchPartsAfter } from "./lib/part";
import "./styles/index.css";

export function mount(config: HostConfig): void {
  const root = document.getElementById("carrel") ?? document.body.appendChild(document.createElement("div"));
  root.classList.add("carrel");
  keepOutInlineStyle();
  beginAt(config.page);
  void bringSerif();
  const api = new Api(config);
  fetchPartsAfter(() => api.connection.afterFailure());
  createRoot(root).render(<App api={api} root={root} />);
}

/** React Aria adds a style element of its own unless this id is taken; a strict policy would refuse it, and say so. */
function keepOutInlineStyle(): void {
  const marker = document.createElement("template");
  marker.id = "react-aria-pressable-style";
  document.head.append(marker);
}
