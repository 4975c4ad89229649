/** The queries that people run: which there are, and what analysing them finds. */

import { useState } from "preact/hooks";
import { part } from "../api/client";
import type { Analysis, LoggedScan, TableInfo, WorkloadQueries } from "../api/types";
import { count, counted, moment, number, seconds } from "../format";
import { Card, Input, Sentence, Sql, Tiles } from "../parts/basics";
import { DataTable } from "../parts/data_table";
import { StartButton, StartedLine, useStarted } from "../parts/start_job";
import { WorkloadChoice, firstChoice } from "../parts/workload_choice";
import { isOver } from "../state/jobs";
import { useFetched } from "../state/fetched";
import { AnalysisView } from "./analysis";
import { WorkloadFiles } from "./workload_files";

export function WorkloadPage({ table }: { table: TableInfo }) {
  const scans = table.log?.entries ?? 0;
  const [workload, setWorkload] = useState(() => firstChoice(scans, table.id));
  const [features, setFeatures] = useState("");
  const started = useStarted("analyze", table.id);
  const ended = started.job !== null && isOver(started.job) ? started.job.id : 0;
  const found = useFetched<{ ended_at: string; analysis: Analysis }>(
    part`/api/tables/${table.id}/analysis`,
    ended,
  );
  return (
    <div class="page">
      <header>
        <h1 tabIndex={-1}>Workload of {table.name}</h1>
        <p>The queries that people run, what they filter by, and which features are worth a bit.</p>
      </header>
      <WorkloadFiles table={table} onNew={setWorkload} />
      <Card title="Queries">
        <div class="row">
          <WorkloadChoice value={workload} onChange={setWorkload} scans={scans} />
          <Input
            label="Features, at most"
            value={features}
            onInput={setFeatures}
            placeholder="chosen"
            numeric
          />
          <StartButton
            started={started}
            primary
            job={() => ({
              action: "analyze",
              table: table.id,
              workload: workload || null,
              arguments: features === "" ? {} : { num_features: Number(features) },
            })}
          >
            Analyze
          </StartButton>
        </div>
        <StartedLine started={started} />
        {workload === "" ? <Log table={table} /> : <Queries workload={workload} />}
      </Card>
      {found.problem !== null && found.problem.status !== 404 ? <Sentence problem={found.problem} /> : null}
      {found.problem?.status === 404 ? (
        <p class="empty">These queries have not been analysed yet: choose a workload and press Analyze.</p>
      ) : null}
      {found.value === null ? null : <Analysed analysis={found.value.analysis} at={found.value.ended_at} />}
    </div>
  );
}

function Analysed({ analysis, at }: { analysis: Analysis; at: string }) {
  return (
    <>
      <Tiles
        tiles={[
          { name: "Queries", value: number(analysis.queries), note: `analysed ${moment(at)} UTC` },
          {
            name: "Without a usable filter",
            value: number(analysis.queries_without_filter),
            note: `${number(analysis.queries_never_true)} never true`,
          },
          { name: "Predicates", value: count(analysis.predicates.length), note: "different ones" },
          {
            name: "Features",
            value: count(analysis.features.length),
            note: `threshold ${number(analysis.threshold)}; ${analysis.chosen_by}`,
          },
        ]}
      />
      <AnalysisView analysis={analysis} />
    </>
  );
}

function Queries({ workload }: { workload: string }) {
  const found = useFetched<WorkloadQueries>(part`/api/workloads/${workload}/queries` + "?limit=1000");
  const value = found.value;
  const unusable = [...(value?.broken ?? []), ...(value?.left_out ?? [])];
  return (
    <>
      <Sentence problem={found.problem} />
      {value === null ? null : (
        <DataTable
          caption={`Queries of the workload, ${count(value.total)} in all`}
          rows={value.queries}
          keyOf={(query) => query.position}
          empty="The workload has no queries."
          most={50}
          columns={[
            { title: "Query", cell: (query) => <Sql text={query.sql} /> },
            {
              title: "Times",
              numeric: true,
              cell: (query) => count(query.count ?? 1),
              by: (query) => query.count ?? 1,
            },
            {
              title: "When (UTC)",
              tight: true,
              cell: (query) => moment(query.timestamp),
              by: (query) => query.timestamp,
            },
            { title: "User", cell: (query) => query.user ?? "", by: (query) => query.user },
          ]}
        />
      )}
      {unusable.length === 0 ? null : (
        <details>
          <summary>{counted(unusable.length, "statement")} cannot be used</summary>
          <DataTable
            caption="Statements that cannot be used, and why"
            rows={unusable}
            columns={[
              { title: "Statement", cell: (each) => <Sql text={each.sql} /> },
              { title: "Reason", cell: (each) => each.reason },
            ]}
          />
        </details>
      )}
    </>
  );
}

function Log({ table }: { table: TableInfo }) {
  const found = useFetched<{ total: number; scans: LoggedScan[] }>(
    part`/api/tables/${table.id}/log` + "?limit=200",
    table.seen_at,
  );
  return (
    <>
      <Sentence problem={found.problem} />
      {found.value === null ? null : (
        <DataTable
          caption={`The newest scans of ${table.name}`}
          rows={found.value.scans}
          empty="The query log is empty: upload a workload, import one into the log, or let sessions record their queries."
          most={50}
          columns={[
            { title: "Filter", cell: (scan) => <Sql text={scan.filter_sql} /> },
            { title: "Times", numeric: true, cell: (scan) => count(scan.count), by: (scan) => scan.count },
            {
              title: "Files",
              numeric: true,
              cell: (scan) => `${count(scan.files_read)} of ${count(scan.files_total)}`,
              by: (scan) => scan.files_read,
            },
            {
              title: "Rows read",
              numeric: true,
              cell: (scan) => count(scan.rows_read),
              by: (scan) => scan.rows_read,
            },
            { title: "Needed", numeric: true, cell: (scan) => count(scan.rows_needed) },
            {
              title: "Took",
              numeric: true,
              cell: (scan) => seconds(scan.seconds),
              by: (scan) => scan.seconds,
            },
            { title: "When (UTC)", tight: true, cell: (scan) => moment(scan.time), by: (scan) => scan.time },
          ]}
        />
      )}
    </>
  );
}
