/** Calls of the API. A failure is a Problem with the server's own sentence. */

import type { Job } from "./types";

export class Problem extends Error {
  constructor(
    sentence: string,
    readonly status: number,
  ) {
    super(sentence);
  }
}

export const NO_ANSWER = "The server does not answer; is skipstone serve still running?";

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return call<T>("GET", path, undefined, signal);
}

export async function post<T>(path: string, body: unknown = {}): Promise<T> {
  return call<T>("POST", path, JSON.stringify(body));
}

export async function upload<T>(path: string, file: Blob): Promise<T> {
  return call<T>("POST", path, file);
}

export async function remove(path: string): Promise<void> {
  await call<unknown>("DELETE", path);
}

export interface NewJob {
  readonly action: string;
  readonly table?: string | null;
  readonly workload?: string | null;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

export async function startJob(job: NewJob): Promise<Job> {
  const whole = { table: null, workload: null, arguments: {}, ...job };
  return post<Job>("/api/jobs", whole);
}

/** A path of the API: part`/api/tables/${name}/blocks`, each name encoded. */
export function part(texts: TemplateStringsArray, ...names: readonly (string | number)[]): string {
  return texts.reduce((path, text, index) => path + encodeURIComponent(names[index - 1] ?? "") + text);
}

async function call<T>(method: string, path: string, body?: string | Blob, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (typeof body === "string") headers["Content-Type"] = "application/json";
  else if (body !== undefined) headers["Content-Type"] = "application/octet-stream";
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers,
      credentials: "same-origin",
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(NO_ANSWER, 0);
  }
  if (response.status === 204) return undefined as T;
  const text = await response.text();
  if (!response.ok) throw new Problem(sentenceOf(text, response.status), response.status);
  return JSON.parse(text) as T;
}

/** The sentence of problem JSON, and one of our own for anything else. */
export function sentenceOf(text: string, status: number): string {
  try {
    const problem = JSON.parse(text) as { detail?: unknown; title?: unknown };
    if (typeof problem.detail === "string" && problem.detail) return problem.detail;
    if (typeof problem.title === "string" && problem.title) return problem.title;
  } catch {
    // not JSON
  }
  return `The server answered with status ${status}.`;
}
