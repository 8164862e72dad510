import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Download, Upload } from "lucide-react";
import { useRef, useState } from "react";
import { FileTrigger } from "react-aria-components";
import { ConnectionLost, isAbort } from "carrel-sdk";
import { meQuery } from "../../api/queries";
import { useApi, useFormats } from "../../app/context";
import { Button } from "../../components/Button";
import { ErrorNote, Note, Spinner } from "../../components/Feedback";
import { download } from "../../lib/download";
import { bringIn } from "./importing";

/** Export everything, and import it again. */
export function DataPanel() {
  return (
    <div className="stack wide">
      <Export />
      <Import />
    </div>
  );
}

function Export() {
  const api = useApi();
  const formats = useFormats();
  const [bytes, setBytes] = useState(0);
  const work = useStopping();
  const exporting = useMutation({
    mutationFn: async () => {
      setBytes(0);
      return collected(await api.raw("/api/users/me/export", "application/zip", work.begin()), setBytes);
    },
    onSuccess: (zip) => download(`carrel-${new Date().toISOString().slice(0, 10)}.zip`, zip),
  });
  return (
    <section className="card stack" aria-labelledby="export-title">
      <h2 id="export-title">Take everything along</h2>
      <p>
        One zip of everything in this workspace, to read without Carrel: texts with their earlier versions, presets,
        runs with their answers, scores and rankings, settings, and one row for each call. Your keys for providers are
        not in it.
      </p>
      <Note>What you download leaves your encrypted workspace: keep it where only you can read it.</Note>
      {exporting.isError && !isAbort(exporting.error) && (
        <Failed
          error={exporting.error}
          what="The download broke off before its end; nothing was kept of it."
          onRetry={() => exporting.mutate()}
        />
      )}
      {exporting.isSuccess && <Note tone="good">Packed and handed over: {formats.bytes(exporting.data.size)}.</Note>}
      <div className="row">
        <Button variant="primary" onPress={() => exporting.mutate()} isDisabled={exporting.isPending}>
          <Download size={16} aria-hidden /> Download everything
        </Button>
        {exporting.isPending && <Spinner label={bytes ? `${formats.bytes(bytes)} so far` : "Packing"} />}
        {exporting.isPending && (
          <Button small onPress={work.stop}>
            Stop
          </Button>
        )}
      </div>
    </section>
  );
}

function Import() {
  const api = useApi();
  const queries = useQueryClient();
  const formats = useFormats();
  const most = useQuery(meQuery(api)).data?.limits.import_bytes;
  const [sent, setSent] = useState(0);
  const work = useStopping();
  const importing = useMutation({
    mutationFn: (file: File) => {
      setSent(0);
      if (most !== undefined && file.size > most)
        throw new Error(
          `This zip has ${formats.bytes(file.size)}, and at most ${formats.bytes(most)} are taken. It was not sent.`,
        );
      return bringIn(api, file, { signal: work.begin(), onSent: setSent });
    },
    onSuccess: () => queries.invalidateQueries(),
  });
  const file = importing.variables;
  return (
    <section className="card stack" aria-labelledby="import-title">
      <h2 id="import-title">Bring an export in</h2>
      <p>
        Texts and presets of such a zip come beside what is here, and your settings become those of the zip. Runs and
        keys stay in it. Either all of it comes, or nothing.
      </p>
      {importing.isError && !isAbort(importing.error) && (
        <Failed
          error={importing.error}
          what={
            sent < 1
              ? "The connection broke. Choose the same zip again: a large one goes on where it was."
              : "The connection broke. Look whether the texts are here already before you try again."
          }
        />
      )}
      {importing.isSuccess && (
        <Note tone="good" role="status">
          Brought in: {formats.counted(importing.data.contents, "text")} and{" "}
          {formats.counted(importing.data.presets, "preset")}.
        </Note>
      )}
      {importing.isPending && (
        <div
          className="progress"
          role="progressbar"
          aria-label="Sent"
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(100 * sent)}
        >
          <i style={{ width: `${100 * sent}%` }} />
        </div>
      )}
      <div className="row">
        <FileTrigger
          acceptedFileTypes={[".zip", "application/zip"]}
          onSelect={(files) => {
            const chosen = files?.[0];
            if (chosen) importing.mutate(chosen);
          }}
        >
          <Button isDisabled={importing.isPending}>
            <Upload size={16} aria-hidden /> Choose a zip
          </Button>
        </FileTrigger>
        {importing.isPending && (
          <Spinner
            label={sent < 1 ? `Sending ${formats.bytes(file?.size ?? 0)}, ${formats.percent(sent)}` : "Bringing it in"}
          />
        )}
        {importing.isPending && sent < 1 && (
          <Button small onPress={work.stop}>
            Stop
          </Button>
        )}
      </div>
    </section>
  );
}

/** A task that the user can stop. */
function useStopping() {
  const controller = useRef<AbortController>(undefined);
  return {
    begin: () => {
      controller.current = new AbortController();
      return controller.current.signal;
    },
    stop: () => controller.current?.abort(),
  };
}

/** `what` is shown when the connection broke; an error of the service has its own words. */
function Failed({ error, what, onRetry }: { error: unknown; what: string; onRetry?: () => void }) {
  const isBroken = error instanceof ConnectionLost || error instanceof TypeError;
  return <ErrorNote error={isBroken ? new Error(what) : error} {...(onRetry ? { onRetry } : {})} />;
}

/** The body of an answer, told of while it comes; one that ends in the middle is an error of the stream. */
export async function collected(response: Response, onBytes: (count: number) => void): Promise<Blob> {
  const reader = response.body?.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let count = 0;
  for (;;) {
    const step = await reader?.read();
    if (!step || step.done) return new Blob(parts, { type: "application/zip" });
    parts.push(step.value);
    count += step.value.length;
    onBytes(count);
  }
}
