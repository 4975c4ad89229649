/** One scan of a query: its blocks, the reasons, the filters that could not be used, and what to index for them. */

import { useMemo, useState } from "preact/hooks";
import type { GroupsOfScan, JoinOfScan, Scan } from "../api/types";
import { BlockMap } from "../block_map/block_map";
import { paletteOf, type Palette } from "../block_map/colours";
import { MapLegend } from "../block_map/legend";
import {
  ranText,
  readOf,
  reasonCounts,
  stateColours,
  stateSwatches,
  togetherBy,
  whyOf,
} from "../block_map/scan_blocks";
import { bytes, count, counted, percent } from "../format";
import { Badge, Card, Sentence, Sql } from "../parts/basics";
import { DataTable } from "../parts/data_table";
import { StartButton, StartedLine, useStarted } from "../parts/start_job";
import { remedyOf } from "../remedy";
import { hashOf } from "../route";
import { dark } from "../state/theme";

export function ScanView({ scan, number }: { scan: Scan; number: number | null }) {
  const [block, setBlock] = useState(-1);
  const [reason, setReason] = useState<number | null>(null);
  const colours = useMemo(() => (palette: Palette) => stateColours(scan, reason, palette), [scan, reason]);
  const reasons = useMemo(() => reasonCounts(scan), [scan]);
  const share = scan.bytes_total > 0 ? scan.bytes_read / scan.bytes_total : null;
  return (
    <Card
      title={`${number === null ? "Blocks" : `Scan ${number}: blocks`} of ${scan.table ?? scan.root}`}
      aside={
        <span class="soft small">
          {readOf(scan)}, {bytes(scan.bytes_read)} ({percent(share)})
        </span>
      }
    >
      <p>
        <span class="soft">filter </span>
        <Sql text={scan.filter_text || scan.filter} />
      </p>
      {scan.failure ? <Sentence problem={`Everything is read: ${scan.failure}`} /> : null}
      <BlockMap
        label={`Blocks of ${scan.table ?? scan.root} that the query reads and skips`}
        count={scan.blocks?.state.length ?? 0}
        colours={colours}
        describe={(each) => whyOf(scan, each)}
        selected={block}
        onSelect={setBlock}
        height={300}
        lightUp
      />
      <MapLegend legend={{ kind: "classes", swatches: stateSwatches(scan, paletteOf(dark.value)) }} />
      <p class="note" role="status" data-block={block}>
        {block < 0 ? "Choose a block to see its reason." : whyOf(scan, block)}
      </p>
      <DataTable
        caption="Reasons why blocks were skipped or read"
        rows={reasons}
        keyOf={(each) => each.index}
        chosen={(each) => each.index === reason}
        empty="No block was skipped."
        columns={[
          { title: "Blocks", numeric: true, cell: (each) => count(each.blocks), by: (each) => each.blocks },
          { title: "State", cell: (each) => each.state, by: (each) => each.state },
          { title: "Reason", cell: (each) => each.sentence },
          { title: "Code", cell: (each) => <code>{each.code}</code>, by: (each) => each.code },
          {
            title: "On the map",
            cell: (each) => (
              <button
                type="button"
                class="quiet"
                aria-pressed={reason === each.index}
                onClick={() => setReason(reason === each.index ? null : each.index)}
              >
                {reason === each.index ? "Show all" : "Show only these"}
              </button>
            ),
          },
        ]}
      />
      <Unused scan={scan} />
      {scan.copies.map((copy) => (
        <p key={`${copy.replica} ${copy.code}`} class="note">
          Replica <code>{copy.replica}</code>: {copy.sentence} [{copy.code}]
        </p>
      ))}
      {(scan.groups ?? []).map((read) => (
        <Groups key={read.replica} read={read} />
      ))}
      <Joins joins={scan.joins ?? []} />
    </Card>
  );
}

/** What is read of a replica whose columns lie in groups, each with blocks of its own. */
function Groups({ read }: { read: GroupsOfScan }) {
  return (
    <>
      <h3>
        Column groups of replica <code>{read.replica}</code>
      </h3>
      <p>
        {count(read.partitions)} of {counted(read.partitions_total, "horizontal partition")} read by columns:{" "}
        {togetherBy(read)}.
      </p>
      <DataTable
        caption={`Column groups that are read of replica ${read.replica}`}
        rows={read.groups}
        columns={[
          { title: "Columns", cell: (each) => <Sql text={each.columns.join(", ")} /> },
          {
            title: "Blocks read",
            numeric: true,
            cell: (each) => `${count(each.blocks)} of ${count(each.blocks_total)}`,
            by: (each) => each.blocks,
          },
          { title: "Rows", numeric: true, cell: (each) => count(each.rows), by: (each) => each.rows },
          { title: "Size", numeric: true, cell: (each) => bytes(each.bytes), by: (each) => each.bytes },
        ]}
      />
    </>
  );
}

/** What joins decide when the query runs: which files the keys of their other side leave out, and what is not shuffled. */
function Joins({ joins }: { joins: readonly JoinOfScan[] }) {
  if (joins.length === 0) return null;
  return (
    <>
      <h3>What joins decide when the query runs</h3>
      <DataTable
        caption="What joins decide about the files of this scan"
        rows={joins}
        columns={[
          { title: "Key", cell: (each) => <Sql text={each.key} /> },
          { title: "Join", cell: (each) => each.join },
          { title: "With", cell: (each) => <Sql text={each.other} /> },
          { title: "Decision", cell: (each) => each.sentence },
          { title: "Code", cell: (each) => <Badge>{each.code}</Badge> },
          { title: "This run", cell: (each) => ranText(each) },
        ]}
      />
    </>
  );
}

interface Missed {
  readonly predicate: string;
  readonly code: string;
  readonly sentence: string;
  readonly files: number | null;
  readonly remedy: string;
}

function Unused({ scan }: { scan: Scan }) {
  const started = useStarted();
  const said = new Set(scan.read.map((each) => `${each.predicate} ${each.code}`));
  const missed: Missed[] = [
    ...scan.read,
    ...scan.unused
      .filter((each) => !said.has(`${each.predicate} ${each.code}`))
      .map((each) => ({ ...each, files: null, remedy: "" })),
  ];
  if (missed.length === 0) return null;
  return (
    <>
      <h3>Why the others are read, and what to index to skip more</h3>
      <DataTable
        caption="Filters that did not rule blocks out"
        rows={missed}
        columns={[
          { title: "Filter", cell: (each) => <Sql text={each.predicate} /> },
          { title: "Blocks", numeric: true, cell: (each) => count(each.files), by: (each) => each.files },
          { title: "Why", cell: (each) => each.sentence },
          { title: "Code", cell: (each) => <Badge>{each.code}</Badge> },
          {
            title: "To skip more",
            cell: (each) => <Remedied command={each.remedy} scan={scan} started={started} />,
          },
        ]}
      />
      <StartedLine started={started} />
    </>
  );
}

interface RemediedProps {
  readonly command: string;
  readonly scan: Scan;
  readonly started: ReturnType<typeof useStarted>;
}

function Remedied({ command, scan, started }: RemediedProps) {
  const remedy = remedyOf(command);
  if (scan.table !== null && command.startsWith("skipstone optimize "))
    return <a href={hashOf({ page: "advise", table: scan.table })}>another layout: simulate them</a>;
  if (remedy === null || scan.table === null) return command ? <code>{command}</code> : <>nothing to index</>;
  const { expression, feature } = remedy.arguments;
  return (
    <StartButton started={started} job={() => ({ ...remedy, table: scan.table })}>
      Index {expression ? "expression" : "feature"} {(expression ?? feature)?.join(", ")}
    </StartButton>
  );
}
