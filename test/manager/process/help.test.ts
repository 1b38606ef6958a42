import { assert, describe as suite, it } from "@effect/vitest"
import * as Context from "effect/Context"
import type * as HelpDoc from "effect/cli/HelpDoc"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { describe, render } from "../../../src/manager/process/help.ts"
import type { Entry } from "../../../src/manager/registry.ts"
import * as Setting from "../../../src/layers/Setting.ts"
import * as Codecs from "../../../src/layers/setting/codecs.ts"

const settings = {
  elect: Setting.make(Codecs.boolean, {
    name: "elect",
    aliases: ["enable-election"],
    group: "leadership",
    description: "Lead",
    default: "false"
  }),
  mode: Setting.make(Codecs.choice(["a", "b"]), {
    name: "mode",
    env: "MODE",
    group: "cluster",
    description: "A mode",
    default: "a"
  })
}

const doc = (description: string): HelpDoc.HelpDoc => ({
  description,
  usage: "manager [flags]",
  flags: ["elect", "mode"].map((name) => ({
    name,
    aliases: [],
    type: "boolean",
    description: Option.none(),
    required: false
  })),
  globalFlags: [
    {
      name: "completions",
      aliases: [],
      type: "<bash|zsh>",
      description: Option.some("Print it (choices: bash, zsh)"),
      required: false
    }
  ],
  annotations: Context.empty()
})

const entry = (name: string, byDefault: Entry["byDefault"]): Entry => ({
  controller: { name, access: [], reads: [], needsLeader: true, layer: Layer.empty },
  byDefault,
  summary: `does ${name}`
})

suite("--help", () => {
  it("has the flags under their headings, in columns, and the rest of the description last", () =>
    assert.strictEqual(
      render(doc("Does things.\n\nAnd more."), settings),
      [
        "Does things.",
        "Usage: manager [flags]",
        "Cluster:\n  --mode a|b              A mode (or MODE; default a)",
        "Leader election:\n  --elect                 Lead (also --enable-election; default false)",
        "General:\n  --completions bash|zsh  Print it",
        "And more."
      ].join("\n\n")
    ))

  it("lists the controllers by when they run, and the feature gates", () => {
    const text = describe(
      "Does things.",
      [entry("one", "on"), entry("longer", "on"), entry("two", "embedded")],
      [{ name: "A", stage: "BETA", byDefault: true, summary: "is a gate" }]
    )
    assert.include(text, "that are on by default:\n  one     does one\n  longer  does longer\n")
    assert.match(text, /embedded cluster only;[^:]*:\n {2}two {2}does two\n/)
    assert.include(text, "that are off by default:\n  none\n")
    assert.include(text, "Feature gates:\n  A=true (BETA)  is a gate\n")
  })
})
