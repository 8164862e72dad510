import { useMutation, useQuery } from "@tanstack/react-query";
import { Download, FileArchive, FolderGit2, Stamp } from "lucide-react";
import { useState } from "react";
import { ApiError, data } from "carrel-sdk";
import { queryKeys } from "../../../api/queryKeys";
import type { Report, Run } from "../../../api/types";
import { useApi } from "../../../app/context";
import { Button } from "../../../components/Button";
import { ErrorNote, Note, Spinner } from "../../../components/Feedback";
import { QueryView } from "../../../components/QueryView";
import { download } from "../../../lib/download";
import { hasEnded, hasResult } from "../../../lib/states";
import { ReportFrame } from "./ReportFrame";
import { earlierRound, splitQuery } from "../queries";
import { SendToGithub } from "../SendToGithub";

const ASK_EVERY_MS = 700;
const ASK_AT_MOST = 200;
/** A page of more answers would hold the browser up; the file to take home has them all. */
const MOST_ANSWERS = 2000;

/** The report as the service wrote it, and the two files that a user takes home. */
export function ReportPanel({ run, report }: { run: Run; report: Report }) {
  const api = useApi();
  const [isSending, setSending] = useState(false);
  const [column, setColumn] = useState("");
  const columns = useQuery(splitQuery(api, run.id, undefined)).data?.columns ?? [];
  const path = `/api/runs/${encodeURIComponent(run.id)}`;
  const round = earlierRound(report);
  const isLong = report.documents_total * report.candidates.length > MOST_ANSWERS;
  const page = useQuery({
    queryKey: queryKeys.run.reportPage(run.id, column, round),
    queryFn: async ({ signal }) =>
      (await api.raw(reportPath(run.id, column, round, !isLong), "text/html", signal)).text(),
  });
  const whole = useMutation({
    mutationFn: async () =>
      isLong || page.data === undefined
        ? (await api.raw(reportPath(run.id, column, round, true), "text/html")).blob()
        : new Blob([page.data], { type: "text/html" }),
    onSuccess: (file) => download(`${run.name}.html`, file),
  });
  const exporting = useMutation({
    mutationFn: async () => {
      await data(api.client.POST("/api/runs/{run_id}/export", { params: { path: { run_id: run.id } } }));
      return (await readWhenReady(() => api.raw(`${path}/export`, "application/zip"))).blob();
    },
    onSuccess: (zip) => download(`${run.name}.zip`, zip),
  });
  const receipt = useMutation({
    mutationFn: async () => (await api.raw(`${path}/receipt`, "application/json")).blob(),
    onSuccess: (file) => download(`${run.name} receipt.json`, file),
  });
  return (
    <div className="stack">
      <div className="row">
        <Button onPress={() => whole.mutate()} isDisabled={!page.data || whole.isPending}>
          <Download size={16} aria-hidden /> Report
        </Button>
        <Button onPress={() => exporting.mutate()} isDisabled={exporting.isPending}>
          <FileArchive size={16} aria-hidden /> Everything, as a zip
        </Button>
        {hasResult(run.state) && (
          <Button onPress={() => receipt.mutate()} isDisabled={receipt.isPending}>
            <Stamp size={16} aria-hidden /> Signed receipt
          </Button>
        )}
        {hasEnded(run.state) && (
          <Button onPress={() => setSending(true)}>
            <FolderGit2 size={16} aria-hidden /> To GitHub
          </Button>
        )}
        {columns.length > 0 && (
          <select
            className="input narrow"
            aria-label="Report with the results by"
            value={column}
            onChange={(event) => setColumn(event.target.value)}
          >
            <option value="">Report by no column</option>
            {columns.map((name) => (
              <option key={name} value={name}>
                Report by {name}
              </option>
            ))}
          </select>
        )}
        {exporting.isPending && <Spinner label="Packing" />}
      </div>
      {whole.isError && <ErrorNote error={whole.error} onRetry={() => whole.mutate()} />}
      {exporting.isError && <ErrorNote error={exporting.error} onRetry={() => exporting.mutate()} />}
      {receipt.isError && <ErrorNote error={receipt.error} onRetry={() => receipt.mutate()} />}
      {isSending && <SendToGithub run={run} onClose={() => setSending(false)} />}
      <Note>What you download leaves your encrypted workspace: keep it where only you can read it.</Note>
      {isLong && (
        <p className="small dim">
          Below is the report without its documents, of which there are too many to be shown. What you download has as
          many of their texts as a report has room for, and the zip has all.
        </p>
      )}
      <QueryView query={page} lines={12}>
        {(html) => <ReportFrame html={html} title={`Report of ${run.name}`} />}
      </QueryView>
    </div>
  );
}

function reportPath(runId: string, column: string, round: number | undefined, hasDocuments: boolean): string {
  const split = column && `&split=${encodeURIComponent(column)}`;
  const ofRound = round ? `&round=${round}` : "";
  return `/api/runs/${encodeURIComponent(runId)}/report?format=html${hasDocuments ? "" : "&documents=false"}${split}${ofRound}`;
}

/** An export is packed in the background, and refused until it is there. */
async function readWhenReady(read: () => Promise<Response>): Promise<Response> {
  for (let times = 0; ; times++) {
    try {
      return await read();
    } catch (error) {
      const isComing = error instanceof ApiError && error.code === "export-not-ready";
      if (!isComing || times >= ASK_AT_MOST) throw error;
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    }
  }
}
