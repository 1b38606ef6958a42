/**
 * The output of `manifests`, applied with kubectl as a user would: a dry run succeeds, the server accepts it, and there is no difference
 * afterwards. On the embedded cluster and on a real kube-apiserver. Needs kubectl; the second also `KUBEBUILDER_ASSETS`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { EmbeddedCluster } from "../../src/apiserver/server/EmbeddedCluster.ts"
import * as envtest from "../support/envtest.ts"
import * as Kubectl from "../support/kubectl.ts"
import * as Process from "../support/process.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const installed = Process.has("kubectl")
if (!installed) process.stderr.write("manifests skipped: there is no kubectl on PATH\n")

const isMissing = envtest.isMissing("manifests on a real API server")

/** The path of the kubeconfig, and the version of Kubernetes for which manifests are printed. */
interface Target {
  readonly kubeconfig: string
  readonly version: string
}

const embedded = Effect.map(Layer.build(EmbeddedCluster.layer({ authorization: "RBAC" })), (context): Target => ({
  kubeconfig: Context.get(context, EmbeddedCluster).kubeconfig,
  version: "1.33"
}))

const real = Effect.gen(function* () {
  const { ca, token, url, version } = yield* envtest.start()
  const kubeconfig = yield* Kubeconfigs.write({ server: url, ca, user: { token } })
  return { kubeconfig, version: `${version.major}.${version.minor}` } satisfies Target
})

/** Removes the settings that tests add: here a user sets nothing. */
const withoutTestSettings = {
  CM_METRICS_BIND_ADDRESS: "",
  CM_HEALTH_PROBE_BIND_ADDRESS: "",
  CM_CONSOLE_BIND_ADDRESS: ""
}

const kinds = [
  "clusterrole",
  "clusterrolebinding",
  "deployment",
  "kustomization",
  "namespace",
  "networkpolicy",
  "poddisruptionbudget",
  "role",
  "rolebinding",
  "service",
  "serviceaccount"
]

const scenario = (start: Effect.Effect<Target, unknown, Scope.Scope>) =>
  Effect.gen(function* () {
    const { kubeconfig, version } = yield* start
    const kubectl = yield* Kubectl.make(kubeconfig)
    yield* kubectl("create namespace blue")
    const args = [
      "manifests",
      "--controllers=*,deployment,replicaset",
      "--watch-namespaces=blue",
      `--kubernetes-version=${version}`
    ]
    const printed = yield* Process.run(args, withoutTestSettings)
    assert.strictEqual(printed.code, 0, printed.stderr)
    const directory = join(yield* Process.folder, "base")
    const written = yield* Process.run([...args, "--out", directory], withoutTestSettings)
    assert.strictEqual(written.code, 0, written.stderr)
    assert.sameMembers(
      yield* Effect.promise(() => readdir(directory)),
      kinds.map((kind) => `${kind}.yaml`)
    )
    assert.sameMembers(
      written.stdout.trim().split("\n"),
      kinds.map((kind) => join(directory, `${kind}.yaml`))
    )

    // A dry run fails in a namespace that does not exist.
    yield* kubectl("apply -f -", printed.stdout.split("---\n")[0])
    yield* kubectl("apply --dry-run=server -f -", printed.stdout)
    yield* kubectl(`apply -k ${directory}`)
    assert.strictEqual(yield* kubectl("diff -f -", printed.stdout), "")
    assert.strictEqual(yield* kubectl(`diff -k ${directory}`), "")
    const account = "--as system:serviceaccount:effect-controller-manager:effect-controller-manager"
    assert.strictEqual((yield* kubectl(`auth can-i create pods -n blue ${account}`)).trim(), "yes")
  }).pipe(Effect.scoped)

/** `manifests | kubectl apply -f -`, on an empty cluster. */
const piped = (start: Effect.Effect<Target, unknown, Scope.Scope>) =>
  Effect.gen(function* () {
    const { kubeconfig, version } = yield* start
    const kubectl = yield* Kubectl.make(kubeconfig)
    const printed = yield* Process.run(["manifests", `--kubernetes-version=${version}`], withoutTestSettings)
    assert.strictEqual(printed.code, 0, printed.stderr)
    const said = yield* kubectl("apply -f -", printed.stdout)
    assert.include(said, "deployment.apps/effect-controller-manager created")
    assert.include(said, "service/effect-controller-manager-metrics created")
  }).pipe(Effect.scoped)

describe.skipIf(!installed).concurrent("one kubectl applies the output of manifests without an error", () => {
  it.live("on the embedded cluster", () => piped(embedded))
  it.live.skipIf(isMissing)("on a real API server", () => piped(real))
})

describe.skipIf(!installed).concurrent("manifests are applied, and then there is no difference", () => {
  it.live("on the embedded cluster", () => scenario(embedded))
  it.live.skipIf(isMissing)("on a real API server", () => scenario(real))
})
