import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import type { Gate } from "../../src/layers/Setting.ts"
import { parse } from "../../src/manager/gates.ts"

const registry: ReadonlyArray<Gate> = [
  { name: "NewQueue", stage: "ALPHA", byDefault: false, summary: "" },
  { name: "WarmStart", stage: "BETA", byDefault: true, summary: "" },
  { name: "QuietWatch", stage: "BETA", byDefault: false, summary: "" },
  { name: "Settled", stage: "GA", byDefault: true, isLocked: true, summary: "" },
  { name: "Leaving", stage: "DEPRECATED", byDefault: true, summary: "" }
]

/** The names of the gates that are on, or the error. */
const on = (text: string) =>
  Result.match(parse(registry, text), {
    onSuccess: (gates) => [...gates].flatMap(([name, value]) => (value ? [name] : [])).join(" "),
    onFailure: (why) => why
  })

describe("feature gates", () => {
  for (const [text, expected] of [
    ["", "WarmStart Settled Leaving"],
    ["NewQueue=true", "NewQueue WarmStart Settled Leaving"],
    ["NewQueue=true,WarmStart=false", "NewQueue Settled Leaving"],
    [" NewQueue=TRUE , WarmStart=f ,", "NewQueue Settled Leaving"],
    ["AllAlpha=true", "NewQueue WarmStart Settled Leaving"],
    ["AllBeta=true", "WarmStart QuietWatch Settled Leaving"],
    ["AllBeta=false", "Settled Leaving"],
    ["AllAlpha=true,AllBeta=true", "NewQueue WarmStart QuietWatch Settled Leaving"],
    ["AllBeta=false,WarmStart=true", "WarmStart Settled Leaving"],
    ["WarmStart=true,AllBeta=false", "WarmStart Settled Leaving"],
    ["Settled=true,Leaving=false", "WarmStart Settled"],
    ["NewQueue=true,NewQueue=true", "NewQueue WarmStart Settled Leaving"],
    ["NewQueue", '"NewQueue" must be Name=true or Name=false'],
    ["NewQueue=", '"NewQueue=" must be Name=true or Name=false'],
    ["NewQueue=maybe", '"NewQueue=maybe" must be Name=true or Name=false'],
    ["NewQueue=true=false", '"NewQueue=true=false" must be Name=true or Name=false'],
    ["NewQueu=true", 'there is no feature gate "NewQueu": did you mean NewQueue?'],
    [
      "Alpha=true",
      'there is no feature gate "Alpha"; there are: NewQueue, WarmStart, QuietWatch, Settled, Leaving, AllAlpha, AllBeta'
    ],
    ["Settled=false", "Settled is GA and cannot be set to false any more"],
    ["NewQueue=true,NewQueue=false", "NewQueue is both true and false"]
  ] as const) {
    it(`reads "${text}"`, () => assert.strictEqual(on(text), expected))
  }
})
