/** The arguments of any action, from the JSON schema that the server tells of it: what to ask, and what to send. */

interface Schema {
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly default?: unknown;
}

export interface ActionInfo {
  readonly name: string;
  readonly title: string;
  readonly table: boolean;
  readonly exclusive: boolean;
  readonly workload: "none" | "optional" | "required";
  readonly arguments: {
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly required?: readonly string[];
  };
}

export type ArgumentKind = "flag" | "number" | "text" | "list";

export interface Argument {
  readonly name: string;
  readonly label: string;
  readonly kind: ArgumentKind;
  readonly required: boolean;
  /** What is taken when nothing is given, in words. */
  readonly otherwise: string;
}

export function argumentsOf(action: ActionInfo): readonly Argument[] {
  const required = new Set(action.arguments.required ?? []);
  const first = (argument: Argument) => (argument.required ? 0 : argument.name === "layout" ? 1 : 2);
  const found = Object.entries(action.arguments.properties ?? {}).map(([name, schema]) => ({
    name,
    label: name.replaceAll("_", " "),
    kind: kindOf(schema),
    required: required.has(name),
    otherwise: otherwise(schema.default),
  }));
  return found.sort((a, b) => first(a) - first(b));
}

function kindOf(schema: Schema): ArgumentKind {
  const types = [schema, ...(schema.anyOf ?? [])].map((each) => each.type);
  if (types.includes("boolean")) return "flag";
  if (types.includes("array")) return "list";
  return types.includes("integer") || types.includes("number") ? "number" : "text";
}

function otherwise(value: unknown): string {
  if (typeof value === "string" || typeof value === "number") return String(value);
  return "";
}

/** What to send for texts that were typed; what is empty is left out. Lists have one value a line. */
export function sentArguments(
  known: readonly Argument[],
  typed: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  const sent: Record<string, unknown> = {};
  for (const { name, kind } of known) {
    const text = (typed[name] ?? "").trim();
    if (text === "") continue;
    if (kind === "flag") sent[name] = text === "true";
    else if (kind === "number") sent[name] = Number.isNaN(Number(text)) ? text : Number(text);
    else if (kind === "list")
      sent[name] = text
        .split("\n")
        .map((line) => line.trim())
        .filter(Boolean);
    else sent[name] = text;
  }
  return sent;
}
