import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { data } from "carrel-sdk";
import { queryKeys } from "../../api/queryKeys";
import type { OpenSession } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Button } from "../../components/Button";
import { Confirm } from "../../components/Dialog";
import { Note } from "../../components/Feedback";
import { QueryView } from "../../components/QueryView";
import { toast } from "../../components/Toasts";

/** Where the user is signed in, to end one session or all of them. */
export function SessionsPanel() {
  const api = useApi();
  const [isLeaving, setLeaving] = useState(false);
  const query = useQuery({
    queryKey: queryKeys.sessions,
    queryFn: ({ signal }) => data(api.client.GET("/api/users/me/sessions", { signal })),
  });
  const signOut = useMutation({
    mutationFn: () => data(api.client.POST("/api/auth/logout")),
    onSuccess: () => {
      setLeaving(false);
      api.session.close("left");
    },
    onError: toast.failed,
  });
  return (
    <div className="stack wide">
      <QueryView query={query}>
        {({ items, complete }) => (
          <>
            <ul className="card flush" aria-label="Sessions">
              {items.map((session) => (
                <SessionRow key={session.session} session={session} />
              ))}
            </ul>
            {!complete && (
              <Note>
                The service started less than an hour ago, so there may be sessions that are not listed. Signing out
                everywhere ends those, too.
              </Note>
            )}
          </>
        )}
      </QueryView>
      <p className="small dim">
        A session lasts an hour at most, and the website that you came from begins a new one for you as long as you are
        signed in there. Sign out there as well on a machine that is not yours.
      </p>
      <div>
        <Button variant="danger" onPress={() => setLeaving(true)}>
          Sign out everywhere
        </Button>
      </div>
      <Confirm
        title="Sign out everywhere?"
        text="All sessions end, in this browser and in every other one. Your key leaves the memory of the service, or does so when your runs under way have ended. Afterwards your password is needed again; programs come back with their keys."
        action="Sign out"
        isOpen={isLeaving}
        isPending={signOut.isPending}
        onConfirm={() => signOut.mutate()}
        onClose={() => setLeaving(false)}
      />
    </div>
  );
}

function SessionRow({ session }: { session: OpenSession }) {
  const api = useApi();
  const formats = useFormats();
  const queries = useQueryClient();
  const end = useMutation({
    mutationFn: () =>
      data(api.client.DELETE("/api/users/me/sessions/{number}", { params: { path: { number: session.session } } })),
    onError: toast.failed,
    onSettled: () => queries.invalidateQueries({ queryKey: queryKeys.sessions }),
  });
  const begun = formats.dateTime(session.issued_at);
  return (
    <li className="list-row row between">
      <div>
        <strong>Begun {begun}</strong> {session.is_this_one && <span className="chip good">This one</span>}
        <span className="small dim block">
          last used {formats.dateTime(session.last_used_at)}, ends {formats.dateTime(session.expires_at)}
        </span>
      </div>
      {!session.is_this_one && (
        <Button
          small
          onPress={() => end.mutate()}
          isDisabled={end.isPending}
          aria-label={`End the session begun ${begun}`}
        >
          End it
        </Button>
      )}
    </li>
  );
}
