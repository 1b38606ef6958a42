/** Conversion of HorizontalPodAutoscalers: a v1 client that writes back what it read loses no v2 field. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { clone, type JsonObject } from "../../../src/apiserver/json.ts"
import { conversion } from "../../../src/apiserver/scheme/autoscaling.ts"

const cpu = (averageUtilization: number) => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization } }
})
const memory = { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } } }

const Stored = Arbitrary.map(
  Arbitrary.schema(
    Schema.Struct({
      target: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 })),
      hasCpu: Schema.Boolean,
      hasMemory: Schema.Boolean,
      hasBehavior: Schema.Boolean,
      hasNote: Schema.Boolean,
      hasStatus: Schema.Boolean
    })
  ),
  ({ hasBehavior, hasCpu, hasMemory, hasNote, hasStatus, target }): JsonObject => ({
    metadata: { name: "a", ...(hasNote ? { annotations: { note: "x" } } : {}) },
    spec: {
      maxReplicas: 3,
      ...(hasCpu || hasMemory ? { metrics: [...(hasCpu ? [cpu(target)] : []), ...(hasMemory ? [memory] : [])] } : {}),
      ...(hasBehavior ? { behavior: { scaleUp: { selectPolicy: "Max" } } } : {})
    },
    ...(hasStatus
      ? {
          status: {
            desiredReplicas: 2,
            currentMetrics: [{ type: "Resource", resource: { name: "cpu", current: { averageUtilization: target } } }],
            conditions: [{ type: "AbleToScale", status: "True" }]
          }
        }
      : {})
  })
)

describe("conversion of autoscaling/v1", () => {
  it.prop("v2 to v1 and back loses nothing", { stored: Stored }, ({ stored }) =>
    assert.deepStrictEqual(conversion.toStored(conversion.fromStored(clone(stored))), stored)
  )

  it("v1 has the CPU target as a field and the rest as annotations", () => {
    const served = conversion.fromStored({
      metadata: { name: "a" },
      spec: { maxReplicas: 3, metrics: [memory, cpu(80)] }
    })
    assert.deepStrictEqual(served, {
      metadata: { name: "a", annotations: { "autoscaling.alpha.kubernetes.io/metrics": JSON.stringify([memory]) } },
      spec: { maxReplicas: 3, targetCPUUtilizationPercentage: 80 }
    })
  })

  it("keeps annotations that are not JSON", () => {
    const annotations = { "autoscaling.alpha.kubernetes.io/metrics": "{" }
    const stored = conversion.toStored({ metadata: { annotations }, spec: { targetCPUUtilizationPercentage: 5 } })
    assert.deepStrictEqual(stored, { metadata: { annotations }, spec: { metrics: [cpu(5)] } })
  })
})
