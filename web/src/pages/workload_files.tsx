/** Workloads that were uploaded or generated: add one, put it into a table's log, or delete it. */

import { useState } from "preact/hooks";
import { Problem, part, remove, upload } from "../api/client";
import type { TableInfo, Workload } from "../api/types";
import { bytes, count, moment } from "../format";
import { Card, Input, Select, Sentence } from "../parts/basics";
import { DataTable } from "../parts/data_table";
import { StartButton, StartedLine, useStarted } from "../parts/start_job";
import { refreshWorkloads, server, workloads } from "../state/store";

interface WorkloadFilesProps {
  readonly table: TableInfo;
  readonly onNew: (workload: string) => void;
}

export function WorkloadFiles({ table, onNew }: WorkloadFilesProps) {
  const known = workloads.value ?? [];
  const importing = useStarted();
  const [problem, setProblem] = useState<Problem | null>(null);
  const forget = async (workload: Workload) => {
    setProblem(null);
    try {
      await remove(part`/api/workloads/${workload.id}`);
      await refreshWorkloads();
    } catch (error) {
      setProblem(error as Problem);
    }
  };
  return (
    <Card title="Workloads">
      <div class="columns">
        <Upload onNew={onNew} />
        <Generate table={table} />
      </div>
      <Sentence problem={problem} />
      <StartedLine started={importing} />
      {known.length === 0 ? null : (
        <DataTable
          caption="Workloads"
          rows={known}
          keyOf={(workload) => workload.id}
          columns={[
            { title: "Workload", cell: (workload) => workload.name, by: (workload) => workload.name },
            {
              title: "Queries",
              numeric: true,
              cell: (each) => count(each.queries),
              by: (each) => each.queries,
            },
            {
              title: "Not usable",
              numeric: true,
              cell: (each) => count(each.broken + each.left_out),
              by: (each) => each.broken + each.left_out,
            },
            { title: "Size", numeric: true, cell: (each) => bytes(each.bytes) },
            {
              title: "Added (UTC)",
              tight: true,
              cell: (each) => moment(each.created_at),
              by: (each) => each.created_at,
            },
            {
              title: "Actions",
              cell: (each) => (
                <span class="row middle">
                  <StartButton
                    started={importing}
                    job={() => ({ action: "import_log", table: table.id, workload: each.id })}
                  >
                    Add to the log
                    <span class="hidden-text">
                      {" "}
                      of {table.name}: {each.name}
                    </span>
                  </StartButton>
                  <button type="button" class="quiet" onClick={() => void forget(each)}>
                    Delete<span class="hidden-text"> {each.name}</span>
                  </button>
                </span>
              ),
            },
          ]}
        />
      )}
    </Card>
  );
}

function Upload({ onNew }: { onNew: (workload: string) => void }) {
  const [dialect, setDialect] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [over, setOver] = useState(false);
  const [busy, setBusy] = useState("");
  const send = async (file: File) => {
    setProblem(null);
    setBusy(file.name);
    const query = new URLSearchParams({ name: file.name, ...(dialect ? { dialect } : {}) });
    try {
      const workload = await upload<Workload>(`/api/workloads?${query}`, file);
      await refreshWorkloads();
      onNew(workload.id);
    } catch (error) {
      setProblem(error as Problem);
    } finally {
      setBusy("");
    }
  };
  return (
    <div
      class={over ? "drop over stack" : "drop stack"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const file = event.dataTransfer?.files[0];
        if (file) void send(file);
      }}
    >
      <h3>Upload a query log</h3>
      <div class="row">
        <label class="field">
          <span>.sql, .jsonl, .json, .csv or .parquet</span>
          <input
            type="file"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              if (file) void send(file);
              event.currentTarget.value = "";
            }}
          />
        </label>
        <Select
          label="SQL dialect"
          value={dialect}
          options={[["", "Spark"], ...(server.value?.dialects ?? []).map((name) => [name, name] as const)]}
          onChange={setDialect}
        />
      </div>
      <p class="small soft" role="status">
        {busy === "" ? "Or drop it here. Nothing in it is run." : `Reading ${busy}.`}
      </p>
      <Sentence problem={problem} />
    </div>
  );
}

function Generate({ table }: { table: TableInfo }) {
  const [queries, setQueries] = useState("100");
  const [seed, setSeed] = useState("");
  const started = useStarted();
  return (
    <div class="drop stack">
      <h3>Generate queries from the columns of {table.name}</h3>
      <div class="row">
        <Input label="Queries" value={queries} onInput={setQueries} numeric />
        <Input label="Seed" value={seed} onInput={setSeed} placeholder="0" numeric />
        <StartButton
          started={started}
          job={() => ({
            action: "generate",
            table: table.id,
            arguments: { queries: Number(queries), ...(seed === "" ? {} : { seed: Number(seed) }) },
          })}
        >
          Generate
        </StartButton>
      </div>
      <StartedLine started={started} />
    </div>
  );
}
