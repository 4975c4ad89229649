/** The block map of a table as it is, the tree that made it, and its copies. */

import { useMemo, useState } from "preact/hooks";
import { part } from "../api/client";
import type { Block, Blocks, TableInfo } from "../api/types";
import { BlockMap } from "../block_map/block_map";
import {
  ASPECTS,
  ASPECT_TITLES,
  colouringOf,
  describeBlock,
  needsColumn,
  type Aspect,
} from "../block_map/colouring";
import { only, paletteOf, type Palette } from "../block_map/colours";
import { MapLegend } from "../block_map/legend";
import { orderByValue } from "../block_map/paint";
import { NOTHING, bytes, count, counted, moment, percent } from "../format";
import { Card, Facts, Select, Sentence, Sql } from "../parts/basics";
import { DataTable } from "../parts/data_table";
import { StartButton, StartedLine, useStarted } from "../parts/start_job";
import { useFetched } from "../state/fetched";
import { dark } from "../state/theme";
import { CopiesCard } from "./copies";
import { TreeCard } from "./tree";

export function LayoutPage({ table }: { table: TableInfo }) {
  const [selected, setSelected] = useState(-1);
  const [branch, setBranch] = useState<number | null>(null);
  const index = useStarted("index", table.id);
  const layout = table.layout;
  return (
    <div class="page">
      <header>
        <h1 tabIndex={-1}>Layout of {table.name}</h1>
        <p>
          {counted(table.files, "block")} of {bytes(table.bytes)},{" "}
          {layout === null
            ? "as they were written"
            : `laid out by ${layout.strategy} on ${moment(layout.created)} UTC${layout.note ? `: ${layout.note}` : ""}`}
          . {counted(table.files_indexed, "block")} with statistics.
        </p>
      </header>
      <Sentence problem={table.problem} />
      {table.files_indexed !== null && table.files !== null && table.files_indexed < table.files ? (
        <Card
          title="Not all blocks have statistics"
          aside={
            <StartButton started={index} primary job={() => ({ action: "index", table: table.id })}>
              Index
            </StartButton>
          }
        >
          <p>{counted(table.files - table.files_indexed, "block")} without an entry are always read.</p>
          <StartedLine started={index} />
        </Card>
      ) : null}
      <div class="beside">
        <div class="below">
          <MapCard
            table={table}
            selected={selected}
            onSelect={setSelected}
            branch={branch}
            onWhole={() => setBranch(null)}
          />
          {layout?.tree ? (
            <TreeCard table={table} block={selected} branch={branch} onBranch={setBranch} />
          ) : null}
        </div>
        <BlockCard table={table} block={selected} />
      </div>
      {layout?.groups && layout.groups.length > 1 ? (
        <Card title="Column groups">
          <ol>
            {layout.groups.map((group, index) => (
              <li key={index}>{group === null ? "all columns" : group.join(", ")}</li>
            ))}
          </ol>
        </Card>
      ) : null}
      {table.format === "delta" ? <CopiesCard table={table} /> : null}
    </div>
  );
}

interface MapCardProps {
  readonly table: TableInfo;
  readonly selected: number;
  readonly onSelect: (block: number) => void;
  /** The node of the tree whose blocks alone are shown. */
  readonly branch: number | null;
  readonly onWhole: () => void;
}

function MapCard({ table, selected, onSelect, branch, onWhole }: MapCardProps) {
  const [aspect, setAspect] = useState<Aspect>("bytes");
  const names = table.columns.map((column) => column.sql);
  const [column, setColumn] = useState(names[0] ?? "");
  const [feature, setFeature] = useState("0");
  const [sorted, setSorted] = useState(false);
  const query = needsColumn(aspect)
    ? `?column=${encodeURIComponent(column)}`
    : aspect === "feature"
      ? `?feature=${feature}`
      : "";
  const usable = ASPECTS.filter(
    (each) => (!needsColumn(each) || names.length > 0) && (each !== "feature" || table.features.length > 0),
  );
  const found = useFetched<Blocks>(
    part`/api/tables/${table.id}/blocks` + query,
    // Each look may find other blocks, or other queries in the log; and what failed is then asked again.
    table.seen_at,
  );
  const blocks = useMemo(() => named(found.value, table), [found.value, table.layouts]);
  const colouring = useMemo(() => (blocks === null ? null : colouringOf(blocks, aspect)), [blocks, aspect]);
  const inBranch = useFetched<{ blocks: number[] }>(
    branch === null ? null : part`/api/tables/${table.id}/tree/${branch}/blocks`,
    table.seen_at,
  );
  const shown = inBranch.value?.blocks ?? null;
  const colours = useMemo(
    () => (palette: Palette) => only(colouring?.colours(palette) ?? new Uint32Array(), shown),
    [colouring, shown],
  );
  const order = useMemo(
    () => (sorted && colouring !== null ? orderByValue(colouring.values) : null),
    [sorted, colouring],
  );
  return (
    <Card
      title="Block map"
      aside={<span class="soft small">one cell a block; arrow keys move, Enter chooses</span>}
    >
      <div class="row">
        <Select
          label="Coloured by"
          value={aspect}
          options={usable.map((each) => [each, ASPECT_TITLES[each]])}
          onChange={setAspect}
        />
        {needsColumn(aspect) ? (
          <Select
            label="Column"
            value={column}
            options={names.map((name) => [name, name])}
            onChange={setColumn}
          />
        ) : null}
        {aspect === "feature" ? (
          <Select
            label="Feature"
            value={feature}
            options={table.features.map((sql, index) => [String(index), sql])}
            onChange={setFeature}
          />
        ) : null}
        <Select
          label="Order"
          value={sorted ? "value" : "files"}
          options={[
            ["files", "of the table's files"],
            ["value", "by this value"],
          ]}
          onChange={(order) => setSorted(order === "value")}
        />
      </div>
      <Sentence problem={found.problem} />
      {blocks === null ? (
        <p class="empty">{found.waiting ? "Asking for the blocks." : ""}</p>
      ) : colouring === null ? (
        <p class="empty">The query log has no queries, so how often a block is read is not known.</p>
      ) : (
        <>
          <BlockMap
            label={`Block map of ${table.name}, coloured by ${ASPECT_TITLES[aspect]}`}
            count={blocks.blocks}
            colours={colours}
            order={order}
            describe={(block) => describeBlock(blocks, block)}
            selected={selected}
            onSelect={onSelect}
            height={420}
          />
          <MapLegend legend={colouring.legend(paletteOf(dark.value))} />
          <Sentence problem={inBranch.problem} />
          {shown === null ? null : (
            <p class="note row middle" role="status">
              Only the {counted(shown.length, "block")} that may hold rows of the chosen branch.
              <button type="button" class="quiet" onClick={onWhole}>
                Show all blocks
              </button>
            </p>
          )}
        </>
      )}
    </Card>
  );
}

/** The blocks with the strategies of their layouts instead of their ids. */
function named(blocks: Blocks | null, table: TableInfo): Blocks | null {
  if (blocks === null) return null;
  const strategies = new Map(table.layouts.map((layout) => [layout.id, layout.strategy]));
  return { ...blocks, layouts: blocks.layouts.map((id) => strategies.get(id) ?? id) };
}

function BlockCard({ table, block }: { table: TableInfo; block: number }) {
  const found = useFetched<Block>(
    block < 0 ? null : part`/api/tables/${table.id}/blocks/${block}`,
    table.seen_at,
  );
  const value = found.value;
  return (
    <Card title={block < 0 ? "What is inside" : `Block ${count(block)}`}>
      {block < 0 ? <p class="empty">Choose a block of the map.</p> : null}
      <Sentence problem={found.problem} />
      {value === null ? null : (
        <div class="stack block-facts">
          <Facts
            facts={[
              ["file", <code key="path">{value.path}</code>],
              ["rows", value.rows < 0 ? "unknown" : count(value.rows)],
              ["size", bytes(value.bytes)],
              ["statistics", value.indexed ? "yes" : "none: it is always read"],
            ]}
          />
          <DataTable
            caption={`Columns of block ${block}`}
            rows={value.columns}
            empty="Nothing is known about its columns."
            columns={[
              { title: "Column", cell: (each) => <code>{each.sql}</code> },
              {
                title: "From, to",
                cell: (each) => (each.low === null ? NOTHING : `${each.low} … ${each.high}`),
              },
              { title: "NULL", numeric: true, cell: (each) => percent(each.nulls) },
            ]}
          />
          {value.features.length === 0 ? null : (
            <DataTable
              caption={`Features of block ${block}`}
              rows={value.features}
              columns={[
                { title: "Feature", cell: (each) => <Sql text={each.sql} /> },
                { title: "Bit", cell: (each) => (each.bit < 0 ? "unknown" : String(each.bit)) },
              ]}
            />
          )}
        </div>
      )}
    </Card>
  );
}
