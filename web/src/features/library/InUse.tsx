import { useQueries } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ApiError, data } from "carrel-sdk";
import { queryKeys } from "../../api/queryKeys";
import { useApi } from "../../app/context";
import { ErrorNote } from "../../components/Feedback";

const SHOWN = 10;
const CODES: readonly string[] = ["content-in-use", "data-set-in-use"];

/** Why a text or a data set cannot be deleted: by name, what uses it, each with a way to it. */
export function WhyNotDeleted({ error }: { error: unknown }) {
  if (!(error instanceof ApiError) || !CODES.includes(error.code)) return <ErrorNote error={error} />;
  const users = error.faults.filter(({ path }) => path === "presets" || path === "contents");
  return (
    <>
      <p>It is used here; take it out there first:</p>
      <Users users={users.slice(0, SHOWN).map(({ path, message }) => ({ kind: path, id: message }))} />
      {users.length > SHOWN && <p className="small dim">and {users.length - SHOWN} more.</p>}
    </>
  );
}

interface User {
  kind: string;
  id: string;
}

function Users({ users }: { users: readonly User[] }) {
  const api = useApi();
  const names = useQueries({
    queries: users.map(({ kind, id }) => ({
      queryKey: queryKeys.name(kind, id),
      queryFn: async () =>
        kind === "presets"
          ? (await data(api.client.GET("/api/presets/{preset_id}", { params: { path: { preset_id: id } } }))).name
          : (await data(api.client.GET("/api/contents/{content_id}", { params: { path: { content_id: id } } }))).name,
    })),
  });
  return (
    <ul className="stack tight">
      {users.map(({ kind, id }, index) => {
        const name = names[index]?.data ?? "…";
        return (
          <li key={id}>
            {kind === "presets" ? (
              <Link to="/presets/$presetId" params={{ presetId: id }}>
                {name}
              </Link>
            ) : (
              <Link to="/library/$contentId" params={{ contentId: id }}>
                {name}
              </Link>
            )}{" "}
            <span className="small dim">{kind === "presets" ? "preset" : "text"}</span>
          </li>
        );
      })}
    </ul>
  );
}
