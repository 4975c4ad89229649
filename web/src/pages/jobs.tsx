/** Running, queued and past jobs, and one of them with its log. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Problem, get, part } from "../api/client";
import type { Job } from "../api/types";
import { moment } from "../format";
import { Card, Facts, Sentence } from "../parts/basics";
import { DataTable } from "../parts/data_table";
import { JobLine, StateBadge, titleOf, took } from "../parts/job_line";
import { hashOf } from "../route";
import { isOver, saying } from "../state/jobs";
import { follow, jobList, jobs } from "../state/store";
import { StartAny } from "./start_any";

export function JobsPage({ id }: { id: string | null }) {
  const active = jobList.value.filter((job) => !isOver(job));
  const past = jobList.value.filter(isOver);
  if (id !== null) return <JobPage id={id} />;
  return (
    <div class="page">
      <header>
        <h1 tabIndex={-1}>Jobs</h1>
        <p>Jobs on one table never run over each other; the history survives a restart of the server.</p>
      </header>
      <Card title="Running and queued">
        {active.length === 0 ? <p class="empty">Nothing runs now.</p> : null}
        {active.map((job) => (
          <JobLine key={job.id} job={job} />
        ))}
      </Card>
      <StartAny />
      <Card title="Past">
        <DataTable
          caption="Past jobs, newest first"
          rows={past}
          keyOf={(job) => job.id}
          empty="No job has ended yet."
          columns={[
            {
              title: "Job",
              tight: true,
              cell: (job) => <a href={hashOf({ page: "jobs", job: String(job.id) })}>{titleOf(job)}</a>,
              by: (job) => job.id,
            },
            { title: "State", cell: (job) => <StateBadge job={job} />, by: (job) => job.state },
            {
              title: "Started (UTC)",
              tight: true,
              cell: (job) => moment(job.started_at),
              by: (job) => job.started_at,
            },
            { title: "Took", numeric: true, cell: (job) => took(job) },
            { title: "Outcome", cell: (job) => saying(job) },
          ]}
        />
      </Card>
    </div>
  );
}

function JobPage({ id }: { id: string }) {
  const number = Number(id);
  const [problem, setProblem] = useState<Problem | null>(null);
  const job = jobs.value.byId.get(number);
  useEffect(() => {
    get<Job>(part`/api/jobs/${id}`).then(
      (found) => follow({ kind: "job", job: found }),
      (error: unknown) => setProblem(error as Problem),
    );
  }, [id, job?.state]);
  return (
    <div class="page">
      <header>
        <h1 tabIndex={-1}>{job === undefined ? `Job ${id}` : titleOf(job)}</h1>
        <p>
          Job {id}. <a href={hashOf({ page: "jobs", job: null })}>All jobs</a>
        </p>
      </header>
      <Sentence problem={problem} />
      {job === undefined ? null : <JobDetails job={job} />}
    </div>
  );
}

function JobDetails({ job }: { job: Job }) {
  const lines = jobs.value.logs.get(job.id) ?? [];
  const log = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (log.current) log.current.scrollTop = log.current.scrollHeight;
  }, [lines.length]);
  const given = Object.entries(job.arguments).filter(([, value]) => value !== null);
  return (
    <>
      <Card title="State">
        <JobLine job={job} />
        {job.state === "failed" ? <Sentence problem={job.error} /> : null}
        <Facts
          facts={[
            ["created", `${moment(job.created_at)} UTC`],
            ["started", job.started_at === null ? "not yet" : `${moment(job.started_at)} UTC`],
            ["took", took(job)],
            ["workload", job.workload ?? "the table's own query log, where it needs one"],
            ...given.map(([name, value]): [string, string] => [
              name.replaceAll("_", " "),
              typeof value === "string" ? value : JSON.stringify(value),
            ]),
          ]}
        />
      </Card>
      <Card title="Log">
        {lines.length === 0 ? (
          <p class="empty">No lines yet.</p>
        ) : (
          <pre class="log" ref={log} tabIndex={0} role="log" aria-label={`Log of job ${job.id}`}>
            {lines.map((line) => `${moment(line.time).slice(11)}  ${line.text}`).join("\n")}
          </pre>
        )}
      </Card>
      {job.has_result ? <Result job={job} /> : null}
    </>
  );
}

function Result({ job }: { job: Job }) {
  const [text, setText] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const open = (event: Event) => {
    if (!(event.currentTarget as HTMLDetailsElement).open || text !== null) return;
    get<unknown>(part`/api/jobs/${job.id}/result`).then(
      (result) => setText(JSON.stringify(result, null, 2)),
      (error: unknown) => setProblem(error as Problem),
    );
  };
  return (
    <Card title="Result">
      <details onToggle={open}>
        <summary>As the command prints it with --json</summary>
        <Sentence problem={problem} />
        {text === null ? null : (
          <pre class="log" tabIndex={0} role="region" aria-label="Result as JSON">
            {text}
          </pre>
        )}
      </details>
    </Card>
  );
}
