/** Mistakes at the boundaries of a field are found without a scenario: a controller never takes back what an earlier value has brought about. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "../../../src/kube/Access.ts"
import * as Equality from "../../../src/kube/equality.ts"
import * as Key from "../../../src/kube/Key.ts"
import * as Owner from "../../../src/kube/Owner.ts"
import * as Patch from "../../../src/kube/Patch.ts"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap } from "../../../src/kube/resources.ts"
import * as Controller from "../../../src/layers/Controller.ts"
import { explore } from "../../../src/testing/explore/explore.ts"
import { kinds } from "../../../src/testing/explore/perturbation.ts"

const Proxy = Resource.make({
  group: "bugs.example.com",
  version: "v1",
  kind: "Proxy",
  plural: "proxies",
  spec: Schema.Struct({
    size: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 })),
    monitor: Schema.optionalKey(Schema.Struct({ path: Schema.String })),
    hosts: Schema.Array(Schema.String)
  })
})

type Mistake = "servers stay at size 0" | "a monitor stays" | "hosts are only added"

const access = [Access.create(ConfigMap), Access.patch(ConfigMap), Access.remove(ConfigMap)] as const

/** Three ConfigMaps: of the servers, unless the size is 0, of the monitor, if there is one, and of the hosts. */
const controller = (mistake: Mistake | undefined) =>
  Controller.make({
    name: "proxy",
    for: Proxy,
    owns: [ConfigMap],
    access,
    reconcileObject: (proxy, { cache, client }) =>
      Effect.gen(function* () {
        const { name, namespace = "" } = proxy.metadata
        const { hosts, monitor, size } = proxy.spec
        const liveOf = (part: string) => cache.get(ConfigMap, Key.make(namespace, `${name}-${part}`))
        const apply = Effect.fnUntraced(function* (part: string, data: Record<string, string>) {
          const live = yield* liveOf(part)
          if (live !== undefined && Equality.equal(live.data, data)) return
          const target = { namespace, name: `${name}-${part}` }
          const metadata = { ...target, ownerReferences: [Owner.reference(Proxy, proxy)] }
          const patch =
            live !== undefined && mistake === "hosts are only added"
              ? Equality.covers(live.data, data)
                ? undefined
                : Patch.merge({ data })
              : Patch.apply({ apiVersion: "v1", kind: "ConfigMap", metadata, data })
          if (patch === undefined) return
          const isForced = patch.type === "apply" ? { force: true } : {}
          yield* client.patch(ConfigMap, target, patch, { fieldManager: "proxy", ...isForced })
        })
        const remove = Effect.fnUntraced(function* (part: string) {
          if ((yield* liveOf(part)) === undefined) return
          yield* client
            .delete(ConfigMap, { namespace, name: `${name}-${part}` })
            .pipe(Effect.catchReason("ApiError", "NotFound", () => Effect.void))
        })
        if (size > 0) yield* apply("servers", { size: `${size}` })
        else if (mistake !== "servers stay at size 0") yield* remove("servers")
        if (monitor !== undefined) yield* apply("monitor", { path: monitor.path })
        else if (mistake !== "a monitor stays") yield* remove("monitor")
        yield* apply("hosts", Object.fromEntries(hosts.map((host) => [`host-${host}`, "on"])))
      })
  })

/** The mistakes show without perturbations. */
const without = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, "keeps the test short"]))

const proxy = (mistake: Mistake | undefined) => explore("proxy", { controllers: [controller(mistake)], without })

const expected: ReadonlyArray<readonly [Mistake, string, ReadonlyArray<string>, string]> = [
  [
    "servers stay at size 0",
    "spec.size[1,2]",
    ["change spec.size", "to 0"],
    "ConfigMap default/proxy-sample-servers is left over"
  ],
  [
    "a monitor stays",
    "spec.monitor[1,2,6]",
    ["remove spec.monitor"],
    "ConfigMap default/proxy-sample-monitor is left over"
  ],
  [
    "hosts are only added",
    "spec.hosts[1,2,4]",
    ["change spec.hosts", "to []"],
    "ConfigMap default/proxy-sample-hosts: data is"
  ]
]

describe("explore without a scenario", () => {
  for (const [mistake, scenario, change, message] of expected) {
    it.live(`finds that ${mistake}`, () =>
      Effect.gen(function* () {
        const { failures, problem } = yield* proxy(mistake).run({ scenario: scenario.replace(/\[.*$/, "") })
        assert.isUndefined(problem)
        const failure = failures.find(({ rule }) => rule === "depends on the past")
        assert.include(failure?.message, message)
        assert.strictEqual(failure?.scenario, scenario)
        const last = failure?.details.findLast((one) => one.startsWith("operation"))
        for (const text of change) assert.include(last, text)
        const again = yield* proxy(mistake).run({ scenario: failure?.scenario, replay: { perturbations: [] } })
        assert.deepEqual(
          again.failures.map(({ cause }) => cause),
          [failure?.cause]
        )
      })
    )
  }
  it.live("finds nothing without these mistakes", () => proxy(undefined).check())
})
