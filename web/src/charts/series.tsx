/** Curves over one axis, by uPlot; some of their points are in a table for those who cannot see them. */

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { moment, number } from "../format";
import { DataTable } from "../parts/data_table";
import { dark } from "../state/theme";
import { somePoints, type Points } from "./points";

export interface Line {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

interface SeriesProps {
  readonly label: string;
  readonly x: readonly number[];
  readonly xLabel: string;
  readonly lines: readonly Line[];
  readonly time?: boolean;
  readonly unit?: string;
  readonly height?: number;
  readonly range?: readonly [number, number];
}

const COLOURS = {
  light: ["#0b5c94", "#b45309", "#17683f"],
  dark: ["#6fb7e9", "#f2b84b", "#6fcf97"],
} as const;
const MOST_POINTS = 11;
const DASHES = [[], [6, 4], [2, 3]] as const;

export function Series(props: SeriesProps) {
  const place = useRef<HTMLDivElement>(null);
  const isDark = dark.value;
  useEffect(() => {
    const element = place.current!;
    const plot = new uPlot(
      options(props, isDark, element.clientWidth),
      [props.x, ...props.lines.map((line) => line.values)] as uPlot.AlignedData,
      element,
    );
    const watcher = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: props.height ?? 190 }),
    );
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [props.x, props.lines, isDark]);
  return (
    <figure class="chart">
      <div ref={place} aria-hidden="true" />
      <figcaption class="small soft">{props.label}</figcaption>
      <details class="small">
        <summary>As a table</summary>
        <DataTable
          caption={props.label}
          rows={somePoints(
            props.x,
            props.lines.map((line) => line.values),
            MOST_POINTS,
          )}
          columns={[
            {
              title: props.xLabel,
              cell: (point: Points) => (props.time ? moment(point.x) : number(point.x)),
            },
            ...props.lines.map((line, index) => ({
              title: line.label,
              numeric: true,
              cell: (point: Points) => `${number(point.values[index])}${props.unit ?? ""}`,
            })),
          ]}
        />
      </details>
    </figure>
  );
}

function options(props: SeriesProps, isDark: boolean, width: number): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const ink = isDark ? "#9dabb8" : "#51606e";
  const line = isDark ? "#2a343f" : "#d9e0e7";
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const font = `12px ${style.getPropertyValue("--font") || "sans-serif"}`;
  const unit = props.unit ?? "";
  const shown = (value: number | null) => (value === null ? "–" : `${Math.round(value * 100) / 100}${unit}`);
  return {
    width: Math.max(width, 50),
    height: props.height ?? 190,
    scales: { x: { time: props.time ?? false }, y: props.range ? { range: [...props.range] } : {} },
    axes: [
      { ...axis, font, label: props.xLabel, labelFont: font, labelSize: 18, size: 34 },
      { ...axis, font, size: 58, values: (_, ticks) => ticks.map(shown) },
    ],
    series: [
      props.time ? { label: "Time" } : { label: props.xLabel, value: (_, value) => shown(value) },
      ...props.lines.map((each, index) => ({
        label: each.label,
        stroke: COLOURS[isDark ? "dark" : "light"][index % 3]!,
        dash: [...DASHES[index % 3]!],
        width: 2,
        points: { show: each.values.length < 30 },
        value: (_: uPlot, value: number | null) => shown(value),
      })),
    ],
    cursor: { drag: { x: false, y: false } },
  };
}
