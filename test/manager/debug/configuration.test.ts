/** `/configz` shows the settings in force: parsed again as settings, it gives the values that the program runs with. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { configuration } from "../../../src/manager/debug/pages.ts"
import * as Level from "../../../src/manager/logs/level.ts"
import * as Setting from "../../../src/layers/Setting.ts"
import * as Codecs from "../../../src/layers/setting/codecs.ts"
import { resolve, type Sources } from "../../../src/manager/setting/sources.ts"
import { settings } from "../../support/controllers.ts"
import { runs } from "../../support/runs.ts"
import { asked, pagesOf, read } from "./asking.ts"

/** Texts that differ from the defaults, of settings of many kinds. */
const texts = {
  "watch-list": "never",
  "leader-elect": "true",
  "metrics-bind-address": "127.0.0.1:9090",
  "reconciliation-timeout": "1m30s",
  controllers: "*,-pod-count",
  context: "west",
  "kube-api-qps": "2.5",
  "pprof-bind-address": "6060"
} as const

type Name = keyof typeof texts
const names = Object.keys(texts) as unknown as readonly [Name, ...Array<Name>]
const some = Schema.Array(Schema.Literals(names)).pipe(Schema.check(Schema.isMaxLength(5)))

const sources = (flags: ReadonlyArray<Name>, env: ReadonlyArray<Name>, file: ReadonlyArray<Name>): Sources => ({
  flags: new Map(flags.map((name) => [name, texts[name]])),
  env: Object.fromEntries(env.map((name) => [Setting.environmentName(name), texts[name]])),
  file: { path: "m.yaml", entries: [...new Set(file)].map((name) => [name, texts[name]]) }
})

const now = { logLevel: "Info" }

describe("/configz", () => {
  it.prop(
    "shows the values in force and their origins",
    [some, some, some],
    ([flags, env, file]) => {
      const resolved = Result.getOrThrow(resolve(settings, sources(flags, env, file)))
      const shown = configuration(resolved.effective, now).settings
      assert.sameMembers(
        Object.keys(shown),
        Object.values(settings).map(({ name }) => name)
      )
      for (const [property, setting] of Object.entries(settings)) {
        const entry = shown[setting.name]
        const text = entry === undefined || entry.value === "" ? undefined : entry.value
        const again = Option.getOrUndefined<unknown>(setting.read(text))
        assert.isTrue(Equal.equals(again, resolved.values[property as keyof typeof resolved.values]), setting.name)
      }
      for (const name of names) {
        const said = flags.includes(name)
          ? `flag --${name}`
          : env.includes(name)
            ? `environment ${Setting.environmentName(name)}`
            : file.includes(name)
              ? "file m.yaml"
              : "default"
        assert.strictEqual(shown[name]?.origin, said)
      }
    },
    { arbitrary: { runs: runs(100) } }
  )

  it("hides secrets from all sources", () => {
    const secret = {
      token: Setting.optional(Codecs.redacted("token"), {
        name: "token",
        group: "cluster",
        description: "a token",
        secret: true
      })
    }
    for (const from of [
      { flags: new Map([["token", "hush"]]), env: {} },
      { flags: new Map(), env: { CM_TOKEN: "hush" } }
    ] as const) {
      const { effective } = Result.getOrThrow(resolve(secret, from))
      const text = JSON.stringify(configuration(effective, now))
      assert.notInclude(text, "hush")
      assert.include(text, "<redacted>")
    }
  })

  it.effect(
    "/configz shows the present log level, which a PUT of a valid level changes and an invalid one does not",
    () =>
      Effect.gen(function* () {
        const handle = yield* pagesOf()
        const level = Effect.map(read(handle, "/configz"), (page) => (page as { readonly now: object }).now)
        const put = (body: string) => asked(handle, "/debug/flags/v", { method: "PUT", body })
        assert.deepStrictEqual(yield* level, { logLevel: "Info" })
        assert.deepInclude(yield* put("6"), { status: 200, text: "The log level was Info and is Trace\n" })
        assert.deepStrictEqual(yield* level, { logLevel: "Trace" })
        assert.strictEqual((yield* put(" warn\n")).status, 200)
        for (const nonsense of ["", "loud", "-1", "1e3"]) {
          const { status, text } = yield* put(nonsense)
          assert.strictEqual(status, 400)
          assert.match(text, /^there is no log level/)
        }
        assert.strictEqual((yield* put("too long")).status, 413)
        assert.deepStrictEqual(yield* level, { logLevel: "Warn" })
      }).pipe(Effect.provideService(Level.Current, new Level.MinimumLevel("Info")))
  )
})
