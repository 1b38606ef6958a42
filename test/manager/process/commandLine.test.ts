import { assert, describe, it } from "@effect/vitest"
import * as CliError from "effect/cli/CliError"
import { oneLine } from "../../../src/kube/printable.ts"
import { explain, normalize } from "../../../src/manager/process/commandLine.ts"
import { settings } from "../../support/controllers.ts"

describe("the command line", () => {
  it("takes flags in Go's spelling, and leaves the rest alone", () => {
    const spelled = [
      "-leader-elect",
      "-controllers=*,-pod-count",
      "--concurrent_rc_syncs=5",
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
      "-h",
      "--cluster",
      "embedded",
      "some_file",
      "-",
      "--",
      "-1s"
    ])
  })

  it("accepts the aliases of flags", () =>
    assert.deepStrictEqual(
      normalize(["--enable-leader-election", "-metrics_addr=:8080", "--other"], {
        ...settings,
        metrics: { ...settings.clusterName, name: "metrics-bind-address", aliases: ["metrics-addr"] }
      }),
      ["--leader-elect", "--metrics-bind-address=:8080", "--other"]
    ))

  it("a flag with a value takes an argument that begins with a dash, unless that is a flag", () => {
    for (const [given, expected] of [
      [["--controllers", "-pod-count"], ["--controllers=-pod-count"]],
      [
        ["-controllers", "-pod-count,*", "-dry-run"],
        ["--controllers=-pod-count,*", "--dry-run"]
      ],
      [["--kube-api-qps", "-1"], ["--kube-api-qps=-1"]],
      [
        ["--context", "-leader-elect"],
        ["--context", "--leader-elect"]
      ],
      [
        ["--context", "--cluster"],
        ["--context", "--cluster"]
      ],
      [
        ["--context", "-h"],
        ["--context", "-h"]
      ],
      [
        ["--context=x", "-y"],
        ["--context=x", "-y"]
      ],
      [
        ["--leader-elect", "-yes"],
        ["--leader-elect", "--yes"]
      ],
      [["--context"], ["--context"]]
    ] as const) {
      assert.deepStrictEqual(normalize(given, settings), expected)
    }
  })

  it("-v with a number is the verbosity, and alone the version", () => {
    assert.deepStrictEqual(normalize(["-v"]), ["--version"])
    assert.deepStrictEqual(normalize(["-v=4"]), ["--v=4"])
    assert.deepStrictEqual(normalize(["-v", "4"]), ["--v", "4"])
    assert.deepStrictEqual(normalize(["-v", "--x"]), ["--version", "--x"])
  })

  it("leaves alone what follows two dashes", () =>
    assert.deepStrictEqual(normalize(["-x-y", "--", "-x-y", "-v"]), ["--x-y", "--", "-x-y", "-v"]))

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
