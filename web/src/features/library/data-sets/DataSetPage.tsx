import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useRef, useState } from "react";
import { faultsAt, isOutdated, type Tagged } from "carrel-sdk";
import type { DataSet, DataSetChange } from "../../../api/types";
import { useApi } from "../../../app/context";
import { Button } from "../../../components/Button";
import { Confirm, Dialog } from "../../../components/Dialog";
import { Behind, EditGuard } from "../../../components/EditGuard";
import { ErrorNote, Note } from "../../../components/Feedback";
import { TextArea, TextField } from "../../../components/Field";
import { Page } from "../../../components/Page";
import { QueryView } from "../../../components/QueryView";
import { changedFields, type Saved, useDraft } from "../../../lib/useDraft";
import { useGoToFault } from "../../../lib/goTo";
import { WhyNotDeleted } from "../InUse";
import { ColumnRoles } from "./ColumnRoles";
import { nameAt, partAt } from "./places";
import { dataSetQuery, useDeleteDataSet, useSaveDataSet, useUploadVersion } from "./queries";
import { RowsPart } from "./RowsPart";
import { TableDrop } from "./TableDrop";

const route = getRouteApi("/library/data-sets/$dataSetId");
const BACK = { to: "/library/data-sets", label: "Data sets" } as const;

export function DataSetPage() {
  const { dataSetId } = route.useParams();
  const query = useQuery(dataSetQuery(useApi(), dataSetId));
  if (!query.data)
    return (
      <Page title="Data set" back={BACK}>
        <QueryView query={query}>{() => null}</QueryView>
      </Page>
    );
  return <DataSetEditor key={dataSetId} stored={query.data} />;
}

function savedOf({ value: { name, description, columns }, etag }: Tagged<DataSet>): Saved<DataSetChange> {
  return { value: { name, description, columns }, etag };
}

/** A data set: its name, the roles of its columns, its rows, and the table that is to be its next version. */
export function DataSetEditor({ stored }: { stored: Tagged<DataSet> }) {
  const dataSet = stored.value;
  const saved = savedOf(stored);
  const draft = useDraft(saved);
  const { value, isDirty, isBehind } = draft;
  const query = useQuery(dataSetQuery(useApi(), dataSet.id));
  const save = useSaveDataSet(dataSet.id, draft.etag);
  const upload = useUploadVersion(dataSet.id, stored.etag);
  const change = (part: Partial<DataSetChange>) => draft.set({ ...value, ...part });
  const canSave = isDirty && !isBehind && !save.isPending && Boolean(value.name.trim());
  const submit = () =>
    save.mutate(value, {
      onSuccess: (now) => draft.settle(value, savedOf(now)),
      onError: (error) => isOutdated(error) && void query.refetch(),
    });
  const form = useRef<HTMLDivElement>(null);
  useGoToFault(form, save.error, (path) => partAt(path, value.columns));
  const asks = value.columns.some(({ role }) => role === "variable" || role === "messages");
  return (
    <Page
      title={dataSet.name}
      back={BACK}
      badge={
        isDirty ? <span className="chip warn">not saved</span> : <span className="chip">version {dataSet.version}</span>
      }
      actions={
        <>
          <Delete dataSet={dataSet} />
          <Button variant="primary" onPress={submit} isDisabled={!canSave}>
            {save.isPending ? "Saving…" : "Save"}
          </Button>
        </>
      }
    >
      <EditGuard draft={draft} onSave={canSave ? submit : undefined} />
      {isBehind && !save.isPending && (
        <Behind
          draft={draft}
          fields={changedFields(saved.value, value)}
          after="If you keep yours, the other one stays among the versions."
        />
      )}
      {save.isError && !isOutdated(save.error) && (
        <ErrorNote error={save.error} nameOf={(path) => nameAt(path, value.columns)} />
      )}
      <div className="stack wide" ref={form}>
        <section className="card stack">
          <div data-part="name">
            <TextField
              label="Name"
              value={value.name}
              maxLength={200}
              faults={faultsAt(save.error, "name")}
              onChange={(event) => change({ name: event.target.value })}
            />
          </div>
          <div data-part="description">
            <TextArea
              label="Description"
              rows={2}
              value={value.description ?? ""}
              faults={faultsAt(save.error, "description")}
              onChange={(event) => change({ description: event.target.value })}
            />
          </div>
        </section>
        <section className="stack" aria-labelledby="columns-title" data-part="columns">
          <h2 id="columns-title">Columns</h2>
          {!asks && (
            <Note tone="warn">
              <p>No column says what a row asks. Runs need one: a variable, or a conversation.</p>
            </Note>
          )}
          <ColumnRoles columns={value.columns} error={save.error} onChange={(columns) => change({ columns })} />
        </section>
      </div>
      <RowsPart dataSet={dataSet} />
      <section className="stack" aria-labelledby="next-title">
        <h2 id="next-title">Next version</h2>
        {isDirty ? (
          <p className="dim">Save or undo your changes before you bring another table.</p>
        ) : (
          <TableDrop
            words="Drop another table here. Columns of the same names keep their roles, and earlier versions stay."
            isSlim
            isPending={upload.isPending}
            error={upload.error}
            onFile={(file) => upload.mutate(file)}
          />
        )}
      </section>
    </Page>
  );
}

function Delete({ dataSet: { id, name } }: { dataSet: DataSet }) {
  const navigate = useNavigate();
  const remove = useDeleteDataSet(id);
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button onPress={() => setAsking(true)}>
        <Trash2 size={16} aria-hidden /> Delete
      </Button>
      <Confirm
        title="Delete this data set?"
        text={`“${name}” and its versions are deleted for good. Runs keep the rows that they took.`}
        action="Delete"
        isOpen={isAsking}
        isPending={remove.isPending}
        onClose={() => setAsking(false)}
        onConfirm={() =>
          remove.mutate(undefined, {
            onSettled: () => setAsking(false),
            onSuccess: () => void navigate({ to: "/library/data-sets", ignoreBlocker: true }),
          })
        }
      />
      <Dialog title="It cannot be deleted" isOpen={remove.isError} onClose={() => remove.reset()}>
        <WhyNotDeleted error={remove.error} />
        <div className="row end">
          <Button onPress={() => remove.reset()}>Close</Button>
        </div>
      </Dialog>
    </>
  );
}
