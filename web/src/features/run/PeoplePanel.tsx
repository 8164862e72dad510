import type { Report, Run } from "../../api/types";
import { Empty } from "../../components/Feedback";
import { isJudged } from "../../lib/interval";
import { hasEnded } from "../../lib/states";
import { AgainstJudges } from "./judges/AgainstJudges";
import { BlindVotes } from "./judges/BlindVotes";
import { ProposedCriteria } from "./judges/ProposedCriteria";
import { NotJudgedYet } from "./NotJudgedYet";
import { earlierRound } from "./queries";
import { PeopleVerdict } from "./verdict/PeopleVerdict";

interface Props {
  run: Run;
  report: Report;
  /** Open a ballot at once, because a link elsewhere asked for it. */
  votes: boolean;
  onVoted: () => void;
}

/** What people say: blind votes, how far the judges agree with them, and what they would say of all documents. */
export function PeoplePanel({ run, report, votes, onVoted }: Props) {
  if (!report.judges.length) return <Empty title="No judges yet" />;
  if (!hasEnded(run.state) && !isJudged(report.ranking)) return <NotJudgedYet run={run} />;
  const isPresent = earlierRound(report) === undefined;
  return (
    <div className="stack wide">
      {isPresent && <BlindVotes run={run} isAsked={votes} onClose={onVoted} />}
      {report.people && <PeopleVerdict people={report.people} candidates={report.candidates} />}
      {report.human && <AgainstJudges run={run} report={report} human={report.human} />}
      {isPresent ? (
        <ProposedCriteria run={run} hasVotes={report.human !== null} />
      ) : (
        <p className="small dim">
          Votes are on answers, which are the same in all rounds: give them, and see which criteria they ask for, with
          the present one.
        </p>
      )}
    </div>
  );
}
