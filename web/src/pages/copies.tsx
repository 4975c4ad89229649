/** Copies of a table's rows in other layouts: make, bring up to date, verify, delete. */

import { useState } from "preact/hooks";
import { part } from "../api/client";
import type { Replica, Replicas, TableInfo } from "../api/types";
import { bytes, count, counted, moment, percent } from "../format";
import { Card, Input, Select, Sentence } from "../parts/basics";
import { DataTable } from "../parts/data_table";
import { StartButton, StartedLine, useStarted } from "../parts/start_job";
import { useFetched } from "../state/fetched";
import { server } from "../state/store";

export function CopiesCard({ table }: { table: TableInfo }) {
  const making = useStarted("replicate", table.id);
  const keeping = useStarted();
  const [layout, setLayout] = useState("hyper");
  const [blockRows, setBlockRows] = useState("");
  const found = useFetched<Replicas>(
    table.replicas ? part`/api/tables/${table.id}/replicas` : null,
    `${table.seen_at} ${table.replicas}`,
  );
  const replicas = table.replicas ? (found.value?.replicas ?? []) : [];
  const layouts = ["auto", ...(server.value?.layouts ?? [])];
  return (
    <Card title="Replicas" aside={<span class="soft small">copies of the rows in another layout</span>}>
      <div class="row">
        <Select
          label="Layout"
          value={layout}
          options={layouts.map((name) => [name, name])}
          onChange={setLayout}
        />
        <Input
          label="Rows in a block"
          value={blockRows}
          onInput={setBlockRows}
          placeholder="chosen"
          numeric
        />
        <StartButton
          started={making}
          job={() => ({
            action: "replicate",
            table: table.id,
            arguments: { layout, ...(blockRows === "" ? {} : { block_rows: Number(blockRows) }) },
          })}
        >
          Make a replica
        </StartButton>
        {table.replicas ? (
          <>
            <StartButton started={keeping} job={() => ({ action: "refresh", table: table.id })}>
              Bring all up to date
            </StartButton>
            <StartButton
              started={keeping}
              job={() => ({ action: "repair", table: table.id, arguments: { check: true } })}
            >
              Verify
            </StartButton>
            <StartButton started={keeping} job={() => ({ action: "repair", table: table.id })}>
              Verify and repair
            </StartButton>
          </>
        ) : null}
      </div>
      <StartedLine started={making} />
      <StartedLine started={keeping} />
      <Sentence problem={found.problem} />
      {found.value?.problems.map((problem) => (
        <Sentence key={problem} problem={problem} />
      ))}
      <ReplicaTable
        table={table}
        replicas={replicas}
        keeping={keeping}
        empty={table.replicas && found.value === null ? "Asking for the replicas." : "There are no replicas."}
      />
    </Card>
  );
}

interface ReplicaTableProps {
  readonly table: TableInfo;
  readonly replicas: readonly Replica[];
  readonly keeping: ReturnType<typeof useStarted>;
  readonly empty: string;
}

function ReplicaTable({ table, replicas, keeping, empty }: ReplicaTableProps) {
  const whole = table.bytes ?? 0;
  return (
    <DataTable
      caption="Replicas: further copies of the rows in another layout"
      rows={replicas}
      keyOf={(replica) => replica.id}
      empty={empty}
      columns={[
        { title: "Replica", tight: true, cell: (replica) => <code>{replica.id}</code> },
        { title: "Layout", cell: (replica) => replica.layout },
        { title: "Made (UTC)", tight: true, cell: (replica) => moment(replica.created) },
        { title: "Size", numeric: true, cell: (replica) => bytes(replica.bytes) },
        {
          title: "Answers for",
          numeric: true,
          cell: (replica) => percent(whole > 0 ? replica.bytes_covered / whole : null),
        },
        {
          title: "Valid partitions",
          numeric: true,
          cell: (replica) => `${count(replica.partitions_valid)} of ${count(replica.partitions)}`,
        },
        {
          title: "Used by",
          cell: (replica) =>
            replica.scans
              ? `${counted(replica.scans, "logged scan")}, last ${moment(replica.last_used ?? "")} UTC`
              : "no logged scan",
        },
        {
          title: "Columns",
          cell: (replica) =>
            replica.groups === undefined || replica.groups === null
              ? "all"
              : replica.groups.map((group, index) => (
                  <div key={group.columns.join()}>
                    {index + 1}. {group.columns.join(", ")}
                  </div>
                )),
        },
        {
          title: "Actions",
          cell: (replica) => <ReplicaActions table={table} replica={replica} keeping={keeping} />,
        },
      ]}
    />
  );
}

interface ReplicaActionsProps {
  readonly table: TableInfo;
  readonly replica: Replica;
  readonly keeping: ReturnType<typeof useStarted>;
}

function ReplicaActions({ table, replica, keeping }: ReplicaActionsProps) {
  const asked = { table: table.id, arguments: { replica: replica.id } };
  return (
    <span class="row middle">
      <StartButton started={keeping} job={() => ({ action: "refresh", ...asked })}>
        Refresh<span class="hidden-text"> {replica.id}</span>
      </StartButton>
      <StartButton started={keeping} job={() => ({ action: "drop", ...asked })}>
        Drop<span class="hidden-text"> {replica.id}</span>
      </StartButton>
    </span>
  );
}
