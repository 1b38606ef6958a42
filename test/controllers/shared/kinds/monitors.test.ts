import { assert, describe, it } from "@effect/vitest"
import * as Monitors from "../../../../src/controllers/shared/kinds/monitors.ts"
import type { Listing } from "../../../../src/layers/Discovery.ts"
import * as ApiError from "../../../../src/kube/ApiError.ts"

const every = ["create", "delete", "get", "list", "patch", "update", "watch"]

const resource = (id: string, verbs: ReadonlyArray<string> = every) => {
  const [plural = "", version = "", group = ""] = id.split("/").toReversed()
  return {
    id,
    group,
    version,
    plural,
    kind: plural,
    scope: "Namespaced",
    projection: "object",
    verbs,
    shortNames: [],
    subresources: []
  } as const
}

const listing = (resources: Listing["resources"], ...failed: ReadonlyArray<readonly [string, string]>): Listing => ({
  resources,
  failed: failed.map(([group, version]) => ({
    group,
    version,
    error: ApiError.network({ verb: "discover", path: "/apis" }, new Error("no answer"))
  }))
})

const wanted: Monitors.Wanted = {
  verbs: ["delete", "list", "watch"],
  ignored: ["events", "events.events.k8s.io"],
  scope: "Any"
}

const planned = (running: ReadonlyArray<string>, from: Listing) => {
  const { start, stop } = Monitors.plan(
    wanted,
    running.map((id) => resource(id)),
    from
  )
  return { start: start.map(({ id }) => id), stop: stop.map(({ id }) => id) }
}

describe("which kinds are watched", () => {
  it("those that can be listed, watched and deleted, and no events", () => {
    const from = listing([
      resource("v1/pods"),
      resource("v1/events"),
      resource("events.k8s.io/v1/events"),
      resource("shop.example/v1/events"),
      resource("v1/componentstatuses", ["get", "list"]),
      resource("v1/bindings", ["create"])
    ])
    assert.deepStrictEqual(planned([], from), { start: ["v1/pods", "shop.example/v1/events"], stop: [] })
  })

  it("namespaced kinds, where only these are wanted", () => {
    const from = listing([resource("v1/pods"), { ...resource("v1/nodes"), scope: "Cluster" }])
    const found = Monitors.watchable({ ...wanted, scope: "Namespaced" }, from)
    assert.deepStrictEqual(
      found.map(({ id }) => id),
      ["v1/pods"]
    )
  })

  it("new kinds are started, and removed ones are stopped", () => {
    const from = listing([resource("v1/pods"), resource("v1/secrets")])
    assert.deepStrictEqual(planned(["v1/pods", "v1/services"], from), { start: ["v1/secrets"], stop: ["v1/services"] })
  })

  it("an empty discovery changes nothing", () => {
    assert.deepStrictEqual(planned(["v1/pods"], listing([])), { start: [], stop: [] })
    assert.deepStrictEqual(planned(["v1/pods"], listing([resource("v1/bindings", ["create"])])), {
      start: [],
      stop: []
    })
  })

  it("kinds of a version whose discovery failed stay", () => {
    const from = listing([resource("v1/pods"), resource("shop.example/v1beta1/carts")], ["shop.example", "v1"])
    assert.deepStrictEqual(planned(["v1/pods", "shop.example/v1/carts", "shop.example/v1/tills"], from), {
      start: [],
      stop: []
    })
    assert.deepStrictEqual(planned(["other.example/v1/carts"], from).stop, ["other.example/v1/carts"])
  })

  it("a kind that the server prefers in another version moves there", () => {
    const from = listing([resource("shop.example/v2/carts")])
    assert.deepStrictEqual(planned(["shop.example/v1/carts"], from), {
      start: ["shop.example/v2/carts"],
      stop: ["shop.example/v1/carts"]
    })
  })
})
