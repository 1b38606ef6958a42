import { assert, describe, it } from "@effect/vitest"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { Descriptor } from "../../src/layers/Controller.ts"
import { check, type Entry, select } from "../../src/manager/registry.ts"

const controller = (name: string): Descriptor => ({
  name,
  access: [],
  reads: [],
  needsLeader: true,
  layer: Layer.empty
})

const table: ReadonlyArray<Entry> = [
  { controller: controller("pod-count"), byDefault: "on", summary: "" },
  {
    controller: controller("deployment"),
    aliases: ["deployment-controller"],
    group: "core",
    byDefault: "embedded",
    summary: ""
  },
  { controller: controller("janitor"), byDefault: "off", summary: "" }
]

const names = (patterns: string, embedded = false) =>
  Result.match(select(table, patterns.split(","), { embedded }), {
    onSuccess: ({ chosen }) => chosen.map((entry) => entry.controller.name),
    onFailure: (error) => error.message
  })

describe("registry", () => {
  it("* is what is on by default", () => {
    assert.deepStrictEqual(names("*"), ["pod-count"])
    assert.deepStrictEqual(names("*", true), ["pod-count", "deployment"])
  })

  it("a name alone is that controller and no other", () => assert.deepStrictEqual(names("janitor"), ["janitor"]))

  it("a minus removes one", () => assert.deepStrictEqual(names("*,-pod-count", true), ["deployment"]))

  it("the first explicit mention wins over the star, wherever it stands", () => {
    assert.deepStrictEqual(names("-pod-count,*,pod-count"), [])
    assert.deepStrictEqual(names("janitor,-janitor,*"), ["pod-count", "janitor"])
  })

  it("an alias is the name it stands for", () => {
    assert.deepStrictEqual(names("*,deployment-controller"), ["pod-count", "deployment"])
    assert.deepStrictEqual(names("*,-deployment-controller", true), ["pod-count"])
    assert.deepStrictEqual(names("-deployment,deployment-controller"), [])
  })

  it("keeps the order of the table", () =>
    assert.deepStrictEqual(names("janitor,deployment,pod-count"), ["pod-count", "deployment", "janitor"]))

  it("lists the disabled ones", () =>
    assert.deepStrictEqual(
      Result.map(select(table, ["*"], { embedded: false }), ({ disabled }) => disabled),
      Result.succeed(["deployment", "janitor"])
    ))

  it("an unknown name is an error that lists the known ones", () => {
    const message = '"nope" is not a controller; there are: pod-count, deployment, janitor'
    assert.strictEqual(names("*,nope"), message)
    assert.strictEqual(names("-nope"), message)
  })

  it("is checked without knowing the cluster", () => {
    assert.deepStrictEqual(check(table, ["*", "-janitor"]), Result.succeed(["pod-count", "deployment", "janitor"]))
    assert.isTrue(Result.isFailure(check(table, ["*", "nope"])))
  })

  it("two controllers of one name are an error", () =>
    assert.deepStrictEqual(
      Result.mapError(select([...table, ...table], ["*"], { embedded: false }), (error) => error.message),
      Result.fail('two controllers are named "pod-count"')
    ))
})
