/** What all pages share, kept up to date by the server's events. */

import { computed, signal } from "@preact/signals";
import { Problem, get } from "../api/client";
import type { Job, LogLine, Server, TableInfo, Workload } from "../api/types";
import { parseRoute } from "../route";
import { NO_JOBS, isOver, listed, reduceJobs, type JobEvent, type Jobs } from "./jobs";

export const route = signal(parseRoute(location.hash));
export const server = signal<Server | null>(null);
export const tables = signal<readonly TableInfo[] | null>(null);
export const workloads = signal<readonly Workload[] | null>(null);
export const jobs = signal<Jobs>(NO_JOBS);
/** Why the page is not up to date: the server does not answer, or does not know us any more. */
export const disconnected = signal<Problem | null>(null);

export const jobList = computed(() => listed(jobs.value));
export const activeJobs = computed(() => jobList.value.filter((job) => !isOver(job)));

const RETRY_MILLISECONDS = 2000;

export function follow(event: JobEvent): void {
  jobs.value = reduceJobs(jobs.value, event);
}

export function withTable(known: readonly TableInfo[] | null, table: TableInfo): readonly TableInfo[] {
  const others = (known ?? []).filter((each) => each.id !== table.id);
  return [...others, table].sort((a, b) => a.name.localeCompare(b.name));
}

/** Ask for everything once, then follow the events; start again whenever the connection is lost. */
export async function connect(): Promise<void> {
  try {
    await refresh();
    disconnected.value = null;
    listen();
  } catch (error) {
    disconnected.value = error instanceof Problem ? error : new Problem(String(error), 0);
    setTimeout(() => void connect(), RETRY_MILLISECONDS);
  }
}

async function refresh(): Promise<void> {
  const [about, known, past, logs] = await Promise.all([
    get<Server>("/api/server"),
    get<{ tables: TableInfo[] }>("/api/tables"),
    get<{ jobs: Job[] }>("/api/jobs?limit=200"),
    get<{ workloads: Workload[] }>("/api/workloads"),
  ]);
  heard(about);
  tables.value = known.tables;
  workloads.value = logs.workloads;
  jobs.value = reduceJobs({ ...NO_JOBS, logs: jobs.value.logs }, { kind: "list", jobs: past.jobs });
}

/** Ask again as long as Spark starts: it tells nobody that it is ready. */
function heard(about: Server): void {
  server.value = about;
  if (about.spark !== "starting") return;
  setTimeout(() => void get<Server>("/api/server").then(heard, () => undefined), RETRY_MILLISECONDS);
}

export async function refreshTables(): Promise<void> {
  tables.value = (await get<{ tables: TableInfo[] }>("/api/tables")).tables;
}

export async function refreshWorkloads(): Promise<void> {
  workloads.value = (await get<{ workloads: Workload[] }>("/api/workloads")).workloads;
}

function listen(): void {
  const source = new EventSource("/api/events");
  const on = <T>(name: string, act: (data: T) => void) =>
    source.addEventListener(name, (event) => act(JSON.parse((event as MessageEvent<string>).data) as T));
  on<Job>("job", (job) => {
    follow({ kind: "job", job });
    if (job.action === "generate" && isOver(job)) void refreshWorkloads();
  });
  on<LogLine & { job: number }>("log", ({ job, ...line }) => follow({ kind: "log", job, line }));
  on<TableInfo>("table", (table) => {
    tables.value = withTable(tables.value, table);
  });
  let lost = false;
  source.addEventListener("error", () => {
    if (lost) return;
    lost = true;
    source.close();
    setTimeout(() => void connect(), 300);
  });
}
