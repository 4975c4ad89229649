/** Addresses of the page: "#/", "#/jobs/7", "#/tables/orders/query". Names of tables are percent-encoded. */

export const TABLE_PAGES = ["workload", "layout", "advise", "query", "decisions"] as const;
export type TablePage = (typeof TABLE_PAGES)[number];

export type Route =
  | { readonly page: "overview" }
  | { readonly page: "jobs"; readonly job: string | null }
  | { readonly page: TablePage; readonly table: string }
  | { readonly page: "unknown" };

export function parseRoute(hash: string): Route {
  const parts = hash
    .replace(/^#?\/?/, "")
    .split("/")
    .filter(Boolean)
    .map(decoded);
  const [first, second, third] = parts;
  if (first === undefined) return { page: "overview" };
  if (first === "jobs" && parts.length <= 2) return { page: "jobs", job: second ?? null };
  if (first === "tables" && second && parts.length <= 3) {
    const page = third ?? "layout";
    if (isTablePage(page)) return { page, table: second };
  }
  return { page: "unknown" };
}

export function hashOf(route: Route): string {
  switch (route.page) {
    case "overview":
    case "unknown":
      return "#/";
    case "jobs":
      return route.job === null ? "#/jobs" : `#/jobs/${encodeURIComponent(route.job)}`;
    default:
      return `#/tables/${encodeURIComponent(route.table)}/${route.page}`;
  }
}

function isTablePage(name: string): name is TablePage {
  return (TABLE_PAGES as readonly string[]).includes(name);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a lone % is a name like any other
  }
}
