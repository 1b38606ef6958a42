import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Deployment, Pod } from "../../../src/kube/resources.ts"
import * as Concurrency from "../../../src/manager/runnables/concurrency.ts"
import { resolve } from "../../../src/manager/setting/sources.ts"
import { settings } from "../../../src/manager/settings.ts"
import { syncsOf } from "../../../src/manager/settings/tuning.ts"
import { checkProperty } from "../../support/property.ts"

const read = (text: string) =>
  Option.match(Concurrency.codec.decode(text), {
    onNone: () => Concurrency.codec.explain?.(text),
    onSome: (kinds) => Object.fromEntries(kinds)
  })

describe("--group-kind-concurrency", () => {
  for (const [text, expected] of [
    ["", {}],
    ["Deployment.apps=5", { "Deployment.apps": 5 }],
    [" Deployment.apps=5 , Pod=2,", { "Deployment.apps": 5, Pod: 2 }],
    ["Lease.coordination.k8s.io=3,Lease.coordination.k8s.io=3", { "Lease.coordination.k8s.io": 3 }],
    ["Pod=1,Pod=2", "Pod is there twice"],
    ["Pod", '"Pod" must be like Deployment.apps=5 or Pod=5'],
    ["pods=1", '"pods=1" must be like Deployment.apps=5 or Pod=5'],
    ["Pod.=1", '"Pod.=1" must be like Deployment.apps=5 or Pod=5'],
    ["Pod=0", '"Pod=0" must end with a number of at least 1'],
    ["Pod=many", '"Pod=many" must end with a number of at least 1']
  ] as const) {
    it(`reads "${text}"`, () => assert.deepStrictEqual(read(text), expected))
  }

  it("names a kind without a controller, and the nearest kind that has one", () => {
    const unknown = (text: string) =>
      Concurrency.unknown(Option.getOrThrow(Concurrency.codec.decode(text)), [{ for: Deployment }, {}, { for: Pod }])
    assert.isUndefined(unknown("Deployment.apps=1,Pod=2"))
    assert.strictEqual(
      unknown("Deployment.app=1"),
      "no controller reconciles Deployment.app: did you mean Deployment.apps?"
    )
    assert.strictEqual(unknown("Widget=1"), "no controller reconciles Widget; there are: Deployment.apps, Pod")
  })
})

/** A value for some of the settings. */
const said = Arbitrary.schema(
  Schema.Struct({
    own: Schema.UndefinedOr(Schema.Literals([1, 2])),
    kind: Schema.UndefinedOr(Schema.Literals([3, 4])),
    everybody: Schema.UndefinedOr(Schema.Literals([5, 6]))
  })
)

describe("Concurrency", () => {
  checkProperty("the more particular saying counts", said, ({ everybody, kind, own }) => {
    const first = [own, kind, everybody].find((one) => one !== undefined)
    return Concurrency.choose({ own, kind, everybody }, 7) === (first ?? 7)
  })
})

describe("how many at once, from the settings", () => {
  const syncs = (flags: Record<string, string>) =>
    syncsOf(Result.getOrThrow(resolve(settings, { flags: new Map(Object.entries(flags)), env: {} })))

  it("is the default without a setting", () =>
    assert.deepStrictEqual(syncs({}), {
      deploymentSyncs: 5,
      replicaSetSyncs: 5,
      replicationControllerSyncs: 5,
      daemonSetSyncs: 2,
      statefulSetSyncs: 5,
      jobSyncs: 5,
      cronJobSyncs: 5,
      ttlAfterFinishedSyncs: 5,
      autoscalerSyncs: 5,
      endpointSyncs: 5,
      serviceEndpointSyncs: 5,
      mirroringSyncs: 5,
      serviceAccountTokenSyncs: 5,
      gcSyncs: 20,
      namespaceSyncs: 10,
      resourceQuotaSyncs: 5
    }))

  it("comes from the controller's flag, the kind, or the general setting, in that order", () =>
    assert.deepStrictEqual(
      syncs({
        "concurrent-deployment-syncs": "2",
        "group-kind-concurrency": "Deployment.apps=3,ReplicaSet.apps=4",
        "max-concurrent-reconciles": "6"
      }),
      {
        deploymentSyncs: 2,
        replicaSetSyncs: 4,
        replicationControllerSyncs: 6,
        daemonSetSyncs: 6,
        statefulSetSyncs: 6,
        jobSyncs: 6,
        cronJobSyncs: 6,
        ttlAfterFinishedSyncs: 6,
        autoscalerSyncs: 6,
        endpointSyncs: 6,
        serviceEndpointSyncs: 6,
        mirroringSyncs: 6,
        serviceAccountTokenSyncs: 6,
        gcSyncs: 6,
        namespaceSyncs: 6,
        resourceQuotaSyncs: 6
      }
    ))
})
