import { assert, describe, it } from "@effect/vitest"
import * as Codecs from "../../../src/layers/setting/codecs.ts"
import * as Setting from "../../../src/layers/Setting.ts"
import * as Flags from "../../../src/manager/setting/flags.ts"

const setting = (name: string) =>
  Setting.optional(Codecs.text("text"), { name, env: false, group: "command", description: "A setting" })

const settings = { one: setting("one"), two: setting("two"), three: setting("three") }

const built = (argv?: ReadonlyArray<string>) => Object.keys(Flags.of(settings, argv))

describe("flags of settings", () => {
  it("are only those that the arguments name, in the order of the settings", () => {
    assert.deepStrictEqual(built(["--two=x", "value", "--one", "y"]), ["one", "two"])
    assert.deepStrictEqual(built(["--two", "--two=x"]), ["two"])
    assert.deepStrictEqual(built([]), [])
  })

  it("are all where an argument is no flag of these settings", () => {
    for (const argv of [["--on", "--two"], ["--help"], ["-h"], ["--no-two"], ["--completions=bash"], ["--", "x"]])
      assert.deepStrictEqual(built(argv), ["one", "two", "three"], argv.join(" "))
  })

  it("are all without arguments to read", () => {
    assert.deepStrictEqual(built(), ["one", "two", "three"])
  })
})
