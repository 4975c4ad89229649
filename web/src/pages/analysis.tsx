/** What analysing a workload found: curves, filters, features, what comes together, and how it changes. */

import { useMemo } from "preact/hooks";
import type { Analysis, Curve } from "../api/types";
import { numbered } from "../charts/arcs";
import { Correlation } from "../charts/correlation";
import { Series } from "../charts/series";
import { count, instant, number } from "../format";
import { Badge, Bar, Card, Sql } from "../parts/basics";
import { DataTable } from "../parts/data_table";

export function AnalysisView({ analysis }: { analysis: Analysis }) {
  const most = Math.max(1, analysis.queries);
  const graph = useMemo(() => numbered(analysis.correlation), [analysis]);
  return (
    <>
      <div class="columns">
        <CurveCard
          title="Commonality"
          curve={analysis.commonality}
          told="How many of the queries use the most frequent x % of the predicates. A steep curve: few features serve most queries."
          xLabel="% of predicates"
        />
        <CurveCard
          title="Stability"
          curve={analysis.stability}
          told="How many of the queries use only predicates that were in the first x % of the log. A steep curve: the past tells the future."
          xLabel="% of the log"
        />
      </div>
      <Card title="Features" aside={<span class="soft small">each is worth a bit of every block</span>}>
        <DataTable
          caption="Chosen features with the queries that they matter to"
          rows={analysis.features}
          columns={[
            { title: "Feature", cell: (feature) => <Sql text={feature.sql} /> },
            {
              title: "Support",
              numeric: true,
              cell: (feature) => (
                <span class="with-bar">
                  {number(feature.support)} <Bar share={feature.support / most} />
                </span>
              ),
              by: (feature) => feature.support,
            },
            {
              title: "Weight",
              numeric: true,
              cell: (feature) => (
                <span class="with-bar">
                  {number(feature.weight)} <Bar share={feature.weight / most} />
                </span>
              ),
              by: (feature) => feature.weight,
            },
            {
              title: "I(F)",
              numeric: true,
              cell: (feature) => number(feature.gain),
              by: (feature) => feature.gain,
            },
          ]}
          empty="No feature is worth a bit."
        />
        {analysis.dropped.length === 0 ? null : (
          <details>
            <summary>{count(analysis.dropped_count)} not chosen, and why</summary>
            <DataTable
              caption="Features that were not chosen"
              rows={analysis.dropped}
              columns={[
                { title: "Feature", cell: (each) => <Sql text={each.sql} /> },
                {
                  title: "Support",
                  numeric: true,
                  cell: (each) => number(each.support),
                  by: (each) => each.support,
                },
                { title: "Code", cell: (each) => <Badge>{each.code}</Badge>, by: (each) => each.code },
                { title: "Reason", cell: (each) => each.reason },
              ]}
            />
          </details>
        )}
      </Card>
      <div class="columns">
        <Card title="Filters by column">
          <DataTable
            caption="Columns and expressions that queries filter by"
            rows={analysis.columns ?? []}
            columns={[
              { title: "Column", cell: (column) => <Sql text={column.sql} /> },
              {
                title: "Queries",
                numeric: true,
                cell: (column) => (
                  <span class="with-bar">
                    {number(column.queries)} <Bar share={column.queries / most} />
                  </span>
                ),
                by: (column) => column.queries,
              },
              {
                title: "Predicates",
                numeric: true,
                cell: (column) => number(column.predicates),
                by: (column) => column.predicates,
              },
            ]}
          />
        </Card>
        <Card title="Predicates">
          <DataTable
            caption="Predicates with how often they are used"
            rows={analysis.predicates}
            most={50}
            columns={[
              { title: "Predicate", cell: (each) => <Sql text={each.sql} /> },
              { title: "Used", numeric: true, cell: (each) => number(each.used), by: (each) => each.used },
              {
                title: "Subsumes",
                numeric: true,
                cell: (each) => number(each.support),
                by: (each) => each.support,
              },
            ]}
          />
        </Card>
        <Card title="What comes together">
          <Correlation {...graph} />
        </Card>
        <Drift analysis={analysis} />
      </div>
    </>
  );
}

interface CurveCardProps {
  readonly title: string;
  readonly curve: Curve;
  readonly told: string;
  readonly xLabel: string;
}

function CurveCard({ title, curve, told, xLabel }: CurveCardProps) {
  const lines = useMemo(() => [{ label: "queries", values: curve.y }], [curve]);
  return (
    <Card title={title}>
      <Series label={told} x={curve.x} xLabel={xLabel} lines={lines} unit=" %" range={[0, 105]} />
    </Card>
  );
}

function Drift({ analysis }: { analysis: Analysis }) {
  const points = useMemo(() => (analysis.drift ?? []).filter((point) => point.time !== null), [analysis]);
  const x = useMemo(() => points.map((point) => instant(point.time ?? "")), [points]);
  const lines = useMemo(() => [{ label: "drift", values: points.map((point) => point.score) }], [points]);
  return (
    <Card title="Drift over time">
      {points.length < 2 ? (
        <p class="empty">The log does not say when its queries ran, or not for long enough.</p>
      ) : (
        <Series
          label="How far the queries of each span are from those before: 0 is the same, 1 is nothing in common."
          x={x}
          xLabel="time (UTC)"
          lines={lines}
          time
          range={[0, 1.05]}
        />
      )}
    </Card>
  );
}
