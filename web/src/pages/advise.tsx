/** Every layout simulated side by side, its block map before and after, and one click to have it. */

import { useMemo, useState } from "preact/hooks";
import { part } from "../api/client";
import type { Advice, BlockTimes, LayoutAdvice, TableInfo } from "../api/types";
import { BlockMap } from "../block_map/block_map";
import { scaleColours, type Palette } from "../block_map/colours";
import { MapLegend } from "../block_map/legend";
import { NOTHING, bytes, count, counted, moment, number, percent, seconds } from "../format";
import { Bar, Card, Input, Sentence } from "../parts/basics";
import { DataTable } from "../parts/data_table";
import { StartButton, StartedLine, useStarted } from "../parts/start_job";
import { WorkloadChoice, firstChoice } from "../parts/workload_choice";
import { isOver } from "../state/jobs";
import { useFetched } from "../state/fetched";
import { server } from "../state/store";

const CURRENT = "current layout";

interface Found {
  readonly ended_at: string;
  readonly workload?: string | null;
  readonly advice?: Advice;
}

export function AdvisePage({ table }: { table: TableInfo }) {
  const scans = table.log?.entries ?? 0;
  const [workload, setWorkload] = useState(() => firstChoice(scans, table.id));
  const [blockRows, setBlockRows] = useState("");
  const [grouped, setGrouped] = useState(false);
  const advising = useStarted("advise", table.id);
  const ended = advising.job !== null && isOver(advising.job) ? advising.job.id : 0;
  const found = useFetched<Found>(part`/api/tables/${table.id}/advice`, ended);
  const advice = found.value?.advice ?? null;
  const given = blockRows === "" ? {} : { block_rows: Number(blockRows) };
  return (
    <div class="page">
      <header>
        <h1 tabIndex={-1}>Advise on {table.name}</h1>
        <p>
          Every layout is fitted on a sample and simulated for the queries. Nothing is changed until you ask
          for it.
        </p>
      </header>
      <Card title="Simulate all layouts">
        <div class="row">
          <WorkloadChoice value={workload} onChange={setWorkload} scans={scans} />
          <Input
            label="Rows in a block"
            value={blockRows}
            onInput={setBlockRows}
            placeholder="chosen"
            numeric
          />
          <label class="check">
            <input
              type="checkbox"
              checked={grouped}
              onChange={(event) => setGrouped(event.currentTarget.checked)}
            />
            also column groups, for a replica
          </label>
          <StartButton
            started={advising}
            primary
            job={() => ({
              action: "advise",
              table: table.id,
              workload: workload || null,
              // An option of gsop says that it is wanted.
              arguments: grouped ? { ...given, grouping: "search" } : given,
            })}
          >
            Advise
          </StartButton>
        </div>
        <StartedLine started={advising} />
      </Card>
      {found.problem !== null && found.problem.status !== 404 ? <Sentence problem={found.problem} /> : null}
      {found.problem?.status === 404 ? (
        <p class="empty">No layout has been simulated for this table yet: choose queries and press Advise.</p>
      ) : null}
      {advice === null ? null : (
        <Compared
          table={table}
          advice={advice}
          at={found.value?.ended_at ?? ""}
          workload={found.value?.workload ?? null}
        />
      )}
    </div>
  );
}

interface ComparedProps {
  readonly table: TableInfo;
  readonly advice: Advice;
  readonly at: string;
  /** Of the advice; null is the table's own log. */
  readonly workload: string | null;
}

function Compared({ table, advice, at, workload }: ComparedProps) {
  const fitted = advice.layouts.filter((row) => row.layout !== CURRENT && !row.problem);
  const best = fitted.find((row) => row.layout === advice.best) ?? fitted[0];
  const [chosen, setChosen] = useState<string | null>(null);
  const layout = fitted.find((row) => row.layout === chosen) ?? best;
  const optimizing = useStarted("optimize", table.id);
  const copying = useStarted("replicate", table.id);
  const onlyCopies = server.value?.replica_layouts ?? [];
  const needed = advice.percent_needed === null ? null : advice.percent_needed / 100;
  // What was simulated is what is made, whatever has been chosen above since.
  const asked = (action: string, by: LayoutAdvice) => ({
    action,
    table: table.id,
    workload,
    arguments: { layout: by.layout, block_rows: advice.block_rows },
  });
  const stale = table.layout !== null && Date.parse(table.layout.created) > Date.parse(at);
  return (
    <>
      <Card
        title="Side by side"
        aside={
          <span class="soft small">
            {counted(advice.queries, "query")}, {counted(advice.rows, "row")}, simulated {moment(at)} UTC
          </span>
        }
      >
        <DataTable
          caption="Layouts side by side; best first"
          rows={advice.layouts}
          keyOf={(row) => row.layout}
          chosen={(row) => row.layout === layout?.layout}
          whole
          columns={[
            {
              title: "Layout",
              tight: true,
              cell: (row) =>
                row.layout === CURRENT || row.problem ? (
                  row.layout
                ) : (
                  <label class="check">
                    <input
                      type="radio"
                      name="layout"
                      checked={row.layout === layout?.layout}
                      onChange={() => setChosen(row.layout)}
                    />
                    {row.layout}
                  </label>
                ),
              by: (row) => row.layout,
            },
            {
              title: "Rows scanned",
              numeric: true,
              cell: (row) => <Scanned row={row} needed={needed} />,
              by: (row) => row.percent_scanned,
            },
            { title: "Blocks", numeric: true, cell: (row) => count(row.blocks), by: (row) => row.blocks },
            {
              title: "Read",
              numeric: true,
              cell: (row) => bytes(row.bytes_scanned),
              by: (row) => row.bytes_scanned,
            },
            {
              title: "Saved",
              numeric: true,
              cell: (row) => bytes(row.bytes_saved),
              by: (row) => row.bytes_saved,
            },
            {
              title: "Time saved",
              numeric: true,
              cell: (row) => seconds(row.seconds_saved),
              by: (row) => row.seconds_saved,
            },
            {
              title: "Rewrite costs",
              numeric: true,
              cell: (row) => seconds(row.rewrite_seconds),
              by: (row) => row.rewrite_seconds,
            },
            { title: "Pays after", numeric: true, cell: paysAfter, by: (row) => row.break_even_runs },
            { title: "Note", cell: (row) => row.problem || row.note },
          ]}
        />
        <p class="small soft">
          {percent(needed)} of the rows are needed; no layout can scan less. Bytes and seconds are for one run
          of all queries. {advice.costs ? `Costs: ${advice.costs}.` : ""}
        </p>
        {layout === undefined ? null : (
          <div class="row middle">
            {onlyCopies.includes(layout.layout) ? null : (
              <StartButton started={optimizing} primary job={() => asked("optimize", layout)}>
                Optimize by {layout.layout}
              </StartButton>
            )}
            {table.format === "delta" ? (
              <StartButton started={copying} job={() => asked("replicate", layout)}>
                Make a replica by {layout.layout}
              </StartButton>
            ) : null}
            <span class="soft small">
              {onlyCopies.includes(layout.layout)
                ? "It groups columns, so only a replica can have it. The table stays as it is."
                : "One commit that changes no row; it can be cancelled until then."}
            </span>
          </div>
        )}
        {stale ? (
          <p class="note">The table has been laid out anew since this was simulated: advise again.</p>
        ) : null}
        <StartedLine started={optimizing} />
        <StartedLine started={copying} />
      </Card>
      {layout === undefined || advice.maps === undefined ? null : (
        <BeforeAfter advice={advice} layout={layout.layout} />
      )}
    </>
  );
}

function Scanned({ row, needed }: { row: LayoutAdvice; needed: number | null }) {
  const share = row.percent_scanned === null ? null : row.percent_scanned / 100;
  if (share === null) return <>{NOTHING}</>;
  return (
    <span class="with-bar">
      {percent(share)}
      <Bar share={share} needed={needed} />
    </span>
  );
}

function paysAfter(row: LayoutAdvice): string {
  if (row.layout === CURRENT || row.problem || row.rewrite_seconds === null) return NOTHING;
  if (row.break_even_runs === null) return "never";
  const days = row.break_even_days === null ? "" : `, ${number(row.break_even_days)} days`;
  return `${number(row.break_even_runs)} runs${days}`;
}

function BeforeAfter({ advice, layout }: { advice: Advice; layout: string }) {
  const [before, after] = [advice.maps?.[CURRENT], advice.maps?.[layout]];
  if (before === undefined || after === undefined) return null;
  return (
    <div class="columns">
      <TimesMap title="Before: current layout" map={before} queries={advice.queries} />
      <TimesMap title={`After: ${layout}`} map={after} queries={advice.queries} />
    </div>
  );
}

interface TimesMapProps {
  readonly title: string;
  readonly map: BlockTimes;
  readonly queries: number;
}

/** Both maps have one scale, from no query to all of them, so that their colours can be compared. */
function TimesMap({ title, map, queries }: TimesMapProps) {
  const colours = useMemo(() => {
    const all = Float64Array.from([...map.times, 0, queries]);
    return (palette: Palette) => scaleColours(all, palette).subarray(0, map.times.length);
  }, [map, queries]);
  const untouched = map.times.filter((times) => times === 0).length;
  const whole = map.rows.reduce((total, rows) => total + rows, 0) * Math.max(1, queries);
  const read = map.rows.reduce((total, rows, block) => total + rows * map.times[block]!, 0);
  return (
    <Card title={title}>
      <BlockMap
        label={`${title}, coloured by how many queries read each block`}
        count={map.times.length}
        colours={colours}
        describe={(block) =>
          `Block ${count(block)}: about ${counted(Math.round(map.rows[block]!), "row")}\nRead by ${number(map.times[block])} of ${counted(queries, "query")}`
        }
        height={260}
      />
      <MapLegend legend={{ kind: "ramp", low: "no query", high: `all ${count(queries)}`, unknown: false }} />
      <p class="small soft">
        {percent(whole > 0 ? read / whole : null)} of the rows are scanned by a query on average;{" "}
        {counted(untouched, "block")} of {count(map.times.length)} are read by none.
      </p>
    </Card>
  );
}
