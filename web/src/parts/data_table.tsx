/** A table with headers, which sorts by a column on request and shows the first rows of many. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { count } from "../format";

export interface TableColumn<Row> {
  readonly title: string;
  readonly cell: (row: Row, index: number) => ComponentChildren;
  readonly numeric?: boolean;
  /** Never broken into lines, as times are not. */
  readonly tight?: boolean;
  /** What to sort by; without it the column cannot be sorted. */
  readonly by?: (row: Row) => number | string | null;
}

interface DataTableProps<Row> {
  readonly caption: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf?: (row: Row, index: number) => string | number;
  readonly chosen?: (row: Row) => boolean;
  readonly empty?: string;
  readonly most?: number;
  /** All rows are seen at once: for few of them that are to be compared. */
  readonly whole?: boolean;
}

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, keyOf, chosen, empty = "Nothing here yet.", most = 200 } = props;
  const [order, setOrder] = useState<{ column: number; down: boolean } | null>(null);
  const [all, setAll] = useState(false);
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  const sorted = order === null ? rows : sortedBy(rows, columns[order.column]?.by, order.down);
  const shown = all ? sorted : sorted.slice(0, most);
  return (
    <div class={props.whole ? "scroll whole" : "scroll"} tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption class="hidden-text">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <Heading
                key={column.title}
                column={column}
                down={order?.column === index ? order.down : null}
                onSort={() =>
                  setOrder({
                    column: index,
                    down: order?.column === index ? !order.down : Boolean(column.numeric),
                  })
                }
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, index) => (
            <tr key={keyOf?.(row, index) ?? index} class={chosen?.(row) ? "chosen" : ""}>
              {columns.map((column, place) =>
                place === 0 ? (
                  <th key={column.title} scope="row" class={classOf(column)}>
                    {column.cell(row, index)}
                  </th>
                ) : (
                  <td key={column.title} class={classOf(column)}>
                    {column.cell(row, index)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < rows.length ? (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          Show all {count(rows.length)}
        </button>
      ) : null}
    </div>
  );
}

function classOf<Row>(column: TableColumn<Row>): string {
  return column.numeric ? "numeric" : column.tight ? "tight" : "";
}

interface HeadingProps<Row> {
  readonly column: TableColumn<Row>;
  readonly down: boolean | null;
  readonly onSort: () => void;
}

function Heading<Row>({ column, down, onSort }: HeadingProps<Row>) {
  const sort = down === null ? "none" : down ? "descending" : "ascending";
  const sorting = column.by === undefined ? {} : { "aria-sort": sort as "none" | "ascending" | "descending" };
  return (
    <th scope="col" class={column.numeric ? "numeric" : ""} {...sorting}>
      {column.by === undefined ? (
        column.title
      ) : (
        <button type="button" onClick={onSort}>
          {column.title}
          {down === null ? "" : down ? " ↓" : " ↑"}
        </button>
      )}
    </th>
  );
}

export function sortedBy<Row>(
  rows: readonly Row[],
  by: ((row: Row) => number | string | null) | undefined,
  down: boolean,
): readonly Row[] {
  if (by === undefined) return rows;
  const turn = down ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [one, other] = [by(a), by(b)];
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    return (one < other ? -1 : one > other ? 1 : 0) * turn;
  });
}
