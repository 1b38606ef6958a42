import { assert, describe, it } from "@effect/vitest"
import * as CliError from "effect/cli/CliError"
import { explain, normalize, oneLine } from "../../../src/layers/manager/commandLine.ts"

describe("the command line", () => {
  it("takes flags in Go's spelling, and leaves the rest alone", () => {
    const spelled = [
      "-leader-elect",
      "-controllers=*,-pod-count",
      "--concurrent_rc_syncs=5",
      "-v",
      "-h",
      "--cluster",
      "embedded",
      "some_file",
      "-",
      "--",
      "-1s"
    ]
    assert.deepStrictEqual(normalize(spelled), [
      "--leader-elect",
      "--controllers=*,-pod-count",
      "--concurrent-rc-syncs=5",
      "-v",
      "-h",
      "--cluster",
      "embedded",
      "some_file",
      "-",
      "--",
      "-1s"
    ])
  })

  it("says in one line what is wrong with a flag", () => {
    const unknown = (suggestions: ReadonlyArray<string>) =>
      explain(new CliError.UnrecognizedOption({ option: "--x", command: ["manager"], suggestions }))
    assert.strictEqual(unknown([]), "unknown flag --x")
    assert.strictEqual(unknown(["--y"]), "unknown flag --x: did you mean --y?")
    assert.strictEqual(unknown(["--y", "--z"]), "unknown flag --x: did you mean --y or --z?")
    const invalid = (value: string, expected: string) =>
      explain(new CliError.InvalidValue({ option: "x", value, expected, kind: "flag" }))
    assert.strictEqual(invalid("", "file"), "--x needs a value: file")
    assert.strictEqual(invalid("a\nb", 'Expected "c"'), '--x does not take "a b": it must be "c"')
    assert.notInclude(explain(new CliError.UnexpectedArgument({ arguments: ["a\nb"] })), "\n")
  })

  it("keeps a text on one line", () => assert.strictEqual(oneLine(" a\r\n  b \n\n c\n"), "a b c"))
})
