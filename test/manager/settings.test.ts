/** Rules for the settings of all groups together. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Setting } from "../../src/layers/Setting.ts"
import { resolve } from "../../src/manager/setting/sources.ts"
import { contradiction } from "../../src/manager/settings.ts"
import { settings } from "../support/controllers.ts"
import { loops } from "../../src/manager/settings/controllers.ts"
import { optionsOf } from "../../src/manager/settings/logs.ts"

const all: ReadonlyArray<Setting<unknown>> = Object.values(settings)

const from = (flags: Record<string, string>, env: Record<string, string> = {}, file: Record<string, string> = {}) =>
  Result.getOrThrow(
    resolve(settings, {
      flags: new Map(Object.entries(flags)),
      env,
      file: { path: "m.yaml", entries: Object.entries(file) }
    })
  )

describe("the settings", () => {
  it("have unique names, aliases and variables", () => {
    const names = all.flatMap((setting) => [setting.name, ...setting.aliases])
    assert.strictEqual(new Set(names).size, names.length)
    const variables = all.flatMap((setting) => setting.env ?? [])
    assert.strictEqual(new Set(variables).size, variables.length)
  })

  for (const setting of all) {
    it(`${setting.name} has a default that can be read, and a sentence`, () => {
      assert.isTrue(Option.isSome(setting.read(undefined)))
      assert.match(setting.name, /^[a-z][a-z0-9-]*$/)
      assert.match(setting.description, /^[A-Z].*[^.]$/)
      if (setting.isSecret) assert.isUndefined(setting.default)
    })
  }

  it.prop("accept or reject any text, without a defect", [Schema.String], ([text]) => {
    for (const setting of all) assert.isTrue(Option.isOption(setting.read(text)), setting.name)
  })

  it("that contradict each other are an error", () => {
    assert.strictEqual(
      contradiction(from({ cluster: "embedded", context: "x" })),
      "--context means nothing with --cluster embedded: leave one of them out"
    )
    assert.strictEqual(
      contradiction(from({ kubeconfig: "x" }, { CM_CLUSTER: "in-cluster" })),
      "--kubeconfig means nothing with CM_CLUSTER in-cluster: leave one of them out"
    )
    for (const [name, value] of [
      ["nodes", "5"],
      ["demo", "shop"]
    ] as const)
      assert.strictEqual(
        contradiction(from({ cluster: "in-cluster", [name]: value })),
        `--${name} means nothing with --cluster in-cluster: leave one of them out`
      )
    assert.strictEqual(
      contradiction(from({}, {}, { cluster: "kubeconfig", "embedded-port": "1" })),
      '"embedded-port" in m.yaml means nothing with "cluster" in m.yaml kubeconfig: leave one of them out'
    )
  })

  it("the webhooks' certificate comes from one place, and so do the authorities of their clients", () => {
    assert.strictEqual(
      contradiction(from({ "webhook-cert-path": "/certs" }, { CM_WEBHOOK_SELF_SIGNED: "true" })),
      "--webhook-cert-path and CM_WEBHOOK_SELF_SIGNED cannot both say where the webhooks' certificate comes from: leave one of them out"
    )
    assert.strictEqual(
      contradiction(from({ "webhook-client-ca-name": "ca.crt" })),
      "--webhook-client-ca-name is a file in the directory of --webhook-cert-path, which was not said"
    )
    assert.isUndefined(contradiction(from({ "webhook-client-ca-name": "ca.crt", "webhook-cert-path": "/certs" })))
  })

  it("a delay after failures must not start above its maximum", () => {
    assert.strictEqual(
      contradiction(from({ "reconcile-backoff-base": "2m" }, { CM_RECONCILE_BACKOFF_MAX: "1m" })),
      "--reconcile-backoff-base (2m) must not be longer than CM_RECONCILE_BACKOFF_MAX (1m)"
    )
    assert.match(
      contradiction(from({ "reconcile-backoff-base": "1h" })) ?? "",
      /longer than reconcile-backoff-max \(16m 40s\)$/
    )
    assert.isUndefined(contradiction(from({ "reconcile-backoff-base": "1m", "reconcile-backoff-max": "1m" })))
  })

  it("reject two settings for the namespaces, and two for the resync period", () => {
    assert.strictEqual(
      contradiction(from({ "watch-namespaces": "a" }, { WATCH_NAMESPACE_SELECTOR: "x=y" })),
      "--watch-namespaces and WATCH_NAMESPACE_SELECTOR cannot both say which namespaces are meant: leave one of them out"
    )
    assert.isUndefined(contradiction(from({ "watch-namespaces": "" }, { WATCH_NAMESPACE_SELECTOR: "x=y" })))
    assert.isUndefined(contradiction(from({ "watch-namespace-selector": "" }, { WATCH_NAMESPACE: "a" })))
    assert.strictEqual(
      contradiction(from({ "min-resync-period": "12h" }, {}, { "sync-period": "1h" })),
      '"sync-period" in m.yaml and --min-resync-period cannot both say when to look again: leave one of them out'
    )
    assert.isUndefined(contradiction(from({ "min-resync-period": "12h" })))
  })

  it("of the shutdown timeout: zero means none, and a negative value no limit", () => {
    const timeout = (text: string) => from({ "graceful-shutdown-timeout": text }).values.shutdownTimeout
    assert.deepStrictEqual(timeout("0"), Duration.zero)
    assert.deepStrictEqual(timeout("1m30s"), Duration.seconds(90))
    for (const text of ["-1", "-1s", "-30 seconds"]) assert.deepStrictEqual(timeout(text), Duration.infinity)
    for (const text of ["-", "-0s", "-x", "30", "--1s"]) assert.throws(() => timeout(text))
  })

  it("of controllers: zero means none", () => {
    assert.deepStrictEqual(loops(from({}).values), {
      concurrency: 1,
      concurrencyOf: new Map(),
      prioritizes: true,
      recoversDefects: true,
      aging: undefined,
      timeout: Duration.minutes(5),
      backoff: { base: Duration.millis(5), max: Duration.seconds(1000) },
      retries: undefined
    })
    const { retries, timeout } = loops(from({ "reconciliation-timeout": "0", "max-retries": "3" }).values)
    assert.deepStrictEqual([timeout, retries], ["none", 3])
  })

  it("a number of shards needs sharding", () => {
    assert.strictEqual(
      contradiction(from({}, { CM_SHARDS: "8" })),
      "CM_SHARDS means nothing without --sharding: leave it out or add --sharding"
    )
    assert.isUndefined(contradiction(from({ sharding: "true", shards: "8" })))
    for (const text of ["0", "1025", "x"]) assert.throws(() => from({ sharding: "true", shards: text }))
  })

  it("may be overridden by a stronger source that sets a conflicting one", () => {
    assert.isUndefined(contradiction(from({ cluster: "embedded" }, {}, { cluster: "kubeconfig", kubeconfig: "x" })))
    assert.isUndefined(contradiction(from({ cluster: "embedded" }, { KUBECONFIG: "x" })))
    assert.isUndefined(contradiction(from({ kubeconfig: "x", "embedded-port": "1", nodes: "5", demo: "shop" })))
  })

  it("of verbosity are level names or numbers", () => {
    const level = (flags: Record<string, string>) => optionsOf(from(flags)).level
    assert.strictEqual(level({}), "Info")
    assert.strictEqual(level({ v: "4" }), "Debug")
    assert.strictEqual(level({ v: "6", "zap-log-level": "error" }), "Trace")
    assert.strictEqual(level({ "zap-log-level": "panic" }), "Fatal")
    assert.strictEqual(level({ "zap-log-level": "3" }), "Debug")
    assert.strictEqual(level({ "zap-devel": "true", "zap-log-level": "info" }), "Info")
    assert.isTrue(Option.isNone(settings.logLevel.read("toString")))
    assert.isTrue(Option.isNone(settings.logLevel.read("0")))
  })

  it("of logs depend on the cluster and on development mode, unless they are set", () => {
    const options = (flags: Record<string, string>) => optionsOf(from(flags))
    assert.deepStrictEqual(options({}), {
      level: "Info",
      form: undefined,
      isSampled: true,
      stacktraceLevel: "Error",
      time: undefined
    })
    assert.deepStrictEqual(options({ "zap-devel": "true" }), {
      level: "Debug",
      form: "console",
      isSampled: false,
      stacktraceLevel: "Warn",
      time: undefined
    })
    const given = { "zap-encoder": "json", "zap-stacktrace-level": "panic", "zap-time-encoding": "epoch" }
    for (const devel of ["false", "true"]) {
      const { form, stacktraceLevel, time } = options({ "zap-devel": devel, ...given })
      assert.deepStrictEqual([form, stacktraceLevel, time], ["json", "Fatal", "epoch"])
    }
  })
})
