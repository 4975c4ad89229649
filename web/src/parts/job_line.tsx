/** One job in a few lines: what it does, how far it is, and a button that stops it. */

import { useState } from "preact/hooks";
import { part, post, Problem } from "../api/client";
import type { Job } from "../api/types";
import { seconds } from "../format";
import { hashOf } from "../route";
import { isOver, saying, shareDone } from "../state/jobs";
import { follow } from "../state/store";
import { Badge, Bar, Sentence, type Tone } from "./basics";

const TONES: Readonly<Record<Job["state"], Tone>> = {
  queued: "",
  running: "busy",
  done: "good",
  failed: "bad",
  cancelled: "warn",
  interrupted: "warn",
};

export function StateBadge({ job }: { job: Job }) {
  return <Badge tone={TONES[job.state]}>{job.cancelling && !isOver(job) ? "stopping" : job.state}</Badge>;
}

export function titleOf(job: Job): string {
  return job.table === null ? job.action : `${job.action} ${job.table}`;
}

export function took(job: Job, now = Date.now()): string {
  if (job.started_at === null) return seconds(null);
  const end = job.ended_at === null ? now : Date.parse(job.ended_at);
  return seconds(Math.max(0, (end - Date.parse(job.started_at)) / 1000));
}

export function CancelButton({ job }: { job: Job }) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const cancel = async () => {
    try {
      follow({ kind: "job", job: await post<Job>(part`/api/jobs/${job.id}/cancel`) });
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <>
      <button type="button" disabled={job.cancelling} onClick={() => void cancel()}>
        Cancel<span class="hidden-text"> job {job.id}</span>
      </button>
      <Sentence problem={problem} />
    </>
  );
}

export function JobLine({ job }: { job: Job }) {
  const over = isOver(job);
  return (
    <div class="job" data-job={job.id} data-state={job.state}>
      <StateBadge job={job} />
      <span class="what">
        <a href={hashOf({ page: "jobs", job: String(job.id) })}>{titleOf(job)}</a>{" "}
        <span class="soft">{saying(job)}</span>
      </span>
      {over ? <span class="soft small">{took(job)}</span> : <CancelButton job={job} />}
      {over ? null : (
        <Bar share={job.state === "queued" ? 0 : shareDone(job)} label={`Progress of ${titleOf(job)}`} />
      )}
    </div>
  );
}
