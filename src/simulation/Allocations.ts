/**
 * What one machine has allocated: addresses of its pod network, and resources, by pod. A pod that has ended or is gone releases what it
 * held. The kubelet admits pods by these figures and not by the scheduler's, because a pod may be bound without the scheduler.
 */
import * as PodFacts from "../kube/pod.ts"
import type { Pod } from "../kube/resources.ts"
import * as Machine from "./Machine.ts"
import * as Requests from "./placement/requests.ts"

export class Allocations {
  private readonly machine: Machine.Machine
  private readonly allocatable: Requests.Amounts
  /** By uid. */
  private readonly addresses = new Map<string, string>()
  /** The values of `addresses`. */
  private readonly taken = new Set<string>()
  /** By uid: pods that were admitted. */
  private readonly admitted = new Map<string, Requests.Amounts>()
  /** The sum over `admitted`. */
  private readonly used = new Map<string, number>()

  constructor(machine: Machine.Machine) {
    this.machine = machine
    this.allocatable = Requests.amounts(Machine.amounts(machine))
  }

  /** Takes over what the API reports of a pod of this machine: its status says whether it was admitted, and its address. */
  observe(pod: Pod): void {
    if (PodFacts.isTerminal(pod)) return this.release(pod)
    if (pod.status?.startTime !== undefined) this.admit(pod)
    const ip = pod.status?.podIP
    if (ip !== undefined && pod.spec?.hostNetwork !== true) this.hold(pod.metadata.uid ?? "", ip)
  }

  /** The first resource of which the pod requests more than is left; undefined if it fits or was admitted before. */
  shortage(pod: Pod): string | undefined {
    if (this.admitted.has(pod.metadata.uid ?? "")) return undefined
    for (const [resource, value] of Requests.of(pod))
      if (value > 0 && (this.used.get(resource) ?? 0) + value > (this.allocatable.get(resource) ?? 0)) return resource
    return undefined
  }

  admit(pod: Pod): void {
    const uid = pod.metadata.uid ?? ""
    if (this.admitted.has(uid)) return
    const requests = Requests.of(pod)
    this.admitted.set(uid, requests)
    Requests.add(this.used, requests)
  }

  /** The pod's address: a free one if it has none yet; undefined if all are taken. */
  address(pod: Pod): string | undefined {
    const uid = pod.metadata.uid ?? ""
    const address = this.addresses.get(uid) ?? Machine.podAddress(this.machine, this.taken)
    if (address !== undefined) this.hold(uid, address)
    return address
  }

  release(pod: Pod): void {
    const uid = pod.metadata.uid ?? ""
    const requests = this.admitted.get(uid)
    if (requests !== undefined) Requests.add(this.used, requests, -1)
    this.admitted.delete(uid)
    const address = this.addresses.get(uid)
    if (address !== undefined) this.taken.delete(address)
    this.addresses.delete(uid)
  }

  private hold(uid: string, address: string): void {
    this.addresses.set(uid, address)
    this.taken.add(address)
  }
}
