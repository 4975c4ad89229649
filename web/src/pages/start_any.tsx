/** Any action as a job, with all of its arguments: what the other pages have no button for. */

import { useState } from "preact/hooks";
import { argumentsOf, sentArguments, type ActionInfo, type Argument } from "../action_arguments";
import { Card, Input, Select, Sentence } from "../parts/basics";
import { StartButton, StartedLine, useStarted } from "../parts/start_job";
import { WorkloadChoice } from "../parts/workload_choice";
import { useFetched } from "../state/fetched";
import { tables } from "../state/store";

export function StartAny() {
  const found = useFetched<{ actions: ActionInfo[] }>("/api/actions");
  return (
    <Card title="Start a job">
      <details>
        <summary>Any action, with all of its arguments</summary>
        <Sentence problem={found.problem} />
        {found.value === null ? null : <ActionForm actions={found.value.actions} />}
      </details>
    </Card>
  );
}

function ActionForm({ actions }: { actions: readonly ActionInfo[] }) {
  const known = tables.value ?? [];
  const [name, setName] = useState(actions[0]?.name ?? "");
  const [table, setTable] = useState(known[0]?.id ?? "");
  const [workload, setWorkload] = useState("");
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const started = useStarted();
  const action = actions.find((each) => each.name === name);
  if (action === undefined) return null;
  const asked = argumentsOf(action);
  const scans = known.find((each) => each.id === table)?.log?.entries ?? 0;
  return (
    <div class="stack">
      <div class="row">
        <Select
          label="Action"
          value={name}
          options={actions.map((each) => [each.name, `${each.name}: ${each.title}`])}
          onChange={(next) => {
            setName(next);
            setTyped({});
          }}
        />
        {action.table ? (
          <Select
            label="On the table"
            value={table}
            options={known.map((each) => [each.id, each.name])}
            onChange={setTable}
          />
        ) : null}
        {action.workload === "none" ? null : (
          <WorkloadChoice value={workload} onChange={setWorkload} scans={scans} />
        )}
      </div>
      <div class="row">
        {asked.map((argument) => (
          <ArgumentField
            key={`${name} ${argument.name}`}
            argument={argument}
            value={typed[argument.name] ?? ""}
            onChange={(value) => setTyped({ ...typed, [argument.name]: value })}
          />
        ))}
      </div>
      <div class="row middle">
        <StartButton
          started={started}
          primary
          job={() => ({
            action: name,
            table: action.table ? table : null,
            workload: action.workload === "none" ? null : workload || null,
            arguments: sentArguments(asked, typed),
          })}
        >
          Start {name}
        </StartButton>
        {action.exclusive ? <span class="soft small">It runs alone on its table.</span> : null}
      </div>
      <StartedLine started={started} />
    </div>
  );
}

interface ArgumentFieldProps {
  readonly argument: Argument;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function ArgumentField({ argument, value, onChange }: ArgumentFieldProps) {
  if (argument.kind === "flag")
    return (
      <label class="check">
        <input
          type="checkbox"
          checked={value === "true"}
          onChange={(event) => onChange(event.currentTarget.checked ? "true" : "")}
        />
        {argument.label}
      </label>
    );
  if (argument.kind === "list")
    return (
      <label class="field">
        <span>{argument.label}, one a line</span>
        <textarea
          class="sql"
          rows={2}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      </label>
    );
  return (
    <Input
      label={argument.label}
      value={value}
      onInput={onChange}
      placeholder={argument.otherwise}
      numeric={argument.kind === "number"}
      required={argument.required}
    />
  );
}
