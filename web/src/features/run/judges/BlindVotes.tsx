import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { data } from "carrel-sdk";
import { queryKeys } from "../../../api/queryKeys";
import type { Run } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { Dialog } from "../../../components/Dialog";
import { TextField } from "../../../components/Field";
import { Booth, PROPOSED } from "./Booth";

const MAX_NAME = 60;

/** The user judges pairs of answers without knowing whose they are. It is the best check of the judges. */
export function BlindVotes({ run, isAsked, onClose }: { run: Run; isAsked: boolean; onClose: () => void }) {
  const api = useApi();
  const formats = useFormats();
  const [isOpened, setOpened] = useState(false);
  const isOpen = isOpened || isAsked;
  const close = () => {
    setOpened(false);
    if (isAsked) onClose();
  };
  const [voter, setVoter] = useState("");
  const params = { path: { run_id: run.id }, query: { voter: voter.trim() } };
  const count = useQuery({
    queryKey: queryKeys.run.voteCount(run.id, voter.trim()),
    queryFn: ({ signal }) => data(api.client.GET("/api/runs/{run_id}/votes/count", { params, signal })),
    // Keep the number while a name is typed.
    placeholderData: keepPreviousData,
  });
  const votes = count.data?.votes ?? 0;
  const bothBad = count.data?.both_bad ?? 0;
  const left = count.data?.left ?? PROPOSED;
  const more = Math.min(PROPOSED - votes, left);
  return (
    <section className="card stack" aria-labelledby="votes-title">
      <div className="row between two-ways">
        <div className="stack tight">
          <h2 id="votes-title">Check the judges yourself</h2>
          <p className="dim">
            Look at {formats.counted(Math.min(PROPOSED, votes + left), "pair")} of answers, without their names, and say
            which is better. Then you know how far to believe the judges.
          </p>
        </div>
        <Button onPress={() => setOpened(true)} isDisabled={left === 0}>
          {votes ? "Vote on" : "Begin to vote"}
        </Button>
      </div>
      {votes > 0 && (
        <p role="status">
          <strong className="num">{formats.integer(votes)}</strong> {votes === 1 ? "vote" : "votes"} so far
          {bothBad > 0 && `, ${formats.integer(bothBad)} of them on two bad answers`}
          {left === 0
            ? "; no pair is left"
            : more > 0
              ? `; ${formats.integer(more)} more ${more === 1 ? "makes" : "make"} a fair check`
              : ""}
          .
        </p>
      )}
      <TextField
        label="Your name, if several people vote"
        hint="Each of them sees every pair, and sees it blind."
        value={voter}
        onChange={(event) => setVoter(event.target.value)}
        maxLength={MAX_NAME}
      />
      <Dialog title="Which answer is better?" isOpen={isOpen} onClose={close} wide>
        <Booth run={run} voter={voter.trim()} onDone={close} />
      </Dialog>
    </section>
  );
}
