/** Which queries count: the table's own query log, or a workload that was uploaded or generated. */

import { counted } from "../format";
import { workloads } from "../state/store";
import { Select } from "./basics";

interface WorkloadChoiceProps {
  readonly value: string;
  readonly onChange: (workload: string) => void;
  readonly scans: number;
}

/** "" is the table's own log. */
export function WorkloadChoice({ value, onChange, scans }: WorkloadChoiceProps) {
  const known = workloads.value ?? [];
  return (
    <Select
      label="Queries"
      value={value}
      options={[
        ["", `the table's query log (${counted(scans, "scan")})`],
        ...known.map((each) => [each.id, `${each.name} (${counted(each.queries, "query")})`] as const),
      ]}
      onChange={onChange}
    />
  );
}

export function firstChoice(scans: number, table: string): string {
  if (scans > 0) return "";
  const known = workloads.value ?? [];
  return (known.find((each) => each.table === table) ?? known.at(-1))?.id ?? "";
}
