/** Type SQL and see which blocks it reads and skips, and why. */

import { useState } from "preact/hooks";
import { part, post } from "../api/client";
import type { Job, QueryResult, TableInfo, Value } from "../api/types";
import { bytes, count, counted, percent, seconds } from "../format";
import { Card, Sentence, Tiles } from "../parts/basics";
import { DataTable } from "../parts/data_table";
import { StartedLine, useStarted } from "../parts/start_job";
import { useFetched } from "../state/fetched";
import { ScanView } from "./scan";

export function QueryPage({ table }: { table: TableInfo }) {
  const [sql, setSql] = useState(`SELECT count(*) FROM ${nameInSql(table.name)}`);
  const [compare, setCompare] = useState(true);
  const started = useStarted();
  const job = started.job;
  const found = useFetched<QueryResult>(
    job?.state === "done" && job.has_result ? part`/api/jobs/${job.id}/result` : null,
  );
  const ask = (run: boolean) => void started.start(post<Job>("/api/queries", { sql, run, compare }));
  return (
    <div class="page">
      <header>
        <h1 tabIndex={-1}>Query {table.name}</h1>
        <p>One SELECT over registered tables. See which blocks it reads, which it skips, and why.</p>
      </header>
      <Card title="SQL">
        <label class="field">
          <span class="hidden-text">SQL</span>
          <textarea
            class="sql"
            rows={4}
            spellcheck={false}
            value={sql}
            onInput={(event) => setSql(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !started.busy) ask(true);
            }}
          />
        </label>
        <div class="row middle">
          <button type="button" class="primary" disabled={started.busy} onClick={() => ask(true)}>
            Run
          </button>
          <button type="button" disabled={started.busy} onClick={() => ask(false)}>
            Explain only
          </button>
          <label class="check">
            <input
              type="checkbox"
              checked={compare}
              onChange={(event) => setCompare(event.currentTarget.checked)}
            />
            also without skipping, to compare
          </label>
          <span class="soft small">Ctrl + Enter runs it.</span>
        </div>
        <StartedLine started={started} />
      </Card>
      <Sentence problem={found.problem} />
      {found.value === null ? null : <Answer result={found.value} />}
    </div>
  );
}

function nameInSql(name: string): string {
  return name
    .split(".")
    .map((each) => (/^[A-Za-z_]\w*$/.test(each) ? each : `\`${each.replaceAll("`", "``")}\``))
    .join(".");
}

function Answer({ result }: { result: QueryResult }) {
  return (
    <>
      <Measures result={result} />
      {result.scans.length === 0 ? (
        <p class="note">No filter of this query reaches a table that skipstone knows.</p>
      ) : null}
      {result.scans.map((scan, index) => (
        <ScanView key={index} scan={scan} number={result.scans.length > 1 ? index + 1 : null} />
      ))}
      {result.rows === null || result.columns === null ? null : (
        <Card
          title="First rows"
          aside={
            <span class="soft small">
              {counted(result.rows.length, "row")}
              {result.truncated ? ", and there are more" : ""}
            </span>
          }
        >
          <DataTable
            caption="First rows of the result"
            rows={result.rows}
            empty="The result has no rows."
            columns={result.columns.map((column, place) => ({
              title: column.name || `column ${place + 1}`,
              numeric: typeof result.rows?.[0]?.[place] === "number",
              cell: (row: readonly Value[]) => shown(row[place]),
            }))}
          />
        </Card>
      )}
    </>
  );
}

function shown(value: unknown): string {
  return value === null || value === undefined ? "NULL" : String(value);
}

function Measures({ result }: { result: QueryResult }) {
  const { on, off } = result;
  const against = (text: string) => `without skipping ${text}`;
  const less = (some: number | null, all: number | null) =>
    some !== null && all ? `, ${percent(some / all)} of it` : "";
  return (
    <Card title="With skipping, and without">
      <Tiles
        tiles={[
          { name: "Time", value: seconds(on.seconds), note: against(seconds(off.seconds)) },
          {
            name: "Files read",
            value: count(on.files_read),
            note: against(count(off.files_read)) + less(on.files_read, off.files_read),
          },
          {
            name: "Bytes in files read",
            value: bytes(on.bytes_read),
            note: against(bytes(off.bytes_read)) + less(on.bytes_read, off.bytes_read),
          },
          {
            name: "Same result",
            value: result.same_result === null ? "not compared" : result.same_result ? "yes" : "NO",
            note:
              result.same_result === null
                ? "It was not run both ways, or may differ from run to run."
                : "with skipping as without",
          },
        ]}
      />
    </Card>
  );
}
