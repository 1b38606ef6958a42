/** Controllers that are made from settings of their own. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Deployment } from "../../src/kube/resources.ts"
import * as Controller from "../../src/layers/Controller.ts"
import * as Setting from "../../src/layers/Setting.ts"
import * as Codecs from "../../src/layers/setting/codecs.ts"
import * as Program from "../../src/manager/Program.ts"
import * as Registry from "../../src/manager/registry.ts"
import * as Sources from "../../src/manager/setting/sources.ts"
import { checkProperty } from "../support/property.ts"

const settings = {
  concurrency: Setting.concurrency("concurrent-greetings", 7, "Greetings"),
  word: Setting.make(Codecs.text("word"), {
    name: "word",
    group: "tuning",
    description: "What is said",
    default: "hello"
  }),
  isLoud: Setting.gate({ name: "Loud", stage: "BETA", byDefault: false, summary: "In capitals" })
}

type Values = Setting.Values<typeof settings>

const controller = (name: string) => Controller.make({ name, for: Deployment, reconcile: () => Effect.void })

/** The summary of the entry shows the values. */
const greeter = (name: string, own: Partial<typeof settings> = {}) =>
  Registry.configured({ settings: { ...settings, ...own }, make: () => controller(name) }, (values: Values) => ({
    byDefault: "on",
    summary: JSON.stringify(values)
  }))

const programOf = (...controllers: ReadonlyArray<Registry.Configured>) =>
  Program.make({ name: "greeters", controllers })

const refusal = (...controllers: ReadonlyArray<Registry.Configured>) =>
  Result.match(programOf(...controllers), { onFailure: ({ message }) => message, onSuccess: () => "accepted" })

/** The values that a controller is made with. */
const values = (flags: Readonly<Record<string, string>>): Values => {
  const program = Result.getOrThrow(programOf(greeter("greeter")))
  const resolved = Sources.resolve(program.settings, { flags: new Map(Object.entries(flags)), env: {} })
  return JSON.parse(program.table(Result.getOrThrow(resolved))[0]?.summary ?? "")
}

describe("a controller with settings", () => {
  it("has the defaults of its settings, and the values of flags and feature gates", () => {
    assert.deepStrictEqual(values({}), { concurrency: 7, word: "hello", isLoud: false })
    assert.deepStrictEqual(values({ "concurrent-greetings": "2", word: "good day", "feature-gates": "Loud=true" }), {
      concurrency: 2,
      word: "good day",
      isLoud: true
    })
    assert.isTrue(values({ "feature-gates": "AllBeta=true" }).isLoud)
  })

  it("adds its settings to the program, the feature gates to those of every program", () => {
    const program = Result.getOrThrow(programOf(greeter("greeter")))
    for (const record of [program.settings, program.manifests] as ReadonlyArray<Setting.Settings>) {
      const names = Object.values(record).map(({ name }) => name)
      assert.includeMembers(names, ["concurrent-greetings", "word"])
      assert.notInclude(names, "Loud")
    }
    assert.includeMembers(
      program.gates.map(({ name }) => name),
      ["Loud", "RenewalThread"]
    )
  })

  it("may share them with another, and may not declare one again", () => {
    assert.strictEqual(refusal(greeter("a"), greeter("b")), "accepted")
    const { word, isLoud } = settings
    assert.match(refusal(greeter("a"), greeter("b", { word: { ...word } })), /^the setting "word" is declared twice/)
    assert.match(
      refusal(greeter("a"), greeter("b", { isLoud: Setting.gate({ ...isLoud.gate!, name: "Loud" }) })),
      /^the feature gate "Loud"/
    )
    assert.match(refusal(greeter("a", { word: { ...word, name: "leader-elect" } })), /is one that every program has/)
  })

  it("is made with defaults where no value is given", () => {
    assert.deepStrictEqual(Setting.complete(settings, { word: "good day", concurrency: undefined }), {
      concurrency: 7,
      word: "good day",
      isLoud: false
    })
  })
})

/** A value for some of the settings of concurrency. */
const said = Arbitrary.schema(
  Schema.Struct({
    own: Schema.UndefinedOr(Schema.Literals([1, 2])),
    kind: Schema.UndefinedOr(Schema.Literals([3, 4])),
    all: Schema.UndefinedOr(Schema.Literals([5, 6]))
  })
)

checkProperty(
  "the concurrency comes from the controller's flag, its kind, the setting for all, or its default, in this order",
  said,
  ({ all, kind, own }) => {
    const flags = {
      ...(own === undefined ? {} : { "concurrent-greetings": String(own) }),
      ...(kind === undefined ? {} : { "group-kind-concurrency": `Deployment.apps=${kind},Pod=9` }),
      ...(all === undefined ? {} : { "max-concurrent-reconciles": String(all) })
    }
    return values(flags).concurrency === (own ?? kind ?? all ?? 7)
  }
)
