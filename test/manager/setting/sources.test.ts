/** From the sources to the values in force. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Setting from "../../../src/layers/Setting.ts"
import * as Codecs from "../../../src/layers/setting/codecs.ts"
import { resolve, type Sources, written } from "../../../src/manager/setting/sources.ts"

const settings = {
  period: Setting.make(Codecs.duration, {
    name: "sync-period",
    aliases: ["min-resync-period"],
    group: "cache",
    description: "a period",
    default: "10h"
  }),
  namespace: Setting.optional(Codecs.text("name"), {
    name: "namespace",
    env: "WATCH_NAMESPACE",
    group: "cache",
    description: "a namespace"
  }),
  mode: Setting.make(Codecs.choice(["independent", "strict"]), {
    name: "mode",
    env: false,
    group: "cache",
    description: "a mode",
    default: "strict"
  }),
  token: Setting.optional(Codecs.redacted("token"), {
    name: "token",
    group: "cluster",
    description: "a token",
    secret: true
  })
}

const from = (sources: Partial<{ flags: Record<string, string>; env: Sources["env"]; file: Record<string, string> }>) =>
  resolve(settings, {
    flags: new Map(Object.entries(sources.flags ?? {})),
    env: sources.env ?? {},
    file: sources.file === undefined ? undefined : { path: "m.yaml", entries: Object.entries(sources.file) }
  })

const said = (sources: Parameters<typeof from>[0]) =>
  Result.match(from(sources), {
    onSuccess: ({ origins, values }) =>
      `${Duration.format(values.period)} from ${origins.period._tag}, ${Option.getOrElse(values.namespace, () => "all")}`,
    onFailure: (error) => error.message
  })

describe("settings", () => {
  it("are their defaults without any source", () => assert.strictEqual(said({}), "10h from Default, all"))

  it("an empty variable counts as not set, and an empty text as no value", () =>
    assert.strictEqual(
      said({ env: { CM_SYNC_PERIOD: "" }, flags: { namespace: "" }, file: { namespace: "x" } }),
      "10h from Default, all"
    ))

  it("a name in the file may have underscores or be an alias", () => {
    assert.strictEqual(said({ file: { sync_period: "1m" } }), "1m from File, all")
    assert.strictEqual(said({ file: { min_resync_period: "1m" } }), "1m from File, all")
  })

  const source = Schema.Literals(["flag", "variable", "file"])

  it.prop(
    "the flag takes precedence over the variable, and the variable over the file",
    [Schema.Array(source)],
    ([given]) => {
      const text = { flag: "1s", variable: "2s", file: "3s" }
      const expected = (["flag", "variable", "file"] as const).find((one) => given.includes(one))
      const result = from({
        flags: given.includes("flag") ? { "sync-period": text.flag } : {},
        env: given.includes("variable") ? { CM_SYNC_PERIOD: text.variable } : {},
        file: given.includes("file") ? { "sync-period": text.file } : {}
      })
      assert.isTrue(Result.isSuccess(result))
      if (Result.isSuccess(result)) {
        const { values } = result.success
        assert.strictEqual(Duration.format(values.period), expected === undefined ? "10h" : text[expected])
      }
    }
  )

  for (const [title, sources, line] of [
    [
      "a flag",
      { flags: { "sync-period": "ten" } },
      "--sync-period does not take \"ten\": it must be a duration like 10s, 1m30s or '90 seconds'"
    ],
    ["a flag without a value", { flags: { "sync-period": "" } }, /^--sync-period needs a value: a duration/],
    ["a variable", { env: { CM_SYNC_PERIOD: "ten" } }, /^CM_SYNC_PERIOD does not take "ten": it must be a duration/],
    [
      "an entry",
      { file: { "sync-period": "ten" } },
      /^"sync-period" in m.yaml does not take "ten": it must be a duration/
    ],
    ["a word", { flags: { mode: "strikt" } }, /^--mode does not take "strikt": .*: did you mean "strict"\?$/],
    [
      "a key",
      { file: { "sink-period": "1s" } },
      'configuration file m.yaml: unknown key "sink-period": did you mean "sync-period"?'
    ],
    ["a key like no other", { file: { x: "1" } }, 'configuration file m.yaml: unknown key "x"'],
    [
      "a setting under two names",
      { file: { "sync-period": "1s", "min-resync-period": "2s" } },
      'configuration file m.yaml: "sync-period" and "min-resync-period" are the same setting; keep one of them'
    ]
  ] as const) {
    it(`${title} that is invalid is an error that quotes it as it was written`, () => {
      if (typeof line === "string") assert.strictEqual(said(sources), line)
      else assert.match(said(sources), line)
    })
  }

  it("a setting without a variable is not read from the environment", () =>
    assert.isTrue(Result.isSuccess(from({ env: { CM_MODE: "nonsense" } }))))

  it("the value of a secret is not shown", () => {
    const result = from({ env: { CM_TOKEN: "abc" } })
    assert.isTrue(Result.isSuccess(result))
    if (Result.isSuccess(result)) {
      assert.strictEqual(Option.getOrUndefined(Option.map(result.success.values.token, Redacted.value)), "abc")
      assert.notInclude(JSON.stringify(result.success), "abc")
      assert.deepStrictEqual(
        result.success.effective.find(({ name }) => name === "token"),
        { name: "token", text: "<redacted>", origin: { _tag: "Environment", name: "CM_TOKEN" } }
      )
    }
  })

  it("an origin is written as the user wrote it", () => {
    assert.strictEqual(written({ _tag: "Flag", name: "--x" }), "--x")
    assert.strictEqual(written({ _tag: "File", name: "x", path: "m.yaml" }), '"x" in m.yaml')
  })
})
