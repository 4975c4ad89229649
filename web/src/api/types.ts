/** What the server sends; docs/server.md describes it. */

export interface Server {
  readonly version: string;
  readonly spark: "starting" | "ready" | "stopped";
  readonly spark_problem: string | null;
  readonly started_at: string;
  readonly roots: readonly string[];
  readonly limits: Readonly<Record<string, number>>;
  readonly layouts: readonly string[];
  /** Those by which only replicas can be made. */
  readonly replica_layouts?: readonly string[];
  readonly dialects: readonly string[];
  readonly formats: readonly string[];
}

export interface LayoutRecord {
  readonly id: string;
  readonly strategy: string;
  readonly created: string;
  readonly block_rows: number | null;
  readonly files: number | null;
  readonly note?: string;
  readonly tree?: boolean;
  /** The columns of each column group; null is all of them. */
  readonly groups?: readonly (readonly string[] | null)[];
}

export interface TableInfo {
  readonly id: string;
  readonly name: string;
  readonly source: string;
  readonly state: "waiting" | "ready" | "gone";
  readonly problem: string | null;
  readonly seen_at: string | null;
  readonly format: string | null;
  readonly version: number | null;
  readonly files: number | null;
  readonly bytes: number | null;
  readonly rows: number | null;
  readonly files_indexed: number | null;
  readonly columns: readonly { readonly sql: string; readonly type: string }[];
  readonly expressions: readonly string[];
  readonly features: readonly string[];
  readonly layout: LayoutRecord | null;
  readonly layouts: readonly LayoutRecord[];
  readonly log: {
    readonly on: boolean;
    readonly entries: number;
    readonly oldest: string;
    readonly newest: string;
  } | null;
  readonly lately: {
    readonly scans: number;
    readonly percent_scanned: number | null;
    readonly percent_needed: number | null;
  } | null;
  readonly saving: {
    readonly code: string;
    readonly seconds: number | null;
    readonly bytes: number | null;
    readonly sentence: string;
    readonly acted: boolean;
  } | null;
  readonly drift: number | null;
  readonly unclustered_files: number | null;
  readonly unclustered_bytes: number | null;
  readonly replicas: number | null;
  readonly health: { readonly code: string; readonly sentence: string } | null;
  readonly job: number | null;
}

export type JobState = "queued" | "running" | "done" | "failed" | "cancelled" | "interrupted";

export interface LogLine {
  readonly time: string;
  readonly text: string;
}

export interface Job {
  readonly id: number;
  readonly action: string;
  readonly table: string | null;
  readonly workload: string | null;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly state: JobState;
  readonly waits_for: string | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly progress: { readonly what: string; readonly done: number; readonly total: number } | null;
  readonly cancelling: boolean;
  readonly headline: string | null;
  readonly error: string | null;
  readonly has_result: boolean;
  readonly log?: readonly LogLine[];
}

export interface Workload {
  readonly id: string;
  readonly name: string;
  readonly origin: "upload" | "generate";
  readonly created_at: string;
  readonly bytes: number;
  readonly queries: number;
  readonly broken: number;
  readonly left_out: number;
  readonly dialect: string;
  readonly table: string | null;
}

export interface WorkloadQueries {
  readonly total: number;
  readonly queries: readonly {
    readonly position: number;
    readonly sql: string;
    readonly count: number | null;
    readonly timestamp: string | null;
    readonly user: string | null;
  }[];
  readonly broken: readonly Unusable[];
  readonly left_out: readonly Unusable[];
}

export interface Unusable {
  readonly position: number;
  readonly sql: string;
  readonly reason: string;
}

export interface Blocks {
  readonly table: string;
  readonly version: number | null;
  readonly blocks: number;
  readonly rows: readonly number[];
  readonly bytes: readonly number[];
  readonly indexed: readonly number[];
  readonly layout: readonly number[];
  readonly layouts: readonly string[];
  readonly reads: { readonly queries: number; readonly times: readonly number[] } | null;
  readonly column?: {
    readonly sql: string;
    readonly type: string;
    readonly low: readonly (string | null)[];
    readonly high: readonly (string | null)[];
    readonly low_at: readonly (number | null)[];
    readonly high_at: readonly (number | null)[];
    readonly nulls: readonly (number | null)[];
  };
  readonly feature?: { readonly index: number; readonly sql: string; readonly bit: readonly number[] };
}

export interface Block {
  readonly index: number;
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly indexed: boolean | number;
  readonly layout: string | null;
  readonly columns: readonly {
    readonly sql: string;
    readonly type: string;
    readonly low: string | null;
    readonly high: string | null;
    readonly nulls: number | null;
    readonly values: readonly (string | number | boolean | null)[] | null;
  }[];
  readonly features: readonly { readonly sql: string; readonly bit: number }[];
}

export interface TreeNode {
  readonly id: number;
  readonly cut: string | null;
  readonly yes: number | null;
  readonly no: number | null;
  readonly block: number | null;
  readonly blocks: number;
}

export interface Tree {
  readonly layout: string;
  readonly strategy: string;
  readonly nodes: readonly TreeNode[];
}

export interface Replica {
  readonly id: string;
  readonly layout: string;
  readonly created: string;
  readonly partitions: number;
  readonly partitions_valid: number;
  readonly files: number;
  readonly bytes: number;
  readonly rows: number;
  readonly files_covered: number;
  readonly bytes_covered: number;
  readonly scans?: number;
  readonly last_used?: string;
  readonly groups?: readonly { readonly columns: readonly string[]; readonly bytes?: number | null }[] | null;
}

export interface Replicas {
  readonly bytes: number;
  readonly replicas: readonly Replica[];
  readonly problems: readonly string[];
}

export interface Curve {
  readonly x: readonly number[];
  readonly y: readonly number[];
}

export interface Analysis {
  readonly queries: number;
  readonly queries_without_filter: number;
  readonly queries_never_true: number;
  readonly threshold: number;
  readonly num_features: number;
  readonly chosen_by: string;
  readonly predicates: readonly { readonly sql: string; readonly used: number; readonly support: number }[];
  readonly features: readonly {
    readonly sql: string;
    readonly support: number;
    readonly weight: number;
    readonly gain: number;
  }[];
  readonly dropped: readonly {
    readonly sql: string;
    readonly support: number;
    readonly code: string;
    readonly reason: string;
  }[];
  readonly dropped_count: number;
  readonly commonality: Curve;
  readonly stability: Curve;
  readonly columns?: readonly {
    readonly sql: string;
    readonly queries: number;
    readonly predicates: number;
  }[];
  readonly correlation?: {
    readonly nodes: readonly string[];
    readonly edges: readonly { readonly a: string; readonly b: string; readonly queries: number }[];
  };
  readonly drift?: readonly {
    readonly time: string | null;
    readonly queries: number;
    readonly score: number | null;
  }[];
}

export interface LayoutAdvice {
  readonly layout: string;
  readonly blocks: number;
  readonly percent_scanned: number | null;
  readonly fit_seconds: number;
  readonly note: string;
  readonly problem: string;
  readonly bytes_scanned: number | null;
  readonly scan_seconds: number | null;
  readonly bytes_saved: number | null;
  readonly seconds_saved: number | null;
  readonly rewrite_seconds: number | null;
  readonly rewrite_bytes_read: number | null;
  readonly break_even_runs: number | null;
  readonly break_even_days: number | null;
}

export interface BlockTimes {
  readonly rows: readonly number[];
  readonly times: readonly number[];
}

export interface Advice {
  readonly queries: number;
  readonly rows: number;
  readonly sampled_rows: number;
  readonly block_rows: number;
  readonly observed_days: number | null;
  readonly costs: string;
  readonly percent_needed: number | null;
  readonly best: string;
  readonly layouts: readonly LayoutAdvice[];
  readonly maps?: Readonly<Record<string, BlockTimes>>;
}

export interface ScanBlocks {
  readonly state: readonly number[];
  readonly reason: readonly number[];
}

export interface JoinOfScan {
  readonly key: string;
  readonly join: string;
  readonly other: string;
  readonly code: string;
  readonly sentence: string;
  readonly share: number | null;
  readonly last: {
    readonly keys: number;
    readonly files: number;
    readonly files_read: number;
    readonly failure: string;
  } | null;
}

/** What a scan reads of one replica by column groups. */
export interface GroupsOfScan {
  readonly replica: string;
  readonly partitions: number;
  readonly partitions_total: number;
  readonly groups: readonly {
    readonly columns: readonly string[];
    readonly blocks: number;
    readonly blocks_total: number;
    readonly rows: number;
    readonly bytes: number;
  }[];
  readonly hash_joins: number;
  readonly merge_joins: number;
}

export interface Scan {
  readonly table: string | null;
  readonly root: string;
  readonly filter: string;
  readonly filter_text: string;
  readonly files_total: number;
  readonly files_pruned: number;
  readonly files_skipped: number;
  readonly files_read: number;
  readonly bytes_total: number;
  readonly bytes_read: number;
  readonly failure: string;
  readonly read: readonly {
    readonly predicate: string;
    readonly code: string;
    readonly sentence: string;
    readonly files: number;
    readonly remedy: string;
  }[];
  readonly unused: readonly {
    readonly predicate: string;
    readonly code: string;
    readonly sentence: string;
    readonly text: string;
  }[];
  readonly copies: readonly { readonly replica: string; readonly code: string; readonly sentence: string }[];
  /** What joins decide about its files when the query runs. */
  readonly joins?: readonly JoinOfScan[];
  readonly groups?: readonly GroupsOfScan[];
  /** Null where the table was never looked at. */
  readonly blocks: ScanBlocks | null;
  readonly reasons: readonly { readonly code: string; readonly sentence: string }[];
}

export interface Measured {
  readonly seconds: number | null;
  readonly files_read: number | null;
  readonly bytes_read: number | null;
}

export type Value = string | number | boolean | null;

export interface QueryResult {
  readonly sql: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[] | null;
  readonly rows: readonly (readonly Value[])[] | null;
  readonly truncated: boolean | null;
  readonly on: Measured;
  readonly off: Measured;
  readonly same_result: boolean | null;
  readonly scans: readonly Scan[];
}

export interface Decision {
  readonly time: string;
  readonly acted: boolean;
  readonly code: string;
  readonly sentence: string;
  readonly numbers: Readonly<Record<string, unknown>>;
  readonly repeated: number;
  readonly headline?: string;
  readonly changes_mind?: string;
}

export interface LoggedScan {
  readonly time: string;
  readonly filter_sql: string;
  readonly files_total: number;
  readonly files_read: number;
  readonly rows_read: number;
  readonly rows_needed: number | null;
  readonly seconds: number;
  readonly user: string;
  readonly count: number;
}
