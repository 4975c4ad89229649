import { describe, expect, it } from "vitest";
import type { Job } from "../src/api/types";
import { MOST_JOBS, NO_JOBS, isOver, listed, reduceJobs, saying, shareDone } from "../src/state/jobs";

function job(changes: Partial<Job> = {}): Job {
  return {
    id: 17,
    action: "optimize",
    table: "orders",
    workload: null,
    arguments: {},
    state: "running",
    waits_for: null,
    created_at: "2026-11-18T13:00:00+00:00",
    started_at: null,
    ended_at: null,
    progress: { what: "rewriting", done: 12, total: 64 },
    cancelling: false,
    headline: null,
    error: null,
    has_result: false,
    ...changes,
  };
}

const progress = (done: number) => ({ what: "rewriting", done, total: 64 });

describe("reduceJobs", () => {
  it("lists the newest first", () => {
    const jobs = reduceJobs(NO_JOBS, {
      kind: "list",
      jobs: [job({ id: 3 }), job({ id: 9 }), job({ id: 5 })],
    });
    expect(listed(jobs).map((each) => each.id)).toEqual([9, 5, 3]);
  });

  it("takes progress as it comes", () => {
    let jobs = reduceJobs(NO_JOBS, { kind: "job", job: job() });
    jobs = reduceJobs(jobs, { kind: "job", job: job({ progress: progress(40) }) });
    expect(jobs.byId.get(17)?.progress?.done).toBe(40);
  });

  it("does not let a late message run a job backwards", () => {
    let jobs = reduceJobs(NO_JOBS, { kind: "job", job: job({ progress: progress(40) }) });
    jobs = reduceJobs(jobs, { kind: "job", job: job({ progress: progress(20) }) });
    expect(jobs.byId.get(17)?.progress?.done).toBe(40);
    jobs = reduceJobs(jobs, { kind: "job", job: job({ state: "done", has_result: true }) });
    jobs = reduceJobs(jobs, { kind: "job", job: job({ state: "running" }) });
    expect(jobs.byId.get(17)?.state).toBe("done");
  });

  it("shows at once that somebody asked for an end", () => {
    let jobs = reduceJobs(NO_JOBS, { kind: "job", job: job() });
    jobs = reduceJobs(jobs, { kind: "job", job: job({ cancelling: true }) });
    expect(jobs.byId.get(17)?.cancelling).toBe(true);
  });

  it("keeps each line of a log once, by time", () => {
    const lines = [1, 2, 3].map((second) => ({
      time: `2026-11-18T13:00:0${second}`,
      text: `line ${second}`,
    }));
    let jobs = reduceJobs(NO_JOBS, { kind: "log", job: 17, line: lines[2]! });
    jobs = reduceJobs(jobs, { kind: "job", job: job({ log: lines }) });
    expect(jobs.logs.get(17)).toEqual(lines);
  });

  it("forgets the first lines of an endless log", () => {
    const log = Array.from({ length: 2500 }, (_, index) => ({ time: String(10_000 + index), text: "x" }));
    const jobs = reduceJobs(NO_JOBS, { kind: "job", job: job({ log }) });
    expect(jobs.logs.get(17)).toHaveLength(2000);
    expect(jobs.logs.get(17)?.at(-1)?.time).toBe("12499");
  });
});

describe("a page that is open for days", () => {
  const past = Array.from({ length: MOST_JOBS }, (_, index) => job({ id: index + 2, state: "done" }));
  const running = job({ id: 1, log: [{ time: "1", text: "reading" }] });

  it("forgets the oldest jobs that ended, and none that runs", () => {
    const jobs = reduceJobs(NO_JOBS, { kind: "list", jobs: [running, ...past] });
    expect(jobs.byId.size).toBeLessThan(MOST_JOBS);
    expect(jobs.byId.get(1)?.state).toBe("running");
    expect(jobs.logs.get(1)).toHaveLength(1);
    expect(jobs.byId.has(MOST_JOBS + 1)).toBe(true);
    expect(jobs.byId.has(2)).toBe(false);
  });

  it("shows an old job that somebody opens", () => {
    const full = reduceJobs(NO_JOBS, { kind: "list", jobs: past });
    const old = job({ id: 1, state: "done", log: [{ time: "1", text: "reading" }] });
    const jobs = reduceJobs(full, { kind: "job", job: old });
    expect(jobs.byId.get(1)?.state).toBe("done");
    expect(jobs.logs.get(1)).toHaveLength(1);
  });
});

describe("a job", () => {
  it("says how far it is", () => {
    expect(shareDone(job())).toBe(12 / 64);
    expect(shareDone(job({ progress: null }))).toBeNull();
    expect(shareDone(job({ state: "done", progress: null }))).toBe(1);
  });

  it.each([
    [job(), "rewriting"],
    [job({ progress: null }), "Starting."],
    [job({ state: "queued" }), "Waits for its turn."],
    [
      job({ state: "queued", waits_for: "job 16 (optimize), which writes to orders" }),
      "Waits for job 16 (optimize), which writes to orders.",
    ],
    [job({ state: "done", headline: "Rewrote 5 rows." }), "Rewrote 5 rows."],
    [job({ state: "failed", error: "The disk is full." }), "The disk is full."],
    [job({ state: "interrupted" }), "The server ended while this ran."],
  ])("says what it is about (%#)", (each, sentence) => expect(saying(each)).toBe(sentence));

  it("is over, or not", () => {
    expect(isOver(job())).toBe(false);
    expect(isOver(job({ state: "queued" }))).toBe(false);
    expect(isOver(job({ state: "interrupted" }))).toBe(true);
  });
});
