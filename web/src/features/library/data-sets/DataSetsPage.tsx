import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { dataSetsQuery } from "../../../api/queries";
import type { DataSetSummary } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Empty } from "../../../components/Feedback";
import { Page } from "../../../components/Page";
import { QueryView } from "../../../components/QueryView";
import { useNow } from "../../../lib/useNow";
import { Kinds } from "../Kinds";
import { useUploadTable } from "./queries";
import { TableDrop } from "./TableDrop";

export function DataSetsPage() {
  const navigate = useNavigate();
  const list = useQuery(dataSetsQuery(useApi()));
  const upload = useUploadTable();
  const open = (dataSetId: string) => void navigate({ to: "/library/data-sets/$dataSetId", params: { dataSetId } });
  return (
    <Page
      title="Library"
      intro="A data set is a table with a question in each row. A comparison can use its rows as documents."
    >
      <div className="library-grid">
        <Kinds now="data-sets" />
        <div className="stack">
          <TableDrop
            words="Drop a CSV, JSON or spreadsheet (XLSX, ODS) here: all of its rows come in, or none."
            isSlim={Boolean(list.data?.length)}
            isPending={upload.isPending}
            error={upload.error}
            onFile={(file) => upload.mutate(file, { onSuccess: ({ id }) => open(id) })}
          />
          <QueryView query={list}>
            {(found) =>
              found.length ? (
                <ul className="card flush" aria-label="Data sets">
                  {found.map((dataSet) => (
                    <Line key={dataSet.id} dataSet={dataSet} />
                  ))}
                </ul>
              ) : (
                <Empty title="No data sets yet">Drop a table above: a spreadsheet will do.</Empty>
              )
            }
          </QueryView>
        </div>
      </div>
    </Page>
  );
}

function Line({ dataSet }: { dataSet: DataSetSummary }) {
  const formats = useFormats();
  const now = useNow(60_000);
  const { id, name, columns, row_count, version, updated_at } = dataSet;
  return (
    <li className="list-row content-row">
      <div className="grow">
        <Link to="/library/data-sets/$dataSetId" params={{ dataSetId: id }} className="title ellipsis">
          {name}
        </Link>
        <p className="small dim ellipsis">{columns.map((column) => column.name).join(", ")}</p>
      </div>
      <span className="small dim num">
        {formats.counted(row_count, "row")} · version {version} · {formats.ago(updated_at, now)}
      </span>
    </li>
  );
}
