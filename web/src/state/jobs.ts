/** What is known of all jobs, and how events change it: pure, for events may come twice or late. */

import type { Job, JobState, LogLine } from "../api/types";

export interface Jobs {
  readonly byId: ReadonlyMap<number, Job>;
  readonly logs: ReadonlyMap<number, readonly LogLine[]>;
}

export type JobEvent =
  | { readonly kind: "list"; readonly jobs: readonly Job[] }
  | { readonly kind: "job"; readonly job: Job }
  | { readonly kind: "log"; readonly job: number; readonly line: LogLine };

export const NO_JOBS: Jobs = { byId: new Map(), logs: new Map() };
const MOST_LINES = 2000;
/** A page that is open for days forgets the oldest ended jobs, a part of them at a time. */
export const MOST_JOBS = 600;
const FEWEST_JOBS = 400;

const RANK: Readonly<Record<JobState, number>> = {
  queued: 0,
  running: 1,
  done: 2,
  failed: 2,
  cancelled: 2,
  interrupted: 2,
};

export function isOver(job: Job): boolean {
  return RANK[job.state] === 2;
}

export function reduceJobs(jobs: Jobs, event: JobEvent): Jobs {
  switch (event.kind) {
    case "list":
      return event.jobs.reduce((all, job) => withJob(all, job), jobs);
    case "job":
      return withJob(jobs, event.job);
    case "log":
      return withLines(jobs, event.job, [event.line]);
  }
}

function withJob(jobs: Jobs, job: Job): Jobs {
  const before = jobs.byId.get(job.id);
  const { log, ...bare } = job;
  const merged = before === undefined || !isOlder(bare, before) ? bare : before;
  const byId = new Map(jobs.byId).set(job.id, merged);
  const all = byId.size > MOST_JOBS ? withoutOldest({ ...jobs, byId }, job.id) : { ...jobs, byId };
  return log === undefined ? all : withLines(all, job.id, log);
}

function withoutOldest(jobs: Jobs, kept: number): Jobs {
  const over = [...jobs.byId.values()].filter((job) => isOver(job) && job.id !== kept).map((job) => job.id);
  const forgotten = new Set(over.sort((a, b) => a - b).slice(0, jobs.byId.size - FEWEST_JOBS));
  const left = <T>(all: ReadonlyMap<number, T>) => new Map([...all].filter(([id]) => !forgotten.has(id)));
  return { byId: left(jobs.byId), logs: left(jobs.logs) };
}

/** Whether a message about a job was overtaken by what is known already. */
function isOlder(job: Job, known: Job): boolean {
  if (RANK[job.state] !== RANK[known.state]) return RANK[job.state] < RANK[known.state];
  return (
    job.state === "running" &&
    job.progress?.total === known.progress?.total &&
    (job.progress?.done ?? 0) < (known.progress?.done ?? 0)
  );
}

function withLines(jobs: Jobs, job: number, lines: readonly LogLine[]): Jobs {
  const known = jobs.logs.get(job) ?? [];
  const seen = new Set(known.map((line) => `${line.time}\n${line.text}`));
  const fresh = lines.filter((line) => !seen.has(`${line.time}\n${line.text}`));
  if (fresh.length === 0) return jobs;
  const all = [...known, ...fresh].sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  return { ...jobs, logs: new Map(jobs.logs).set(job, all.slice(-MOST_LINES)) };
}

/** Newest first. */
export function listed(jobs: Jobs): readonly Job[] {
  return [...jobs.byId.values()].sort((a, b) => b.id - a.id);
}

/** The share that is done, 0 to 1; null where it is not known. */
export function shareDone(job: Job): number | null {
  if (job.state === "done") return 1;
  if (job.progress === null || job.progress.total <= 0) return null;
  return Math.min(1, Math.max(0, job.progress.done / job.progress.total));
}

/** What there is to say of a job now, in one sentence or less. */
export function saying(job: Job): string {
  switch (job.state) {
    case "queued":
      return job.waits_for === null ? "Waits for its turn." : `Waits for ${job.waits_for}.`;
    case "running":
      if (job.cancelling) return "Stopping; the table stays as it is.";
      return job.progress === null ? "Starting." : job.progress.what;
    case "done":
      return job.headline ?? "Done.";
    case "failed":
      return job.error ?? "Failed.";
    case "cancelled":
      return job.error ?? "Cancelled; the table stays as it was.";
    case "interrupted":
      return job.error ?? "The server ended while this ran.";
  }
}
