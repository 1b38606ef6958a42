/**
 * What simulated containers use. The annotation {@link usageAnnotation} decides by container, {@link loadAnnotation} is divided among the
 * ready pods of one controller, and a container with neither uses a small part of its requests. Amounts are functions of the pod and
 * the time. Usage of CPU and memory never exceeds the limit of a container.
 */
import * as Owner from "../../kube/Owner.ts"
import * as PodFacts from "../../kube/pod.ts"
import * as Quantity from "../../kube/quantity.ts"
import type { Pod } from "../../kube/resources.ts"
import * as Time from "../../kube/time.ts"
import type { Amounts, PodUsage } from "../../layers/NodeConnection.ts"

/**
 * `main=cpu:250m,memory:64Mi;side=cpu:10m`: the usage of containers, separated by semicolons; without a name, of every container. An amount
 * is a quantity, or a wave between two: `cpu:100m..900m/10m` rises from 100m and is back after ten minutes, at the same time in all pods.
 */
export const usageAnnotation = "simulation/usage"

/**
 * `cpu:2,memory:1Gi`, with waves as in {@link usageAnnotation}: the load of all pods of the controller together. Each ready pod has an equal
 * share, in its first container, on top of what {@link usageAnnotation} gives that container.
 */
export const loadAnnotation = "simulation/load"

/** Measurements are made at multiples of this time, as a metrics server collects them. In milliseconds. */
export const resolution = 15_000

/** A container has to run so long before it is measured. Source: metrics-server: freshContainerMinMetricsResolution. */
const shortestWindow = 10_000

/** Longer annotations are read up to here. */
const maxText = 4_096

/** What the system of a machine uses besides its pods. */
export const ofSystem: Amounts = { cpu: 50_000_000, memory: 256 * 2 ** 20 }

type Container = NonNullable<Pod["spec"]>["containers"][number]
type Resource = keyof Amounts
type Texts = Partial<Record<Resource, string>>

const resources: ReadonlyArray<Resource> = ["cpu", "memory"]

/** The time of the latest measurement. */
export const measuredAt = (now: number): number => Math.floor(now / resolution) * resolution

/** How many ready pods each controller has, by its uid. */
export const readyPods = (pods: ReadonlyArray<Pod>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const pod of pods) {
    const owner = PodFacts.isReady(pod) ? Owner.controllerOf(pod)?.uid : undefined
    if (owner !== undefined) counts.set(owner, (counts.get(owner) ?? 0) + 1)
  }
  return counts
}

/** Undefined where nothing runs, or not long enough. `ready` is what {@link readyPods} returns. */
export const of = (pod: Pod, time: number, ready: ReadonlyMap<string, number>): PodUsage | undefined => {
  const running = runningSince(pod)
  if (running.size === 0) return undefined
  let window = resolution
  for (const since of running.values()) window = Math.min(window, time - since)
  if (window < shortestWindow) return undefined
  const first = pod.spec?.containers[0]?.name
  const annotated = entriesOf(pod.metadata.annotations?.[usageAnnotation])
  const share = shareOf(pod, time, ready)
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])]
    .filter(({ name }) => running.has(name))
    .map((container) => {
      const texts = annotated.get(container.name) ?? annotated.get("") ?? {}
      const isLoaded = container.name === first
      const amount = (resource: Resource): number => {
        const load = isLoaded ? share?.[resource] : undefined
        const own = amountAt(resource, texts[resource], time)
        return limited(
          container,
          resource,
          own === undefined && load === undefined ? usual(container, resource) : (own ?? 0) + (load ?? 0)
        )
      }
      return { name: container.name, cpu: amount("cpu"), memory: amount("memory") }
    })
  return { time, window, containers }
}

/** When the running containers started, in milliseconds since 1970, by name. */
const runningSince = (pod: Pod): ReadonlyMap<string, number> => {
  const since = new Map<string, number>()
  for (const { name, state } of [
    ...(pod.status?.initContainerStatuses ?? []),
    ...(pod.status?.containerStatuses ?? [])
  ]) {
    const started: unknown = state?.running?.startedAt
    const time = typeof started === "string" ? Time.parse(started) : undefined
    if (time !== undefined) since.set(name, time)
  }
  return since
}

/** The pod's share of the load; a pod that is not ready has none, and a pod without a controller has all of it. */
const shareOf = (pod: Pod, time: number, ready: ReadonlyMap<string, number>): Partial<Amounts> | undefined => {
  const text = pod.metadata.annotations?.[loadAnnotation]
  if (text === undefined) return undefined
  const load = amountsOf(text.slice(0, maxText))
  const owner = Owner.controllerOf(pod)?.uid
  const share: { -readonly [K in Resource]?: number } = {}
  for (const resource of resources) {
    const amount = amountAt(resource, load[resource], time)
    if (amount === undefined) continue
    share[resource] = PodFacts.isReady(pod) ? Math.round(amount / Math.max(1, ready.get(owner ?? "") ?? 1)) : 0
  }
  return share
}

/** Amounts by container, under the empty name those of all containers. */
const entriesOf = (text: string | undefined): ReadonlyMap<string, Texts> => {
  const entries = new Map<string, Texts>()
  for (const part of (text ?? "").slice(0, maxText).split(";")) {
    const equals = part.indexOf("=")
    entries.set(part.slice(0, Math.max(0, equals)).trim(), amountsOf(part.slice(equals + 1)))
  }
  return entries
}

/** `cpu:250m,memory:64Mi` as texts; other resources are ignored. */
const amountsOf = (text: string): Texts => {
  const texts: Texts = {}
  for (const part of text.split(",")) {
    const [name = "", value] = part.split(":", 2)
    const resource = resources.find((one) => one === name.trim())
    if (resource !== undefined && value !== undefined) texts[resource] = value.trim()
  }
  return texts
}

/** The amount at a time; undefined where there is none, and for one that cannot be read. */
const amountAt = (resource: Resource, text: string | undefined, time: number): number | undefined => {
  if (text === undefined) return undefined
  const dots = text.indexOf("..")
  if (dots === -1) return unitsOf(resource, text)
  const slash = text.indexOf("/", dots)
  const [low, high] = [text.slice(0, dots), text.slice(dots + 2, Math.max(dots + 2, slash))]
  const [least, most] = [unitsOf(resource, low), unitsOf(resource, high)]
  const period = Time.parseGoDuration(text.slice(slash + 1))
  if (slash === -1 || least === undefined || most === undefined || period === undefined || period <= 0) return undefined
  const height = (1 - Math.cos((2 * Math.PI * (time % period)) / period)) / 2
  return Math.round(least + (most - least) * height)
}

/** Amounts above 2^50 are cut there, so that sums are exact. */
const mostUnits = 2 ** 50

/** Billionths of a CPU, or bytes; undefined for a text that is no quantity, and below zero. */
const unitsOf = (resource: Resource, text: string | undefined): number | undefined => {
  const parsed = text === undefined ? undefined : Quantity.parse(text.trim())
  if (parsed === undefined || parsed.nanos < 0n) return undefined
  const units = resource === "cpu" ? parsed.nanos : parsed.nanos / 1_000_000_000n
  return Math.min(mostUnits, Number(units))
}

/** A tenth of the requested CPU and a quarter of the requested memory; as a small process uses, without requests. */
const usual = ({ resources }: Container, resource: Resource): number => {
  const requested = unitsOf(resource, resources?.requests?.[resource] ?? resources?.limits?.[resource])
  if (requested === undefined) return resource === "cpu" ? 1_000_000 : 16 * 2 ** 20
  return Math.round(requested / (resource === "cpu" ? 10 : 4))
}

const limited = ({ resources }: Container, resource: Resource, amount: number): number =>
  Math.min(amount, unitsOf(resource, resources?.limits?.[resource]) ?? mostUnits)
