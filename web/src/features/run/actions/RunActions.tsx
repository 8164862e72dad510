import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Ellipsis, FileText, FolderGit2, Pause, Play, RotateCw, Scale, Square, Tag } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";
import type { Run } from "../../../api/types";
import { useApi } from "../../../app/context";
import { Button } from "../../../components/Button";
import { Confirm } from "../../../components/Dialog";
import { toast } from "../../../components/Toasts";
import { download } from "../../../lib/download";
import { hasEnded } from "../../../lib/states";
import { LabelDialog } from "./LabelDialog";
import { ReevaluateDialog } from "./ReevaluateDialog";
import { SendToGithub } from "../SendToGithub";
import type { Controls } from "../useControls";

/** One or two sides to hand on: a page that prints well. */
function useMemoFile(run: Run) {
  const api = useApi();
  return useMutation({
    mutationFn: async () =>
      (await api.raw(`/api/runs/${encodeURIComponent(run.id)}/report?format=memo`, "text/html")).blob(),
    onSuccess: (file) => download(`${run.name} memo.html`, file),
    onError: toast.failed,
  });
}

/** The actions that the state of the run allows, the most likely one first. */
export function RunActions({ run, controls }: { run: Run; controls: Controls }) {
  const navigate = useNavigate();
  const [asking, setAsking] = useState<"cancel" | "delete" | "label" | "reevaluate" | "send">();
  const close = () => setAsking(undefined);
  const memo = useMemoFile(run);
  const isOver = hasEnded(run.state);
  return (
    <>
      {run.state === "pending" && (
        <Button variant="primary" onPress={() => controls.start.mutate()} isDisabled={controls.start.isPending}>
          <Play size={16} aria-hidden /> Start
        </Button>
      )}
      {run.state === "running" && (
        <Button variant="primary" onPress={() => controls.pause.mutate()} isDisabled={controls.pause.isPending}>
          <Pause size={16} aria-hidden /> Pause
        </Button>
      )}
      {run.state === "paused" && (
        <Button variant="primary" onPress={() => controls.resume.mutate()} isDisabled={controls.resume.isPending}>
          <Play size={16} aria-hidden /> Resume
        </Button>
      )}
      {isOver && run.state !== "cancelled" && run.progress.failed > 0 && (
        <Button variant="primary" onPress={() => controls.retry.mutate()} isDisabled={controls.retry.isPending}>
          <RotateCw size={16} aria-hidden /> Retry what failed
        </Button>
      )}
      {isOver && (
        <Button onPress={() => memo.mutate()} isDisabled={memo.isPending}>
          <FileText size={16} aria-hidden /> Memo
        </Button>
      )}
      {isOver && (
        <Button onPress={() => setAsking("reevaluate")}>
          <Scale size={16} aria-hidden /> Judge again
        </Button>
      )}
      <MenuTrigger>
        <AriaButton className="btn icon" aria-label="More actions">
          <Ellipsis size={18} aria-hidden />
        </AriaButton>
        <Popover className="popover" placement="bottom end">
          <Menu className="menu" aria-label="More actions">
            {run.preset_id && (
              <MenuItem
                className="menu-item"
                onAction={() => void navigate({ to: "/presets/$presetId", params: { presetId: run.preset_id ?? "" } })}
              >
                Open its preset, to run it again
              </MenuItem>
            )}
            <MenuItem className="menu-item" onAction={() => setAsking("label")}>
              <Tag size={16} aria-hidden /> Name, tags and pin
            </MenuItem>
            {isOver && (
              <MenuItem className="menu-item" onAction={() => setAsking("send")}>
                <FolderGit2 size={16} aria-hidden /> Send the answers to GitHub
              </MenuItem>
            )}
            {!isOver && (
              <MenuItem className="menu-item danger" onAction={() => setAsking("cancel")}>
                <Square size={16} aria-hidden /> Cancel the comparison
              </MenuItem>
            )}
            <MenuItem
              className="menu-item danger"
              isDisabled={run.state === "running"}
              onAction={() => setAsking("delete")}
            >
              Delete the comparison
            </MenuItem>
          </Menu>
        </Popover>
      </MenuTrigger>
      {asking === "label" && <LabelDialog run={run} controls={controls} onClose={close} />}
      {asking === "send" && <SendToGithub run={run} onClose={close} />}
      <ReevaluateDialog run={run} controls={controls} isOpen={asking === "reevaluate"} onClose={close} />
      <Confirm
        title="Cancel this comparison?"
        text="What is finished stays readable. Calls in flight are dropped, and it cannot be resumed."
        action="Cancel the comparison"
        isOpen={asking === "cancel"}
        onClose={close}
        onConfirm={() => {
          controls.cancel.mutate();
          close();
        }}
      />
      <Confirm
        title="Delete this comparison?"
        text="Its answers, verdicts and exports are deleted with it, for good."
        action="Delete"
        isOpen={asking === "delete"}
        onClose={close}
        onConfirm={() => controls.remove.mutate(undefined, { onSuccess: () => void navigate({ to: "/runs" }) })}
      />
    </>
  );
}
