/**
 * The simulated cloud's load balancers: a Service of type LoadBalancer gets an address in its status, and loses it when its type changes. No
 * traffic is balanced. Services with a `loadBalancerClass` belong to another implementation. Source: cloud-provider controllers/service.
 */
import * as Effect from "effect/Effect"
import type * as ApiError from "../../kube/ApiError.ts"
import * as Key from "../../kube/Key.ts"
import * as Patch from "../../kube/Patch.ts"
import { Service } from "../../kube/resources.ts"
import type { KeyedQueue } from "../../streams/queue/KeyedQueue.ts"
import * as Reconcile from "../../streams/reconcile/Reconcile.ts"
import { Cache } from "../../layers/Cache.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import type { EventSink } from "../../layers/Recorder.ts"
import * as CallFailure from "../callFailure.ts"

export const component = "service-controller"

export interface Options {
  /** Keys of Services. */
  readonly queue: KeyedQueue
  readonly events: EventSink["event"]
}

/** Addresses of 198.18.0.0/15, which RFC 2544 reserves for tests: no network routes them. */
const most = 2 ** 17 - 2

const address = (number: number): string =>
  `198.${18 + Math.floor(number / 65_536)}.${Math.floor(number / 256) % 256}.${number % 256}`

const isOurs = (ip: string | undefined): ip is string => ip !== undefined && /^198\.1[89]\./.test(ip)

const addressOf = ({ status }: Service): string | undefined => status?.loadBalancer?.ingress?.[0]?.ip

/** Whether the address is assigned here. One that another implementation has assigned stays. */
const isBalanced = (service: Service): boolean => {
  const { metadata, spec, status } = service
  if (spec?.type !== "LoadBalancer" || spec.loadBalancerClass !== undefined) return false
  const isForeign = (status?.loadBalancer?.ingress ?? []).length > 0 && !isOurs(addressOf(service))
  return metadata.deletionTimestamp === undefined && !isForeign
}

/** The addresses in use. Synchronous mutable state. */
class Addresses {
  private readonly byService = new Map<Key.Key, string>()
  private readonly taken = new Set<string>()
  private next = 1

  /** The Service's address: the one that it has or asks for, if it is one of these and no other Service has it, else a free one. */
  of(service: Service): string | undefined {
    const key = Key.of(service)
    const known = this.byService.get(key)
    if (known !== undefined) return known
    const wanted = [addressOf(service), service.spec?.loadBalancerIP].find(isOurs)
    const ip = wanted !== undefined && !this.taken.has(wanted) ? wanted : this.free()
    if (ip === undefined) return undefined
    this.byService.set(key, ip)
    this.taken.add(ip)
    return ip
  }

  release(key: Key.Key): void {
    const ip = this.byService.get(key)
    if (ip === undefined) return
    this.byService.delete(key)
    this.taken.delete(ip)
  }

  /** The next free address after the last one, so that an address is not used again at once. */
  private free(): string | undefined {
    for (let tried = 0; tried < most; tried++) {
      const ip = address(this.next)
      this.next = (this.next % most) + 1
      if (!this.taken.has(ip)) return ip
    }
    return undefined
  }
}

/** Runs until interrupted. */
export const run = Effect.fnUntraced(function* ({ events, queue }: Options) {
  const cache = yield* Cache
  const client = yield* KubeClient
  const services = yield* cache.subscribe(Service)
  const addresses = new Addresses()

  yield* services.onDeltas((deltas) => {
    for (const { _tag, object } of deltas) {
      if (_tag === "Deleted") addresses.release(Key.of(object))
      else {
        // A Service that has an address keeps it before any other asks for one.
        if (isBalanced(object) && addressOf(object) !== undefined) addresses.of(object)
        if (isBalanced(object) || isOurs(addressOf(object))) queue.addUnsafe(Key.of(object))
      }
    }
  })

  const reconcile = Effect.fnUntraced(function* (key: Key.Key) {
    const service = services.store.get(key)
    if (service === undefined) return
    const { name, namespace, resourceVersion } = service.metadata
    const write = (loadBalancer: object | null) =>
      client.patch(
        Service,
        { namespace, name, subresource: "status" },
        Patch.merge({ metadata: { resourceVersion }, status: { loadBalancer } })
      )
    if (!isBalanced(service)) {
      addresses.release(key)
      if (isOurs(addressOf(service))) yield* write({ ingress: null })
      return
    }
    const ip = addresses.of(service)
    if (ip === undefined || ip === addressOf(service)) return
    yield* write({ ingress: [{ ip, ipMode: "VIP" }] })
    yield* events(service, "Normal", "EnsuredLoadBalancer", "Ensured load balancer")
  })

  yield* services.synced
  return yield* Reconcile.run(queue, {
    concurrency: 1,
    timeout: "none",
    reconcile: (key): Effect.Effect<void, ApiError.ApiError> => CallFailure.logFailure(reconcile(key))
  })
})
