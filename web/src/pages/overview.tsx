/** All tables: what they are, what queries scan of them lately against what they need, and what could be saved. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Problem, part, post, remove } from "../api/client";
import type { TableInfo } from "../api/types";
import { bytes, count, counted, percent, seconds } from "../format";
import { Badge, Bar, Card, Input, Sentence, type Tone } from "../parts/basics";
import { JobLine } from "../parts/job_line";
import { hashOf } from "../route";
import { jobs, refreshTables, server, tables, withTable } from "../state/store";

const TONES: Readonly<Record<string, Tone>> = {
  GOOD: "good",
  DAMAGED: "bad",
  GONE: "bad",
  WAITING: "busy",
};

export function OverviewPage() {
  const known = tables.value ?? [];
  return (
    <div class="page">
      <header>
        <h1 tabIndex={-1}>Overview</h1>
        <p>
          {counted(known.length, "table")}, {bytes(sum(known, "bytes"))},{" "}
          {counted(sum(known, "files"), "file")}.
        </p>
      </header>
      {known.map((table) => (
        <TableCard key={table.id} table={table} />
      ))}
      <Register />
    </div>
  );
}

function sum(known: readonly TableInfo[], name: "bytes" | "files"): number {
  return known.reduce((total, table) => total + (table[name] ?? 0), 0);
}

function TableCard({ table }: { table: TableInfo }) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const job = table.job === null ? undefined : jobs.value.byId.get(table.job);
  const forget = async () => {
    if (!confirm(`Remove ${table.name} from this list? The table itself is not touched.`)) return;
    try {
      await remove(part`/api/tables/${table.id}`);
      await refreshTables();
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <Card
      title={table.name}
      aside={
        <span class="row middle">
          <a href={hashOf({ page: "layout", table: table.id })}>Layout</a>
          <a href={hashOf({ page: "query", table: table.id })}>Query</a>
          <a href={hashOf({ page: "advise", table: table.id })}>Advise</a>
          <button type="button" class="quiet" onClick={() => void forget()}>
            Remove<span class="hidden-text"> {table.name}</span>
          </button>
        </span>
      }
    >
      <div class="row middle">
        {table.health ? (
          <Badge tone={TONES[table.health.code] ?? "warn"}>
            {table.health.code.toLowerCase().replaceAll("_", " ")}
          </Badge>
        ) : (
          <Badge tone="busy">waiting</Badge>
        )}
        {table.state === "gone" ? null : (
          <span>{table.health?.sentence ?? table.problem ?? "Being looked at."}</span>
        )}
      </div>
      <Sentence problem={table.state === "gone" ? table.problem : null} />
      <Sentence problem={problem} />
      <dl class="tiles">
        <Tile
          name="Size"
          value={bytes(table.bytes)}
          note={`${counted(table.files, "file")}, ${counted(table.rows, "row")}`}
        />
        <Tile name="Layout" value={table.layout?.strategy ?? "as written"} note={layoutNote(table)} />
        <Lately table={table} />
        <Tile
          name="Could be saved"
          value={saved(table)}
          note={
            table.saving?.sentence ?? (
              <>
                Not estimated yet:{" "}
                <a href={hashOf({ page: "decisions", table: table.id })}>ask what auto would do</a>.
              </>
            )
          }
        />
      </dl>
      {job === undefined ? null : <JobLine job={job} />}
      <span class="soft small">
        <code>{table.source}</code>
        {table.format ? `, ${table.format}` : ""}
        {table.version === null ? "" : `, version ${count(table.version)}`}
        {table.replicas ? `, ${counted(table.replicas, "replica")}` : ""}
      </span>
    </Card>
  );
}

function Tile({ name, value, note }: { name: string; value: string; note: ComponentChildren }) {
  return (
    <div class="tile">
      <dt>{name}</dt>
      <dd>
        {value}
        <small>{note}</small>
      </dd>
    </div>
  );
}

function layoutNote(table: TableInfo): string {
  const waiting = table.unclustered_files ?? 0;
  if (table.layout === null) return "No layout was made by skipstone.";
  const drift = table.drift === null ? "" : `drift ${percent(table.drift)}`;
  return [drift, waiting > 0 ? `${counted(waiting, "file")} outside of it` : "covers all files"]
    .filter(Boolean)
    .join(", ");
}

function saved(table: TableInfo): string {
  if (table.saving === null) return seconds(null);
  return table.saving.code === "PAYS" && !table.saving.acted ? seconds(table.saving.seconds) : "nothing now";
}

function Lately({ table }: { table: TableInfo }) {
  const lately = table.lately;
  const share = (value: number | null | undefined) =>
    value === null || value === undefined ? null : value / 100;
  const [scanned, needed] = [share(lately?.percent_scanned), share(lately?.percent_needed)];
  return (
    <div class="tile">
      <dt>Rows scanned lately</dt>
      <dd>
        {percent(scanned)}
        {scanned === null ? null : <Bar share={scanned} needed={needed} />}
        <small>
          {lately && lately.scans > 0
            ? `${percent(needed)} needed, in ${counted(lately.scans, "scan")}`
            : table.log?.entries
              ? `The ${counted(table.log.entries, "logged scan")} did not run here, so nothing is known of them.`
              : "No scans in the query log."}
        </small>
      </dd>
    </div>
  );
}

function Register() {
  const [source, setSource] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const roots = server.value?.roots ?? [];
  const register = async (event: Event) => {
    event.preventDefault();
    setProblem(null);
    try {
      const table = await post<TableInfo>("/api/tables", { source: source.trim() });
      tables.value = withTable(tables.value, table);
      setSource("");
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <Card title="Register a table">
      <form class="row" onSubmit={(event) => void register(event)}>
        <Input
          label="Path of a Delta table or of a directory of Parquet files, or name=PATH"
          value={source}
          onInput={setSource}
          placeholder={`orders=${roots[0] ?? "/data"}/orders`}
          wide
          required
        />
        <button class="primary" type="submit">
          Register
        </button>
      </form>
      <Sentence problem={problem} />
      {roots.length === 0 ? null : (
        <p class="small soft">
          Tables may lie in{" "}
          {roots.map((root, index) => [index > 0 ? ", " : "", <code key={root}>{root}</code>])}. Nothing in a
          table is changed by registering it.
        </p>
      )}
    </Card>
  );
}
