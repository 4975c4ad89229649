/** What auto did or did not do, the numbers behind it, and what would change its mind. */

import { part } from "../api/client";
import type { Decision, TableInfo } from "../api/types";
import { NOTHING, bytes, counted, exact, moment, percent } from "../format";
import { Badge, Card, Facts, Sentence, Tiles } from "../parts/basics";
import { StartButton, StartedLine, useStarted } from "../parts/start_job";
import { isOver } from "../state/jobs";
import { useFetched } from "../state/fetched";

export function DecisionsPage({ table }: { table: TableInfo }) {
  const started = useStarted("auto", table.id);
  const ended = started.job !== null && isOver(started.job) ? started.job.id : 0;
  const found = useFetched<{ decisions: Decision[] }>(
    part`/api/tables/${table.id}/decisions`,
    `${ended} ${table.seen_at}`,
  );
  const all = found.value?.decisions ?? [];
  const auto = (dry: boolean) => ({ action: "auto", table: table.id, arguments: { dry_run: dry } });
  return (
    <div class="page">
      <header>
        <h1 tabIndex={-1}>Decisions on {table.name}</h1>
        <p>
          What <code>auto</code> did to {table.name}, or did not do, and why. It rewrites when, and only when,
          that pays.
        </p>
      </header>
      <Card
        title="Decide now"
        aside={
          <span class="row middle">
            <StartButton started={started} job={() => auto(true)}>
              Say what would be done
            </StartButton>
            <StartButton started={started} job={() => auto(false)} primary>
              Decide, and do it if it pays
            </StartButton>
          </span>
        }
      >
        <Tiles
          tiles={[
            {
              name: "Query log",
              value: counted(table.log?.entries ?? null, "scan"),
              note: table.log?.newest ? `until ${moment(table.log.newest)} UTC` : "empty",
            },
            {
              name: "Outside of any layout",
              value: counted(table.unclustered_files, "file"),
              note: bytes(table.unclustered_bytes),
            },
            {
              name: "Drift of the workload",
              value: table.drift === null ? NOTHING : percent(table.drift),
              note: table.drift === null ? "No layout to drift from." : "since its layout was made",
            },
          ]}
        />
        <StartedLine started={started} />
      </Card>
      <Sentence problem={found.problem} />
      {found.value !== null && all.length === 0 ? (
        <p class="empty">Nothing has been decided about this table yet.</p>
      ) : null}
      {all.map((decision) => (
        <DecisionCard key={decision.time} decision={decision} />
      ))}
    </div>
  );
}

function DecisionCard({ decision }: { decision: Decision }) {
  const again = decision.repeated > 0 ? `, ${decision.repeated + 1} times` : "";
  return (
    <Card
      title={decision.headline ?? decision.sentence}
      aside={
        <Badge tone={decision.acted ? "good" : decision.code === "FAILED" ? "bad" : ""}>
          {decision.acted ? "rewritten" : "left alone"}
        </Badge>
      }
    >
      <p class="small soft">
        {moment(decision.time)} UTC{again}, code <code>{decision.code}</code>
      </p>
      {decision.changes_mind ? (
        <p>
          <strong>What would change this:</strong> {decision.changes_mind}
        </p>
      ) : null}
      <details>
        <summary>The numbers behind it</summary>
        <Facts facts={numbersOf(decision.numbers)} />
      </details>
    </Card>
  );
}

function numbersOf(numbers: Readonly<Record<string, unknown>>): readonly (readonly [string, string])[] {
  return Object.entries(numbers).map(
    ([name, value]) => [name.replaceAll("_", " "), shown(name, value)] as const,
  );
}

function shown(name: string, value: unknown): string {
  if (value === null) return NOTHING;
  if (typeof value === "number")
    return /(^|_)bytes(_|$)/.test(name) ? `${bytes(value)} (${exact(value)})` : exact(value);
  if (typeof value === "string") return value;
  if (typeof value === "object" && !Array.isArray(value))
    return Object.entries(value as object)
      .map(([key, each]) => `${key}: ${typeof each === "number" ? exact(each) : String(each)}`)
      .join(", ");
  return JSON.stringify(value);
}
