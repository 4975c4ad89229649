/** The frame around every page: navigation, what runs now, and what is wrong with the connection. */

import { useEffect, useRef } from "preact/hooks";
import { Bar } from "./parts/basics";
import { titleOf } from "./parts/job_line";
import { AdvisePage } from "./pages/advise";
import { DecisionsPage } from "./pages/decisions";
import { JobsPage } from "./pages/jobs";
import { LayoutPage } from "./pages/layout";
import { OverviewPage } from "./pages/overview";
import { QueryPage } from "./pages/query";
import { WorkloadPage } from "./pages/workload";
import { TABLE_PAGES, hashOf, type Route, type TablePage } from "./route";
import { shareDone } from "./state/jobs";
import { activeJobs, disconnected, route, server, tables } from "./state/store";
import { choose, theme, type Theme } from "./state/theme";

const TITLES: Readonly<Record<Route["page"], string>> = {
  overview: "Overview",
  workload: "Workload",
  layout: "Layout",
  advise: "Advise",
  query: "Query",
  decisions: "Decisions",
  jobs: "Jobs",
  unknown: "Not found",
};

export function App() {
  const here = route.value;
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  const address = hashOf(here);
  useEffect(() => {
    const table = "table" in here ? `${here.table} – ` : "";
    document.title = `${TITLES[here.page]} – ${table}skipstone`;
    if (first.current) first.current = false;
    else main.current?.querySelector<HTMLElement>("h1")?.focus();
    scrollTo(0, 0);
  }, [address]);
  return (
    <div class="shell">
      <a
        class="skip-link"
        href={address}
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <Side here={here} />
      <main ref={main} tabIndex={-1} id="content">
        <Connection />
        {tables.value === null ? <p class="empty">Asking the server.</p> : <Page here={here} />}
      </main>
    </div>
  );
}

function Connection() {
  const problem = disconnected.value;
  const spark = server.value?.spark_problem;
  if (problem?.status === 401)
    return (
      <p class="problem" role="alert">
        This page is not signed in: open the link that skipstone serve printed when it started.
      </p>
    );
  if (problem)
    return (
      <p class="problem" role="alert">
        {problem.message}
      </p>
    );
  return spark ? (
    <p class="problem" role="alert">
      {spark}
    </p>
  ) : null;
}

function Page({ here }: { here: Route }) {
  if (here.page === "overview") return <OverviewPage />;
  if (here.page === "jobs") return <JobsPage id={here.job} />;
  if (here.page === "unknown") return <Nowhere sentence="There is no such page." />;
  const table = tables.value?.find((each) => each.id === here.table);
  if (table === undefined) return <Nowhere sentence={`There is no table ${here.table} here.`} />;
  switch (here.page) {
    case "workload":
      return <WorkloadPage key={table.id} table={table} />;
    case "layout":
      return <LayoutPage key={table.id} table={table} />;
    case "advise":
      return <AdvisePage key={table.id} table={table} />;
    case "query":
      return <QueryPage key={table.id} table={table} />;
    case "decisions":
      return <DecisionsPage key={table.id} table={table} />;
  }
}

function Nowhere({ sentence }: { sentence: string }) {
  return (
    <div class="page">
      <h1 tabIndex={-1}>Not found</h1>
      <p>
        {sentence} <a href="#/">Show the tables</a>
      </p>
    </div>
  );
}

function Side({ here }: { here: Route }) {
  const known = tables.value ?? [];
  const current = "table" in here ? here.table : (known[0]?.id ?? null);
  const active = activeJobs.value;
  const link = (to: Route) => ({
    href: hashOf(to),
    ...(to.page === here.page ? { "aria-current": "page" as const } : {}),
  });
  return (
    <header class="side">
      <a class="brand" href="#/">
        <img src="./stone.svg" alt="" />
        skipstone
      </a>
      <nav aria-label="Pages">
        <ul>
          <li>
            <a {...link({ page: "overview" })}>Overview</a>
          </li>
          <li>
            <a {...link({ page: "jobs", job: null })}>
              Jobs {active.length > 0 ? <span class="badge busy">{active.length}</span> : null}
            </a>
          </li>
        </ul>
      </nav>
      {current === null ? null : (
        <div class="group">
          <label for="table-choice">Table</label>
          <select
            id="table-choice"
            value={current}
            onChange={(event) => {
              const page: TablePage = "table" in here ? here.page : "layout";
              location.hash = hashOf({ page, table: event.currentTarget.value });
            }}
          >
            {known.map((table) => (
              <option key={table.id} value={table.id}>
                {table.name}
              </option>
            ))}
          </select>
          <nav aria-label="Pages of the table">
            <ul>
              {TABLE_PAGES.map((page) => (
                <li key={page}>
                  <a {...link({ page, table: current })}>{TITLES[page]}</a>
                </li>
              ))}
            </ul>
          </nav>
        </div>
      )}
      <div class="foot">
        {active.slice(0, 3).map((job) => (
          <div class="running" key={job.id}>
            <a href={hashOf({ page: "jobs", job: String(job.id) })}>{titleOf(job)}</a>
            <Bar share={job.state === "queued" ? 0 : shareDone(job)} />
          </div>
        ))}
        <label>
          Colours
          <select value={theme.value} onChange={(event) => choose(event.currentTarget.value as Theme)}>
            <option value="system">as the system</option>
            <option value="light">light</option>
            <option value="dark">dark</option>
          </select>
        </label>
        <span>
          {server.value ? `skipstone ${server.value.version}, Spark ${server.value.spark}` : "not connected"}{" "}
          <a href="/api/docs">API</a>
        </span>
      </div>
    </header>
  );
}
