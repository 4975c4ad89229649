/** A button that starts a job, and what became of it below. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Problem, startJob, type NewJob } from "../api/client";
import type { Job } from "../api/types";
import { isOver } from "../state/jobs";
import { activeJobs, follow, jobs } from "../state/store";
import { Sentence } from "./basics";
import { JobLine } from "./job_line";

export interface Started {
  readonly job: Job | null;
  readonly problem: Problem | null;
  readonly busy: boolean;
  readonly start: (job: NewJob | Promise<Job>) => Promise<Job | null>;
}

/**
 * A job that this component started, as it is now; at first one of the given action that runs on the table already,
 * for who comes back to a page finds there what goes on.
 */
export function useStarted(action?: string, table?: string): Started {
  const [id, setId] = useState<number | null>(
    () => activeJobs.value.find((each) => each.action === action && each.table === table)?.id ?? null,
  );
  const [problem, setProblem] = useState<Problem | null>(null);
  const [asking, setAsking] = useState(false);
  const job = id === null ? null : (jobs.value.byId.get(id) ?? null);
  const start = async (asked: NewJob | Promise<Job>) => {
    setProblem(null);
    setAsking(true);
    try {
      const begun = await (asked instanceof Promise ? asked : startJob(asked));
      follow({ kind: "job", job: begun });
      setId(begun.id);
      return begun;
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem(String(error), 0));
      return null;
    } finally {
      setAsking(false);
    }
  };
  return { job, problem, busy: asking || (job !== null && !isOver(job)), start };
}

interface StartButtonProps {
  readonly started: Started;
  readonly job: () => NewJob;
  readonly primary?: boolean;
  readonly disabled?: boolean;
  readonly children: ComponentChildren;
}

export function StartButton({ started, job, primary, disabled, children }: StartButtonProps) {
  return (
    <button
      type="button"
      class={primary ? "primary" : ""}
      disabled={started.busy || (disabled ?? false)}
      onClick={() => void started.start(job())}
    >
      {children}
    </button>
  );
}

export function StartedLine({ started }: { started: Started }) {
  return (
    <>
      <Sentence problem={started.problem} />
      {started.job === null ? null : <JobLine job={started.job} />}
      {started.job?.state === "failed" ? <Sentence problem={started.job.error} /> : null}
    </>
  );
}
