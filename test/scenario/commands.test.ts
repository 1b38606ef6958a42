/**
 * What the program prints without running controllers: help, version, completions, and the spellings of flags that it accepts.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { settings } from "../support/controllers.ts"
import { version } from "../../src/version.ts"
import * as Process from "../support/process.ts"

/** Flags of the library of the command line. */
const general = ["help", "version", "completions"]

const declared = Object.values(settings).map(({ name }) => name)

/** Names that scripts rely on, and that therefore stay. */
const promised = [
  "cluster",
  "kubeconfig",
  "context",
  "master",
  "controllers",
  "feature-gates",
  "leader-elect",
  "leader-elect-resource-name",
  "leader-elect-resource-namespace",
  "leader-elect-lease-duration",
  "leader-elect-renew-deadline",
  "leader-elect-retry-period",
  "core-lease-name",
  "cluster-name",
  "pod-count-interval",
  "pod-count-schedule",
  "pod-count-node-selector",
  "concurrent-deployment-syncs",
  "concurrent-replicaset-syncs",
  "concurrent-rc-syncs",
  "concurrent-gc-syncs",
  "concurrent-namespace-syncs",
  "namespace-sync-period",
  "terminated-pod-gc-threshold",
  "graceful-shutdown-timeout",
  "embedded-port",
  "nodes",
  "demo",
  "config",
  "zap-log-level",
  "zap-devel",
  "zap-encoder",
  "zap-stacktrace-level",
  "zap-time-encoding",
  "v"
]

const says = (args: ReadonlyArray<string>) =>
  Effect.map(Process.run(args), ({ code, stderr, stdout }) => {
    assert.strictEqual(stderr, "")
    assert.strictEqual(code, 0)
    return stdout
  })

const flagsIn = (text: string) => new Set([...text.matchAll(/(?<![\w-])--([a-z][a-z0-9-]*)/g)].map((match) => match[1]))

describe.concurrent("commands", () => {
  for (const spelling of ["--help", "-h", "-help"]) {
    it.live(`${spelling} lists every flag, every controller and the exit codes`, () =>
      Effect.gen(function* () {
        const help = yield* says([spelling])
        const listed = new Set([...help.matchAll(/^ {2}--([a-z0-9-]+)(?=[ ,]).*\S$/gm)].map((match) => match[1] ?? ""))
        assert.sameMembers([...listed], [...declared, ...general])
        for (const flag of promised) assert.isTrue(listed.has(flag), flag)
        assert.match(help, /^Controllers that are on by default:\n {2}pod-count {2,}\S/m)
        assert.match(
          help,
          /^Controllers that are on by default on the embedded cluster only;[^:]*:\n(?: {2}.*\n)* {2}deployment {2,}\S/m
        )
        assert.match(help, /^Leader election:\n {2}--leader-elect {2,}\S/m)
        assert.match(help, /^Exit codes: 0 .*, 1 .*, 2 /m)
      }).pipe(Effect.scoped)
    )
  }

  it.live("--help of each command describes its own --nodes", () =>
    Effect.gen(function* () {
      assert.match(yield* says(["--help"]), /^Cluster:\n(?: {2}.*\n)* {2}--nodes number .*\(default 3\)/m)
      assert.match(
        yield* says(["apiserver", "--help"]),
        /^This command:\n(?: {2}.*\n)* {2}--nodes number .*\(default 0\)/m
      )
    }).pipe(Effect.scoped)
  )

  for (const args of [["--version"], ["-v"], ["-version"], ["--version", "--leader-elect"]]) {
    it.live(`${args.join(" ")} prints the version and nothing else`, () =>
      Effect.map(says(args), (text) => assert.strictEqual(text, `${version}\n`)).pipe(Effect.scoped)
    )
  }

  for (const shell of ["bash", "zsh", "fish"]) {
    it.live(`--completions ${shell} completes every flag`, () =>
      Effect.map(says(["--completions", shell]), (script) => {
        const known =
          shell === "fish" ? new Set([...script.matchAll(/-l ([a-z0-9-]+)/g)].map((m) => m[1])) : flagsIn(script)
        for (const flag of declared) assert.isTrue(known.has(flag), flag)
      }).pipe(Effect.scoped)
    )
  }

  // Each spelling is accepted: the error is about the next thing, the kubeconfig that does not exist.
  for (const args of [
    "--leader-elect --cluster=kubeconfig",
    "--leader-elect=true --cluster kubeconfig",
    "--leader-elect=false -cluster=kubeconfig",
    "--no-leader-elect -cluster kubeconfig",
    "-leader-elect -controllers=*,-pod-count -cluster=kubeconfig",
    "--pod-count-interval=1m30s --graceful-shutdown-timeout=500ms --cluster=kubeconfig",
    "--pod-count-node-selector=a=b,c!=d,e --cluster=kubeconfig",
    "-v=4 --cluster=kubeconfig",
    "--controllers -pod-count,* --kube-api-qps -1 --cluster=kubeconfig",
    "-v 4 --enable-leader-election --cluster=kubeconfig",
    "--enable-leader-election=false --leader_elect_retry_period=1m30s --leader-elect-lease-duration=3m --leader-elect-renew-deadline=2m --cluster=kubeconfig",
    "--feature-gates=AllAlpha=true,AllBeta=false --leader-election-id=x --cluster=kubeconfig"
  ]) {
    it.live(`accepts ${args}`, () =>
      Effect.map(Process.run(args.split(" ")), ({ code, stderr }) => {
        assert.match(stderr, /(?:^|\n)effect-controller-manager: there is no kubeconfig /)
        assert.strictEqual(code, 1)
      }).pipe(Effect.scoped)
    )
  }

  // The fields are promised to scripts; the spellings of the flag are kubectl's.
  for (const [args, fields] of [
    ["check --cluster=embedded --controllers=pod-count -o json", ["ok", "server", "checks"]],
    ["leases --cluster=embedded --controllers=pod-count,deployment -o=json", ["leases"]],
    ["crds print --controllers=memcached -ojson", ["apiVersion", "kind", "metadata", "items"]],
    ["crds install --cluster=embedded --controllers=memcached --output json", ["definitions"]],
    ["crds diff --cluster=embedded --controllers=memcached --output=json", ["definitions"]]
  ] as const) {
    it.live(`${args} prints one JSON value with the documented fields`, () =>
      Effect.map(says([...args.split(" "), "--log-level=none"]), (text) => {
        const value = JSON.parse(text) as Record<string, ReadonlyArray<object>>
        assert.sameMembers(Object.keys(value), [...fields])
        const first = value["checks"]?.[0] ?? value["leases"]?.[0]
        if ("checks" in value) assert.hasAllKeys(first, ["check", "ok", "subject", "detail", "neededBy"])
        if ("leases" in value) assert.containsAllKeys(first, ["group", "namespace", "name", "state", "holder"])
      }).pipe(Effect.scoped)
    )
  }

  it.live("leases prints a table, and what the program leads under with --leader-elect", () =>
    Effect.gen(function* () {
      const text = yield* says(["leases", "--cluster=embedded", "--leader-elect", "--log-level=none", "-owide"])
      assert.match(text, /^GROUP +LEASE +STATE +HOLDER +RENEWED +ACQUIRED +DURATION +TRANSITIONS +CONTROLLERS\n/)
      assert.match(text, /^core +kube-system\/kube-controller-manager +missing +<none> .*deployment/m)
    }).pipe(Effect.scoped)
  )

  it.live("an unknown format is a usage error that lists the formats", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* Process.run(["check", "-o", "xml"])
      assert.match(stderr, /^effect-controller-manager: --output does not take "xml": .*json.*yaml/)
      assert.strictEqual(code, 2)
      assert.strictEqual(stdout, "")
    }).pipe(Effect.scoped)
  )
})
