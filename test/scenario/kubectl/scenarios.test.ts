/**
 * What users and operators do with Jobs, daemons, Services, nodes, tokens, and on the embedded cluster with containers and their usage, with kubectl and the program as processes, from create to delete: once on
 * the embedded cluster and once on a real kube-apiserver. Needs kubectl; the second also `KUBEBUILDER_ASSETS`.
 */
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Kubectl from "../../clients/kubectl.ts"
import { budgets } from "./budgets.ts"
import { containers } from "./containers.ts"
import { daemons } from "./daemons.ts"
import { jobs } from "./jobs.ts"
import { nodes, flags } from "./nodes.ts"
import { replicas } from "./replicas.ts"
import { services } from "./services.ts"
import * as Harness from "./harness.ts"
import { tokens } from "./tokens.ts"
import { usage } from "./usage.ts"

if (!Kubectl.isInstalled) process.stderr.write(`scenarios ${Kubectl.reason}\n`)
else if (Harness.missing !== undefined)
  process.stderr.write(`scenarios on a real API server skipped: ${Harness.missing}\n`)
else
  process.stderr.write(
    "skipped in scenarios on kube-apiserver 1.20: indexed and suspended Jobs, ttl, slices, what becomes of claims, disruption budgets of policy/v1 and the condition DisruptionTarget, which it does not store\n"
  )

const loops = [
  "deployment",
  "replicaset",
  "daemonset",
  "statefulset",
  "job",
  "garbagecollector",
  "namespace",
  "serviceaccount",
  "serviceaccount-token",
  "root-ca-cert-publisher",
  "endpoint",
  "nodelifecycle",
  "taint-eviction"
]

const scenarios = { jobs, services, tokens, daemons, replicas, nodes }

describe.skipIf(!Kubectl.isInstalled).concurrent("with kubectl, Jobs, daemons, Services, nodes and tokens", () => {
  it.live(
    "work on the embedded cluster",
    () =>
      Effect.scoped(
        Effect.flatMap(Harness.embedded(flags), (cluster) =>
          Harness.runAll(cluster, { ...scenarios, budgets, containers, usage })
        )
      ),
    600_000
  )

  it.live.skipIf(Harness.missing !== undefined)(
    "work on a real API server",
    () => Effect.scoped(Effect.flatMap(Harness.real(loops, flags), (cluster) => Harness.runAll(cluster, scenarios))),
    600_000
  )
})
