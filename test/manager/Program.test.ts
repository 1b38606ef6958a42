import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Controller from "../../src/layers/Controller.ts"
import * as Program from "../../src/manager/Program.ts"
import * as Setting from "../../src/layers/Setting.ts"
import * as Codecs from "../../src/layers/setting/codecs.ts"
import * as Sources from "../../src/manager/setting/sources.ts"
import { settings as product } from "../support/controllers.ts"

const hello = Controller.scheduled({
  name: "hello",
  access: [],
  schedule: Schedule.spaced("1 minute"),
  run: () => Effect.void
})

const greeting = Setting.make(Codecs.text("word"), {
  name: "greeting",
  group: "tuning",
  description: "What is said",
  default: "hello"
})

const resolved = (program: Program.Program["Service"], flags: Record<string, string> = {}) =>
  Result.getOrThrow(Sources.resolve(program.settings, { flags: new Map(Object.entries(flags)), env: {} }))

describe("a program", () => {
  it("is the default for the names of its lease, image and manifests", () => {
    const program = Result.getOrThrow(Program.make({ name: "greeter", controllers: [hello] }))
    assert.strictEqual(resolved(program).values.leaseName, "greeter")
    assert.strictEqual(resolved(program, { "leader-elect-resource-name": "mine" }).values.leaseName, "mine")
    const { image, installNamespace } = program.manifests
    assert.deepStrictEqual([image.default, installNamespace.default], ["greeter:latest", "greeter"])
    assert.deepStrictEqual(
      Result.map(Program.make({ name: "greeter", controllers: [] }), ({ version }) => version),
      Result.succeed("0.0.0")
    )
  })

  it("a member without an entry is on by default, and the program lacks the settings of other programs", () => {
    const program = Result.getOrThrow(Program.make({ name: "greeter", controllers: [hello] }))
    assert.deepStrictEqual(
      program.table(resolved(program)).map(({ byDefault, controller }) => [controller.name, byDefault]),
      [["hello", "on"]]
    )
    assert.property(product, "--pod-count-interval")
    assert.notProperty(program.settings, "--pod-count-interval")
  })

  it("creates its controllers from the resolved settings", () => {
    const program = Result.getOrThrow(
      Program.make({
        name: "greeter",
        settings: { greeting },
        controllers: ({ values }) => [{ controller: hello, byDefault: "off", summary: `says ${values.greeting}` }]
      })
    )
    const summaries = (flags: Record<string, string>) =>
      program.table(resolved(program, flags)).map((one) => one.summary)
    assert.deepStrictEqual(summaries({}), ["says hello"])
    assert.deepStrictEqual(summaries({ greeting: "good day" }), ["says good day"])
    assert.property(program.manifests, "greeting")
  })

  it.effect("builds its own services in isolation from those of every program", () =>
    Effect.gen(function* () {
      let built = 0
      const counted = Layer.effectDiscard(Effect.sync(() => void built++))
      const program = Result.getOrThrow(Program.make({ name: "greeter", controllers: [], services: counted }))
      const none = { services: Layer.empty as Layer.Layer<Program.Available> }
      yield* Layer.build(
        program.services(resolved(program, {})).pipe(Layer.provideMerge(counted), Layer.provide(none.services))
      )
      assert.strictEqual(built, 2)
    }).pipe(Effect.scoped)
  )

  const refusals: ReadonlyArray<readonly [string, Program.Options, RegExp]> = [
    ["a name in capitals", { name: "Greeter", controllers: [] }, /^"Greeter" cannot be the name of a program: it must/],
    ["no name", { name: "", controllers: [] }, /^"" cannot be the name/],
    ["a name too long for what is made of it", { name: "g".repeat(51), controllers: [] }, /at most 50/],
    ["a name that ends with a dash", { name: "greeter-", controllers: [] }, /cannot be the name/]
  ]
  for (const [title, options, message] of refusals) {
    it(`refuses ${title}`, () => {
      const made = Program.make(options)
      assert.match(Result.isFailure(made) ? made.failure.message : "accepted", message)
    })
  }

  it("rejects a setting that every program has, under any of its names", () => {
    const named = (name: string, aliases: ReadonlyArray<string> = []) =>
      Setting.make(Codecs.boolean, { name, aliases, group: "tuning", description: "", default: "false" })
    const refusal = (settings: Setting.Settings) =>
      Result.match(Program.make({ name: "greeter", settings, controllers: [] }), {
        onFailure: ({ message }) => message,
        onSuccess: () => "accepted"
      })
    assert.match(refusal({ elect: named("leader-elect") }), /^the setting "leader-elect" is one that every program has/)
    assert.match(refusal({ elect: named("own", ["enable-leader-election"]) }), /^the setting "enable-leader-election"/)
    assert.match(refusal({ image2: named("image") }), /^the setting "image"/)
    assert.match(refusal({ leaderElect: named("own") }), /^the property "leaderElect"/)
    assert.match(refusal({ a: named("own"), b: named("own") }), /^the setting "own"/)
    assert.strictEqual(refusal({ a: named("own") }), "accepted")
  })
})
