/**
 * The ledger under random operation sequences in a namespace: quotas, pods and Services change, time passes. At any moment its usage equals the sum
 * over all objects, and it reports a decrease exactly when there is one.
 */
import { describe } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Key from "../../../src/kube/Key.ts"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Quantity from "../../../src/kube/quantity.ts"
import * as Devices from "../../../src/kube/quota/devices.ts"
import * as Names from "../../../src/kube/quota/names.ts"
import * as Scopes from "../../../src/kube/quota/scopes.ts"
import * as Usage from "../../../src/kube/quota/usage.ts"
import * as Time from "../../../src/kube/time.ts"
import type * as Ledger from "../../../src/controllers/resourcequota/ledger.ts"
import * as Original from "../../../src/controllers/resourcequota/ledger.ts"
import { checkProperty, int, oneOf } from "../../support/property.ts"

const shapes: Readonly<Record<string, Ledger.Wanted>> = {
  all: { scopes: [], names: ["pods", "count/pods", "requests.cpu", "services", "services.nodeports", "secrets"] },
  ending: { scopes: Scopes.of({ spec: { scopes: ["Terminating"] } }), names: ["pods", "requests.cpu"] },
  services: { scopes: [], names: ["services.nodeports"] },
  amounts: { scopes: [], names: ["cpu", "memory", "count/configmaps"] },
  devices: {
    scopes: [],
    names: ["requests.example.com/gold", "requests.deviceclass.resource.kubernetes.io/gold", "pods"]
  }
}

const step = Arbitrary.all({
  what: oneOf(
    "pod",
    "pod",
    "pod",
    "end",
    "delete",
    "delete",
    "gone",
    "service",
    "open",
    "open",
    "close",
    "wait",
    "wait",
    "recount",
    "secret",
    "claim",
    "claim",
    "claim",
    "unclaim",
    "class"
  ),
  which: int(0, 3),
  amount: oneOf("0", "100m", "1", "2Gi"),
  memory: oneOf("0", "1Mi", "1Gi"),
  quota: oneOf("a", "b"),
  shape: oneOf("all", "ending", "services", "amounts", "devices", "devices")
})
const history = Arbitrary.array(step, { minLength: 20, maxLength: 60 })

type Step = typeof step extends Arbitrary.Arbitrary<infer A> ? A : never
type Module = Pick<typeof Original, "Ledger">

const namespace = "default"

class Harness {
  private now = 0
  private readonly objects = new Map<string, Map<Key.Key, KubeObject>>()
  private readonly quotas = new Map<Key.Key, Ledger.Wanted>()
  private readonly ledger: Ledger.Ledger
  /** The sums of every quota over all objects, after the last step. */
  private before = new Map<Key.Key, Map<string, bigint>>()

  private isExtended = false
  private readonly extendedResource = (className: string) =>
    this.isExtended && className === "gold" ? "example.com/gold" : undefined

  constructor(module: Module) {
    this.ledger = new module.Ledger(this.extendedResource)
  }

  /** Performs a step, and returns whether the invariant holds. */
  step({ amount, memory, quota, shape, what, which }: Step): boolean {
    const key = Key.make(namespace, String(which))
    const pod = this.objects.get("pods")?.get(key)
    switch (what) {
      case "pod":
        return this.put(Names.pods, key, {
          spec: {
            containers: [{ name: "main", resources: { requests: { cpu: amount, memory, "example.com/gold": which } } }],
            ...(which % 2 === 0 ? {} : { activeDeadlineSeconds: 60 })
          }
        })
      case "end":
        return pod === undefined || this.put(Names.pods, key, { ...pod, status: { phase: "Failed" } })
      case "delete": {
        const leaving = { deletionTimestamp: Time.format(this.now), deletionGracePeriodSeconds: which }
        return pod === undefined || this.put(Names.pods, key, { ...pod, metadata: { ...pod.metadata, ...leaving } })
      }
      case "service":
        return this.put(Names.services, key, { spec: { type: which > 1 ? "NodePort" : "ClusterIP", ports: [{}, {}] } })
      case "claim": {
        const owner = { apiVersion: "v1", kind: "Pod", name: String(which % 2), uid: `u${which % 2}`, controller: true }
        const metadata = {
          name: String(which),
          namespace,
          creationTimestamp: Time.format(this.now),
          annotations: { "resource.kubernetes.io/extended-resource-claim": String(memory !== "0") },
          ownerReferences: [owner]
        }
        const requests = [{ name: "a", exactly: { deviceClassName: "gold", count: which + 1 } }]
        return this.put(Names.resourceClaims, key, { metadata, spec: { devices: { requests } } })
      }
      case "unclaim":
        this.objects.get(Names.idOf(Names.resourceClaims))?.delete(key)
        return this.matches(this.ledger.observe(Names.resourceClaims, key, undefined, this.now))
      case "class":
        this.isExtended = !this.isExtended
        return this.matches(this.ledger.reclassify())
      case "secret":
        return this.put({ group: "", plural: "secrets" }, key, {})
      case "gone":
        this.objects.get("pods")?.delete(key)
        return this.matches(this.ledger.observe(Names.pods, key, undefined, this.now))
      case "open": {
        const wanted = shapes[shape] ?? { scopes: [], names: [] }
        this.quotas.set(quota, wanted)
        this.ledger.open(quota, wanted, this.contents, this.now)
        return this.remember() && this.holds()
      }
      case "close":
        this.quotas.delete(quota)
        this.ledger.close(quota)
        return this.remember() && this.holds() && this.ledger.isEmpty === (this.quotas.size === 0)
      case "wait": {
        this.now += which * 1000
        const next = this.ledger.nextExpiry
        const less = this.ledger.expire(this.now)
        const isDue = next !== undefined && next <= this.now
        return (
          (less.length === 0 || isDue) &&
          this.matches({ less, more: [] }) &&
          (this.ledger.nextExpiry ?? Infinity) > this.now
        )
      }
      case "recount":
        this.ledger.recount(this.contents, this.now)
        return this.holds()
    }
  }

  private put(kind: Names.Counted, key: Key.Key, object: object): boolean {
    const id = Names.idOf(kind)
    const known = this.objects.get(id) ?? new Map<Key.Key, KubeObject>()
    this.objects.set(id, known)
    const made = {
      metadata: { name: String(key.split("/")[1]), uid: `u${key.split("/")[1]}` },
      ...object
    } as KubeObject
    known.set(key, made)
    return this.matches(this.ledger.observe(kind, key, made, this.now))
  }

  private readonly contents: Ledger.Contents = (kind) => this.objects.get(Names.idOf(kind)) ?? []

  private sums(quota: Ledger.Wanted): Map<string, bigint> {
    const sums = new Map<string, bigint>()
    for (const name of quota.names) {
      const kinds = Names.kindsOf(name).filter(Usage.isMeasured)
      if (kinds.length === 0) continue
      let total = 0n
      for (const kind of kinds)
        for (const object of this.objects.get(Names.idOf(kind))?.values() ?? [])
          if (Scopes.match(quota.scopes, kind, object)) total += this.usageOf(kind, object).get(name)?.nanos ?? 0n
      sums.set(name, total)
    }
    return sums
  }

  private usageOf(kind: Names.Counted, object: KubeObject): Usage.Usage {
    const claims = [...(this.objects.get(Names.idOf(Names.resourceClaims))?.values() ?? [])]
    return Usage.of(kind, object, this.now <= Usage.until(kind, object), {
      extendedResource: this.extendedResource,
      pod: (name) => {
        const pod = this.objects.get("pods")?.get(Key.make(namespace, name))
        return pod === undefined ? undefined : { pod, usage: this.usageOf(Names.pods, pod) }
      },
      claimsOf: (uid) => claims.filter((claim) => Devices.podOf(claim)?.uid === uid)
    })
  }

  private remember(): true {
    this.before = new Map([...this.quotas].map(([key, wanted]) => [key, this.sums(wanted)]))
    return true
  }

  /** Exactly the quotas whose usage decreases or increases are returned; a change of several names may do both. */
  private matches({ less, more }: Ledger.Affected): boolean {
    const was = this.before
    this.remember()
    for (const key of this.quotas.keys()) {
      const names = [...(this.before.get(key) ?? [])]
      const differs = (sign: (difference: bigint) => boolean) =>
        names.some(([name, now]) => sign(now - (was.get(key)?.get(name) ?? 0n)))
      const isLess = differs((difference) => difference < 0n)
      const isMore = differs((difference) => difference > 0n)
      if (less.includes(key) !== isLess || more.includes(key) !== (isMore && !isLess)) return false
    }
    return this.holds()
  }

  private holds(): boolean {
    return [...this.quotas].every(([key, wanted]) =>
      [...this.sums(wanted)].every(([name, total]) => {
        const used = this.ledger.used(key, name)
        return used?.nanos === total && Quantity.parse(Quantity.canonical(used))?.nanos === total
      })
    )
  }
}

describe("Ledger", () => {
  checkProperty("its usage equals the sum over all objects after any sequence of changes", history, (steps) => {
    const harness = new Harness(Original)
    return steps.every((one) => harness.step(one))
  })
})
