/** Asks what an autoscaler goes by, all of it at once, and makes proposals of the answers. A failure is an answer like any other. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Pod } from "../../kube/resources.ts"
import type { MetricsApi, MetricsError } from "../../layers/MetricsApi.ts"
import type { Scale } from "../shared/scale/scales.ts"
import type { Look } from "./snapshot.ts"
import * as Metrics from "./metrics.ts"
import { isOfSpec, type Said } from "./plan/plan.ts"
import * as Proposal from "./plan/replicaProposal.ts"
import * as Question from "./plan/metricQuery.ts"
import * as Spec from "./plan/spec.ts"
import type { Memory, Ports } from "./deps.ts"

export interface Given {
  readonly look: Look
  readonly scale: Scale
  /** Of the target. */
  readonly pods: ReadonlyArray<Pod>
}

/** Metrics of one autoscaler that are asked at once. */
const atOnce = 4

type One = Said[number]

export const all = (ports: Ports, memory: Memory, given: Given): Effect.Effect<Said> => {
  const { autoscaler } = given.look
  const before = autoscaler.status?.currentReplicas ?? 0
  return Effect.forEach(
    Spec.metricsOf(autoscaler),
    (spec) => Metrics.computed(spec.type, one(ports, memory, given, spec), (said) => judged(said, before)),
    { concurrency: atOnce }
  )
}

const judged = (said: One, before: number): { readonly action: Metrics.Action; readonly fault: Metrics.Fault } =>
  Result.isSuccess(said)
    ? { action: Metrics.actionOf(before, said.success.replicas), fault: "none" }
    : { action: "none", fault: isOfSpec(said.failure) ? "spec" : "internal" }

const one = (
  { metrics }: Ports,
  { settings }: Memory,
  { look, pods, scale }: Given,
  spec: Spec.MetricSpec
): Effect.Effect<One> => {
  const { autoscaler, namespace, now } = look
  const question = Question.question(spec, { namespace, selector: scale.status?.selector ?? "" })
  if (Result.isFailure(question)) return Effect.succeed(Result.fail(question.failure))
  return Effect.match(asked(metrics, question.success), {
    onFailure: ({ message }): One => Result.fail(Question.unanswered(spec, namespace, message)),
    onSuccess: (measured) =>
      Proposal.propose(
        {
          spec,
          pods,
          current: scale.spec?.replicas ?? 0,
          observed: scale.status?.replicas ?? 0,
          tolerances: Spec.tolerancesOf(autoscaler, settings),
          settings,
          now
        },
        measured
      )
  })
}

const asked = (
  metrics: MetricsApi["Service"],
  question: Question.Question
): Effect.Effect<Proposal.Measured, MetricsError> => {
  switch (question._tag) {
    case "Resource":
      return Effect.map(metrics.resource(question), (samples) => ({ _tag: "Samples", samples }))
    case "Pods":
      return Effect.map(metrics.pods(question), (samples) => ({ _tag: "Samples", samples }))
    case "Object":
      return Effect.map(metrics.object(question), (amount) => ({ _tag: "Amounts", amounts: [amount] }))
    case "External":
      return Effect.map(metrics.external(question), (amounts) => ({ _tag: "Amounts", amounts }))
  }
}
