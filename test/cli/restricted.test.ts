/** Which controllers run if only some namespaces are watched, and the sentence about the others. */
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { table } from "../support/controllers.ts"
import { restricted, sentence } from "../../src/cli/selection.ts"
import * as Registry from "../../src/manager/registry.ts"

const whole = [
  "serviceaccount",
  "root-ca-cert-publisher",
  "namespace",
  "resourcequota",
  "garbagecollector",
  "podgc",
  "nodelifecycle",
  "taint-eviction",
  "legacy-serviceaccount-token-cleaner"
]

const chosen = (patterns: ReadonlyArray<string>, by: string | undefined, embedded = true): ReadonlyArray<string> =>
  Result.match(
    Result.flatMap(restricted(table, patterns, by), (entries) => Registry.select(entries, patterns, { embedded })),
    {
      onFailure: ({ message }) => [message],
      onSuccess: (selection) => selection.chosen.map(({ controller }) => controller.name)
    }
  )

describe("with some namespaces", () => {
  it("controllers that act on missing objects are off, the others run", () => {
    const all = chosen(["*"], undefined)
    assert.includeMembers(Array.from(all), whole)
    assert.deepStrictEqual(
      chosen(["*"], "WATCH_NAMESPACE"),
      all.filter((name) => !whole.includes(name))
    )
    assert.deepStrictEqual(chosen(["*", "-garbagecollector"], "WATCH_NAMESPACE"), chosen(["*"], "WATCH_NAMESPACE"))
    assert.deepStrictEqual(chosen(["deployment", "replicaset"], "WATCH_NAMESPACE", false), ["deployment", "replicaset"])
  })

  for (const name of [...whole, "garbage-collector-controller"]) {
    it(`asking for ${name} is an error`, () =>
      assert.match(
        chosen(["*", name], "--watch-namespaces")[0] ?? "",
        /^"[\w-]+" needs all namespaces and cannot work with --watch-namespaces: leave one of them out$/
      ))
  }

  it("one sentence names the controllers that stay off; there is none if all namespaces are watched", () => {
    assert.strictEqual(
      sentence(table, "WATCH_NAMESPACE"),
      `Only some namespaces are watched (WATCH_NAMESPACE): ${whole.map((name) => `"${name}"`).join(", ")} need all of them and stay off`
    )
    assert.isUndefined(sentence(table, undefined))
    assert.match(
      sentence(
        table.filter(({ controller }) => controller.name === "serviceaccount"),
        "x"
      ) ?? "",
      /"serviceaccount" needs all of them and stays off$/
    )
  })
})
