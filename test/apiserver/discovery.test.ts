/** Discovery, legacy and aggregated, against the table of resources. */
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as resources from "../../src/apiserver/scheme/resources.ts"
import { get, layer, post, refused, same } from "./client.ts"

const aggregated =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

describe("discovery", () => {
  it.effect("lists groups, versions and resources", () =>
    Effect.gen(function* () {
      same((yield* get("/api")).versions, ["v1"])
      const groups = yield* get("/apis")
      same(
        [groups.kind, groups.groups.slice(0, 3).map((group: any) => group.name)],
        ["APIGroupList", ["events.k8s.io", "coordination.k8s.io", "apps"]]
      )
      same((yield* get("/apis/apps")).preferredVersion, { groupVersion: "apps/v1", version: "v1" })
      const core = yield* get("/api/v1")
      same([core.kind, core.groupVersion], ["APIResourceList", "v1"])
      const pods = core.resources.find((one: any) => one.name === "pods")
      same([pods.kind, pods.namespaced, pods.shortNames, pods.verbs.includes("watch")], ["Pod", true, ["po"], true])
      const scale = (yield* get("/apis/apps/v1")).resources.find((one: any) => one.name === "deployments/scale")
      same([scale.kind, scale.group, scale.version], ["Scale", "autoscaling", "v1"])
      same((yield* refused(get("/apis/nope"))).status, 404)
      same((yield* refused(get("/openapi/v4"))).status, 404)
    }).pipe(Effect.provide(layer()))
  )

  it.effect("serves aggregated discovery with every resource once", () =>
    Effect.gen(function* () {
      const both = [yield* get("/api", {}, aggregated), yield* get("/apis", {}, aggregated)]
      same(
        both.map((one) => [one.kind, one.apiVersion]),
        [
          ["APIGroupDiscoveryList", "apidiscovery.k8s.io/v2"],
          ["APIGroupDiscoveryList", "apidiscovery.k8s.io/v2"]
        ]
      )
      const found = both.flatMap((one) =>
        one.items.flatMap((group: any) =>
          group.versions.flatMap((version: any) =>
            version.resources.map((resource: any) =>
              [group.metadata.name ?? "", version.version, resource.resource].join("/")
            )
          )
        )
      )
      same(
        new Set(found),
        new Set(resources.all.map((resource) => [resource.group, resource.version, resource.plural].join("/")))
      )
      same(found.length, resources.all.length)
      same(
        (yield* get(
          "/api",
          {},
          "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
        )).kind,
        "APIVersions"
      )
    }).pipe(Effect.provide(layer()))
  )

  it.effect("version and health", () =>
    Effect.gen(function* () {
      const { gitVersion, major, minor } = yield* get("/version")
      same([major, minor, gitVersion], ["1", "36", "v1.36.0+embedded"])
      for (const path of ["/healthz", "/livez", "/readyz"]) same(yield* get(path), "ok")
      same((yield* refused(post("/version", {}))).status, 405)
    }).pipe(Effect.provide(layer()))
  )
})
