import { describe, expect, it } from "vitest";
import { hashOf, parseRoute, type Route } from "../src/route";

describe("routes", () => {
  const routes: Route[] = [
    { page: "overview" },
    { page: "jobs", job: null },
    { page: "jobs", job: "a/b" },
    { page: "workload", table: "orders" },
    { page: "layout", table: "main.air.flights" },
    { page: "query", table: "<script>/..%20#" },
  ];

  it.each(routes)("%j is parsed from its own hash", (route) => {
    expect(parseRoute(hashOf(route))).toEqual(route);
  });

  it("shows the overview first", () => {
    for (const hash of ["", "#", "#/", "/"]) expect(parseRoute(hash)).toEqual({ page: "overview" });
  });

  it("shows the layout of a table that is only named", () => {
    expect(parseRoute("#/tables/orders")).toEqual({ page: "layout", table: "orders" });
  });

  it("knows what it does not know", () => {
    for (const hash of ["#/tables", "#/tables/orders/nothing", "#/jobs/1/2", "#/elsewhere"])
      expect(parseRoute(hash)).toEqual({ page: "unknown" });
  });

  it("takes a lone percent sign as it is", () => {
    expect(parseRoute("#/tables/100%/query")).toEqual({ page: "query", table: "100%" });
  });
});
