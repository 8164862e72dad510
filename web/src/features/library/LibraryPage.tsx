import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus, Search } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { useApi, useFormats } from "../../app/context";
import { Empty, ErrorNote, Skeleton } from "../../components/Feedback";
import { Page } from "../../components/Page";
import { DataTable } from "../../components/table/DataTable";
import { ChosenBar } from "./ChosenBar";
import { columnsOf } from "./columns";
import { GithubButton } from "./GithubDialog";
import { Kinds } from "./Kinds";
import { contentsQuery } from "./queries";
import { typeOf, wordsForType } from "../../lib/contentTypes";
import { UploadArea } from "../../components/uploads/UploadArea";
import { given } from "../../lib/given";
import { addressOf, viewOf } from "../../lib/tableView";
import { useNextPage } from "../../lib/useNextPage";
import { useNow } from "../../lib/useNow";

const route = getRouteApi("/library");

export function LibraryPage() {
  const api = useApi();
  const formats = useFormats();
  const now = useNow(60_000);
  const navigate = route.useNavigate();
  const search = route.useSearch();
  const type = typeOf(search.type);
  // Not in the address, because search words reveal what the library holds.
  const [words, setWords] = useState("");
  const q = useDeferredValue(words.trim());
  const list = useInfiniteQuery({
    ...contentsQuery(api, { type, tag: search.tag, q }),
    placeholderData: keepPreviousData,
  });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) =>
    setChosen(new Set(chosen.has(id) ? [...chosen].filter((other) => other !== id) : [...chosen, id]));
  const contents = list.data?.pages.flatMap((page) => page.items);
  // The page itself sorts, so all texts must be listed.
  const next = useNextPage(list, Boolean(search.sort));
  return (
    <Page
      title="Library"
      intro="Documents, data sets, prompts and criteria. Every text that you save keeps its earlier versions."
      actions={
        <>
          <GithubButton type={type ?? "input_document"} />
          <Link
            to="/library/$contentId"
            params={{ contentId: "new" }}
            search={type ? { type } : {}}
            className="btn primary"
          >
            <Plus size={16} aria-hidden /> New text
          </Link>
        </>
      }
    >
      <div className="library-grid">
        <Kinds now={type ?? "all"} />
        <div className="stack">
          <div className="row">
            <div className="search grow">
              <Search size={16} aria-hidden />
              <input
                className="input"
                type="search"
                aria-label="Search in all texts"
                placeholder="Search in names and texts"
                value={words}
                onChange={(event) => setWords(event.target.value)}
              />
            </div>
            {search.tag && (
              <Link
                to="/library"
                search={type ? { type } : {}}
                className="chip accent"
                aria-label={`No longer only ${search.tag}`}
              >
                {search.tag} ×
              </Link>
            )}
          </div>
          {contents && <ChosenBar shown={contents} chosen={chosen} onChange={setChosen} />}
          <UploadArea type={type ?? "input_document"} isSlim={Boolean(contents?.length)} />
          {list.isError && !contents && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
          {list.isPending && <Skeleton />}
          {contents?.length === 0 && (
            <NothingThere isSearch={Boolean(q || search.tag)} what={type ? wordsForType(type) : undefined} />
          )}
          {contents && contents.length > 0 && (
            <DataTable
              label="Contents"
              className="wide-name"
              unsorted="The last changed first"
              rows={contents}
              keyOf={(content) => content.id}
              columns={columnsOf({ formats, now, isMixed: !type, chosen, onToggle: toggle })}
              view={viewOf(search)}
              onView={(view) =>
                void navigate({
                  search: (before) => given({ ...before, sort: undefined, columns: undefined, ...addressOf(view) }),
                  replace: true,
                })
              }
              onEnd={next}
            />
          )}
        </div>
      </div>
    </Page>
  );
}

function NothingThere({ isSearch, what }: { isSearch: boolean; what: string | undefined }) {
  if (isSearch) return <Empty title="Nothing found">Try other words, or fewer of them.</Empty>;
  return (
    <Empty title={what ? `No ${what.toLowerCase()} yet` : "The library is empty"}>
      Drop files above, or write something new. Ten documents or more make a comparison worth something.
    </Empty>
  );
}
