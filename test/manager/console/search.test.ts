/** The search of the console, over stores. */
import { assert, describe, it } from "@effect/vitest"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { Deployment, Node, Pod } from "../../../src/kube/resources.ts"
import type { Held } from "../../../src/layers/Inspection.ts"
import * as Search from "../../../src/manager/console/search.ts"
import { storeOf } from "../../support/stores.ts"

const named = (namespace: string | undefined, name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Any",
  metadata: {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid: `${namespace}/${name}`,
    resourceVersion: "1"
  }
})

const held: ReadonlyArray<Held> = [
  { resource: Pod, store: storeOf([named("default", "web-1"), named("shop", "web-2"), named("shop", "pods")]) },
  // The same objects in another form are found once.
  { resource: Resource.metadataOnly(Pod), store: storeOf([named("default", "web-1")]) },
  { resource: Deployment, store: storeOf([named("default", "web"), named("shop", "my-web")]) },
  { resource: Node, store: storeOf([named(undefined, "web-node")]) }
]

const found = (text: string): ReadonlyArray<string> =>
  Search.search(held, text).found.map(({ key, resource }) => `${resource} ${key}`)

describe("the search of the console", () => {
  for (const [text, expected] of [
    [
      "web",
      [
        "deployments.apps default/web",
        "pods default/web-1",
        "pods shop/web-2",
        "nodes web-node",
        "deployments.apps shop/my-web"
      ]
    ],
    ["WEB-1", ["pods default/web-1"]],
    ["pod/shop/web", ["pods shop/web-2"]],
    ["po/web-2", ["pods shop/web-2"]],
    ["Deployment/default/web", ["deployments.apps default/web"]],
    ["Deployment default/web", ["deployments.apps default/web"]],
    ["po  web-2", ["pods shop/web-2"]],
    ["deployments.apps/shop", ["deployments.apps shop/my-web"]],
    ["deploy/", ["deployments.apps default/web", "deployments.apps shop/my-web"]],
    ["no", ["nodes web-node"]],
    ["shop/web", ["pods shop/web-2"]],
    ["pods", ["pods shop/pods", "pods default/web-1", "pods shop/web-2"]],
    ["", []],
    ["   ", []],
    ["nothing/like/this", []],
    ["constructor", []],
    ["a".repeat(600), []]
  ] as const) {
    it(`${JSON.stringify(text.slice(0, 30))} finds ${expected.length === 0 ? "nothing" : expected.join(", ")}`, () => {
      assert.deepStrictEqual([...found(text)].sort(), [...expected].sort())
    })
  }

  it("has exact names first, then beginnings, then parts", () => {
    assert.deepStrictEqual(found("web").slice(0, 1), ["deployments.apps default/web"])
    assert.deepStrictEqual(found("web").at(-1), "deployments.apps shop/my-web")
    assert.deepStrictEqual(found("pods")[0], "pods shop/pods")
  })

  it("is bounded in its results and in the keys that it compares", () => {
    const many = Array.from({ length: 1000 }, (_, index) => named("default", `pod-${index}`))
    const results = Search.search([{ resource: Pod, store: storeOf(many) }], "pod-").found
    assert.lengthOf(results, Search.limits.found)
    let read = 0
    const endless = { ...storeOf<KubeObject>([]), keys: () => Array.from({ length: 150_000 }, () => `a/${read++}`) }
    assert.lengthOf(
      Search.search(
        Array.from({ length: 10 }, () => ({ resource: Pod, store: endless })),
        "zzz"
      ).found,
      0
    )
    assert.strictEqual(read, 300_000)
  })
})
