import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Download, Upload } from "lucide-react";
import { useState } from "react";
import { FileTrigger } from "react-aria-components";
import { data } from "../../api/client";
import { useApi, useFormats } from "../../app/context";
import { Button } from "../../components/Button";
import { ErrorNote, Note, Spinner } from "../../components/Feedback";
import { toast } from "../../components/Toasts";
import { download } from "../../lib/download";

/** Everything to take away, and back again. */
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
  const exporting = useMutation({
    mutationFn: async () => {
      setBytes(0);
      return collected(await api.raw("/api/users/me/export", "application/zip"), setBytes);
    },
    onSuccess: (zip) => download(`carrel-${new Date().toISOString().slice(0, 10)}.zip`, zip),
  });
  return (
    <section className="card stack" aria-labelledby="export-title">
      <h2 id="export-title">Take everything along</h2>
      <p>One zip of all that is on this desk, to read without Carrel: texts with their earlier versions, presets, runs with their answers, scores and rankings, settings, and one row for each call. Your keys for providers are not in it.</p>
      <Note>What you download leaves your encrypted desk: keep it where only you can read it.</Note>
      {exporting.isError && <ErrorNote error={exporting.error} />}
      <div className="row">
        <Button variant="primary" onPress={() => exporting.mutate()} isDisabled={exporting.isPending}>
          <Download size={16} aria-hidden /> Download everything
        </Button>
        {exporting.isPending && <Spinner label={bytes ? formats.bytes(bytes) : "Packing"} />}
      </div>
    </section>
  );
}

function Import() {
  const api = useApi();
  const queries = useQueryClient();
  const formats = useFormats();
  const importing = useMutation({
    mutationFn: (file: File) =>
      data(
        api.client.POST("/api/users/me/import", {
          // The description has no word for a file; it goes out as it is.
          body: file as unknown as string,
          bodySerializer: (body: unknown) => body as File,
          headers: { "Content-Type": "application/zip" },
        }),
      ),
    onSuccess: ({ contents, presets }) => {
      toast.done(`Brought in: ${formats.integer(contents)} texts and ${formats.integer(presets)} presets.`);
      void queries.invalidateQueries();
    },
  });
  return (
    <section className="card stack" aria-labelledby="import-title">
      <h2 id="import-title">Bring an export in</h2>
      <p>Texts and presets of such a zip come beside what is here, and your settings become those of the zip. Runs and keys stay in it. Either all of it comes, or nothing.</p>
      {importing.isError && <ErrorNote error={importing.error} />}
      <div className="row">
        <FileTrigger
          acceptedFileTypes={[".zip", "application/zip"]}
          onSelect={(files) => {
            const file = files?.[0];
            if (file) importing.mutate(file);
          }}
        >
          <Button isDisabled={importing.isPending}>
            <Upload size={16} aria-hidden /> Choose a zip
          </Button>
        </FileTrigger>
        {importing.isPending && <Spinner label="Bringing it in" />}
      </div>
    </section>
  );
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
