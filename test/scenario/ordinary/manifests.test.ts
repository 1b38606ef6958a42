/** Twenty ordinary manifests on the embedded cluster, with kubectl and the program as processes: applied as they are, up, and deleted. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Kubectl from "../../clients/kubectl.ts"
import * as Harness from "../kubectl/harness.ts"
import type { Manifest } from "./Manifest.ts"
import { others } from "./others.ts"
import { workloads } from "./workloads.ts"

if (!Kubectl.isInstalled) process.stderr.write(`ordinary manifests ${Kubectl.reason}\n`)

/** Later than any of them needs on a busy machine. */
const limit = "--timeout=120s"

/** With a time limit where it waits. */
const limited = (line: string): string => (/^(?:wait|rollout|delete) /.test(line) ? `${line} ${limit}` : line)

const comesAndGoes = (cluster: Harness.Cluster, { left = [], name, up, yaml }: Manifest) =>
  Effect.gen(function* () {
    const { namespace, ok } = yield* Harness.kubectl(cluster, name)
    yield* ok("apply -f -", { input: yaml })
    for (const line of up) yield* ok(limited(line.replace("NAMESPACE", namespace)))
    yield* ok(`delete -f - ${limit}`, { input: yaml })
    for (const line of left) yield* ok(limited(line))
    yield* ok(`wait pods --all --for=delete ${limit}`)
    const rest = "deployments,replicasets,statefulsets,daemonsets,jobs,cronjobs,pods,services,pvc,hpa,pdb,ingresses"
    yield* ok(`wait ${rest} --all --for=delete ${limit}`)
    assert.strictEqual(yield* ok(`get ${rest} -o name`), "")
  })

describe.skipIf(!Kubectl.isInstalled)("ordinary manifests", () => {
  it.live(
    "come up and are deleted on the embedded cluster",
    () =>
      Effect.gen(function* () {
        const cluster = yield* Harness.embedded()
        const all = [...workloads, ...others]
        assert.strictEqual(all.length, 20)
        yield* Effect.forEach(all, (one) => comesAndGoes(cluster, one), { concurrency: 4, discard: true })
        const { ok } = yield* Harness.kubectl(cluster, "volumes")
        yield* ok(`wait pv --all --for=delete ${limit}`)
      }).pipe(Effect.scoped),
    600_000
  )
})
