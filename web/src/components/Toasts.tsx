import { X } from "lucide-react";
import { useSyncExternalStore } from "react";
import { ApiError } from "carrel-sdk";
import { wordsForError } from "../lib/errorWords";
import { IconButton } from "./Button";

interface Toast {
  id: number;
  text: string;
  tone: "good" | "error";
}

const SHOWN_MS = 6000;
let toasts: readonly Toast[] = [];
let next = 1;
const listeners = new Set<() => void>();

function set(value: readonly Toast[]): void {
  toasts = value;
  for (const listener of listeners) listener();
}

function add(text: string, tone: Toast["tone"]): void {
  const id = next++;
  set([...toasts.slice(-3), { id, text, tone }]);
  // An error stays until the user closes it.
  if (tone === "good") setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  set(toasts.filter((toast) => toast.id !== id));
}

export const toast = {
  done: (text: string) => add(text, "good"),
  failed: (error: unknown) => {
    const code = error instanceof ApiError ? ` (${error.code})` : "";
    add(`${wordsForError(error)}${code}`, "error");
  },
};

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="log" aria-label="Messages" aria-live="polite">
      {shown.map(({ id, text, tone }) => (
        <div key={id} className={`toast ${tone}`} role={tone === "error" ? "alert" : undefined}>
          <span className="grow">{text}</span>
          <IconButton small label="Dismiss" icon={<X size={16} />} onPress={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
