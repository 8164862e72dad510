import { CircleAlert, CircleCheck, Info, LoaderCircle, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { ApiError, ConnectionLost } from "carrel-sdk";
import { useApi } from "../app/context";
import { wordsForError } from "../lib/errorWords";
import { pathInWords } from "../lib/pathWords";
import { Button } from "./Button";

type Tone = "info" | "warn" | "bad" | "good";
const ICONS = { info: Info, warn: TriangleAlert, bad: CircleAlert, good: CircleCheck };

export function Note({
  tone = "info",
  role,
  children,
}: {
  tone?: Tone;
  role?: "alert" | "status";
  children: ReactNode;
}) {
  const Icon = ICONS[tone];
  return (
    <div className={`note ${tone}`} role={role}>
      <Icon size={18} aria-hidden />
      <div className="grow stack tight">{children}</div>
    </div>
  );
}

/** An error in words, with what the user can do about it. */
export function ErrorNote({
  error,
  onRetry,
  nameOf = pathInWords,
}: {
  error: unknown;
  onRetry?: () => void;
  /** What people call the place of a fault. */
  nameOf?: (path: string) => string;
}) {
  const api = useApi();
  const { upgradeUrl } = api.session.config;
  const isApi = error instanceof ApiError;
  if (onRetry && error instanceof ConnectionLost)
    return (
      // The banner tells what is wrong, and queries are repeated by themselves.
      <Note tone="warn">
        <p>This page waits for the service, and shows the rest when it answers.</p>
      </Note>
    );
  return (
    <Note tone="bad" role="alert">
      <p>{wordsForError(error)}</p>
      {isApi && error.faults.length > 0 && (
        <ul className="small">
          {error.faults.map((fault) => (
            <li key={fault.path + fault.message}>
              <strong>{nameOf(fault.path)}:</strong> {fault.message}
            </li>
          ))}
        </ul>
      )}
      {isApi && (
        <p className="small dim">
          <code>{error.code}</code>
          {error.requestId && (
            <>
              {" · request "}
              <code>{error.requestId}</code>
            </>
          )}
        </p>
      )}
      {isApi && error.code === "membership-required" && upgradeUrl && (
        <p>
          <a href={upgradeUrl}>Get a membership</a>
        </p>
      )}
      {onRetry && (
        <div>
          <Button small onPress={onRetry}>
            Try again
          </Button>
        </div>
      )}
    </Note>
  );
}

export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}

export function Skeleton({ lines = 5 }: { lines?: number }) {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <i key={index} className={index % 3 === 2 ? "short" : ""} />
      ))}
    </div>
  );
}

export function Spinner({ label }: { label: string }) {
  return (
    <span className="row tight nowrap dim" role="status">
      <LoaderCircle size={16} className="spinner" aria-hidden /> {label}
    </span>
  );
}
