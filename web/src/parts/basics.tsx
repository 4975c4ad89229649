/** Small pieces that all pages use. */

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { pieces } from "../sql";

export function Sentence({ problem }: { problem: { message: string } | string | null | undefined }) {
  if (!problem) return null;
  return (
    <p class="problem" role="alert">
      {typeof problem === "string" ? problem : problem.message}
    </p>
  );
}

export function Sql({ text }: { text: string }) {
  return (
    <code class="sql-text">
      {pieces(text).map((piece, index) =>
        piece.kind === "plain" ? (
          piece.text
        ) : (
          <span key={index} class={piece.kind}>
            {piece.text}
          </span>
        ),
      )}
    </code>
  );
}

interface CardProps {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Card({ title, aside, children }: CardProps) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

export type Tone = "good" | "warn" | "bad" | "busy" | "";

export function Badge({ tone = "", children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** A share from 0 to 1 as a bar; null moves to and fro. The text beside it tells the number. */
export function Bar({
  share,
  needed,
  label,
}: {
  share: number | null;
  needed?: number | null;
  label?: string;
}) {
  const width = (part: number) => ({ width: `${Math.round(Math.min(1, Math.max(0, part)) * 1000) / 10}%` });
  const role =
    label === undefined
      ? { "aria-hidden": true as const }
      : {
          role: "progressbar" as const,
          "aria-label": label,
          "aria-valuemin": 0,
          "aria-valuemax": 100,
          ...(share === null ? {} : { "aria-valuenow": Math.round(share * 100) }),
        };
  return (
    <span class={share === null ? "bar unknown" : "bar"} {...role}>
      <span style={share === null ? {} : width(share)} />
      {needed === null || needed === undefined ? null : <span class="needed" style={width(needed)} />}
    </span>
  );
}

export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <Fact key={name} name={name} value={value} />
      ))}
    </dl>
  );
}

function Fact({ name, value }: { name: string; value: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

export interface Tile {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
}

export function Tiles({ tiles }: { tiles: readonly Tile[] }) {
  return (
    <dl class="tiles">
      {tiles.map((tile) => (
        <div class="tile" key={tile.name}>
          <dt>{tile.name}</dt>
          <dd>
            {tile.value}
            {tile.note ? <small>{tile.note}</small> : null}
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface SelectProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [T, string])[];
  readonly onChange: (value: T) => void;
}

export function Select<T extends string>({ label, value, options, onChange }: SelectProps<T>) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface InputProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly placeholder?: string;
  readonly numeric?: boolean;
  readonly wide?: boolean;
  readonly required?: boolean;
}

export function Input({ label, value, onInput, placeholder, numeric, wide, required }: InputProps) {
  return (
    <label class={wide ? "field wide" : "field"}>
      <span>{label}</span>
      <input
        type="text"
        inputMode={numeric ? "numeric" : "text"}
        value={value}
        placeholder={placeholder ?? ""}
        required={required ?? false}
        autocomplete="off"
        spellcheck={false}
        size={numeric ? 9 : 24}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}
