/**
 * What a simulated container does: when it starts, is ready and ends, with which code, and how much memory it uses. There is no image and no
 * process: annotations of the pod decide, then the tag of the image, then the command, then the image, then the kind of the container. The
 * table of all rules is in docs/embedded-cluster.md, "What simulated containers do".
 *
 * Annotations are `container=value` pairs, separated by commas, and may be changed while the pod runs. A value that cannot be read counts as
 * absent. `simulation/logs` belongs to the logs of containers and is not read here.
 */
import * as Owner from "../../kube/Owner.ts"
import * as Quantity from "../../kube/quantity.ts"
import type { Pod } from "../../kube/resources.ts"
import * as Program from "./program.ts"

/**
 * How containers end: `main=1@5,side=0` ends every run of `main` with code 1 after five seconds, and every run of `side` with code 0 at once;
 * `main=1@5x3` does so for the first three runs only. It takes precedence over everything else.
 */
export const exitAnnotation = "simulation/exit"

/** Names of containers, separated by commas, whose readiness probes fail as long as they are listed. */
export const unreadyAnnotation = "simulation/unready"

/** Seconds from each start of a container until its liveness probe fails: `main=30`. Without such a probe nothing happens. */
export const unliveAnnotation = "simulation/unlive"

/** Seconds until a container runs the first time, instead of the usual second: `main=30`. */
export const startAnnotation = "simulation/start"

/** Seconds from the start of a container until it is ready, in addition to its probes: `main=20`. */
export const readyAnnotation = "simulation/ready"

/** The memory that a container uses, from its start or from a number of seconds after it: `main=300Mi@5`. Above its limit it is killed. */
export const memoryAnnotation = "simulation/memory"

/** The kind of a container in its pod. A sidecar is an init container with the restart policy Always. */
export type Role = "app" | "init" | "sidecar" | "ephemeral"

interface Container {
  readonly name: string
  readonly image?: string | undefined
  readonly command?: ReadonlyArray<string> | undefined
  readonly args?: ReadonlyArray<string> | undefined
  readonly stdin?: boolean | undefined
  readonly resources?: { readonly limits?: Readonly<Record<string, string>> | undefined } | undefined
}

/** The end of a container's `run`-th run, counted from 0; undefined if it runs until it is stopped. */
export const exitOf = (pod: Pod, container: Container, role: Role, run: number): Program.Exit | undefined => {
  const course = annotated(pod, container.name, run) ?? ofImageOrCommand(container) ?? usual(pod, role)
  const exit = course === "endless" ? undefined : course
  const killed = outOfMemory(pod, container)
  return killed !== undefined && (exit === undefined || killed.after < exit.after) ? killed : exit
}

/** Milliseconds from the time a container may start until it runs the first time, if something sets them. */
export const startOf = (pod: Pod, container: Container): number | undefined =>
  secondsOf(pod, startAnnotation, container.name) ?? (tagOf(container.image ?? "") === "slow" ? slowStart : undefined)

/** Milliseconds from the start of a container until it can be ready, whatever its probes say. */
export const readyAfter = (pod: Pod, name: string): number => secondsOf(pod, readyAnnotation, name) ?? 0

/** Milliseconds from the start of a container until its liveness probe fails, if something makes it fail. */
export const unliveAfter = (pod: Pod, name: string): number | undefined => secondsOf(pod, unliveAnnotation, name)

export const isUnready = (pod: Pod, { image, name }: Container): boolean =>
  tagOf(image ?? "") === "unready" || parts(pod, unreadyAnnotation).some((one) => one.trim() === name)

/** How long a container runs that ends by default: long enough to be seen running. */
const moment = 1_000

const completed: Program.Exit = { code: 0, after: moment }

/** SIGKILL. */
const oomKilled = { code: 137, reason: "OOMKilled" } as const

/** Of a container with an image of the tag `slow`. */
const slowStart = 30_000

const tags: ReadonlyMap<string, Program.Exit> = new Map([
  ["crash", { code: 1, after: moment }],
  ["oom", { ...oomKilled, after: moment }]
])

/** Images that end at once where they have no command and no input: their own command is a shell, or prints a text. */
const brief = new Set("alpine amazonlinux bash busybox centos debian fedora hello-world rockylinux ubuntu".split(" "))

const ofImageOrCommand = ({ args = [], command = [], image = "", stdin }: Container): Program.Course | undefined => {
  const ofTag = tags.get(tagOf(image))
  if (ofTag !== undefined) return ofTag
  if (command.length + args.length > 0) return Program.run([...command, ...args])
  return brief.has(nameOf(image)) ? (stdin === true ? "endless" : { code: 0, after: 0 }) : undefined
}

/** What a container does of which nothing else is known: work ends well, and everything else runs on. */
const usual = (pod: Pod, role: Role): Program.Course =>
  role === "init" || (role === "app" && isOfJob(pod)) ? completed : "endless"

/**
 * The owner decides, and not the restart policy: the policy says what follows an end, and not that there is one. A bare pod of
 * `kubectl run --restart=Never` runs a server as well as a task.
 */
const isOfJob = (pod: Pod): boolean => {
  const owner = Owner.controllerOf(pod)
  return owner?.kind === "Job" && owner.apiVersion.startsWith("batch/")
}

const outOfMemory = (pod: Pod, { name, resources }: Container): Program.Exit | undefined => {
  const [used, after] = split(valueOf(pod, memoryAnnotation, name) ?? "", "@")
  const limit = resources?.limits?.["memory"] ?? pod.spec?.resources?.limits?.["memory"]
  const delay = after === undefined ? 0 : seconds(after)
  if (limit === undefined || delay === undefined || Quantity.compare(used, limit) !== 1) return undefined
  return { ...oomKilled, after: delay }
}

const annotated = (pod: Pod, name: string, run: number): Program.Exit | undefined => {
  const match = /^(\d{1,3})(?:@(\d{1,9}(?:\.\d{1,9})?))?(?:x(\d{1,9}))?$/.exec(valueOf(pod, exitAnnotation, name) ?? "")
  if (match === null || run >= Number(match[3] ?? Infinity)) return undefined
  return { code: Number(match[1]) % 256, after: Number(match[2] ?? 0) * 1_000 }
}

const seconds = (text: string): number | undefined =>
  /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) * 1_000 : undefined

const secondsOf = (pod: Pod, annotation: string, name: string): number | undefined =>
  seconds(valueOf(pod, annotation, name) ?? "")

/** An annotation may be long, and is read at each step of a container. */
const most = { characters: 4_096, parts: 64 }

const parts = (pod: Pod, annotation: string): ReadonlyArray<string> =>
  (pod.metadata.annotations?.[annotation] ?? "").slice(0, most.characters).split(",", most.parts)

/** The value for a container. */
const valueOf = (pod: Pod, annotation: string, name: string): string | undefined => {
  for (const part of parts(pod, annotation)) {
    const [key, value] = split(part, "=")
    if (key.trim() === name) return value?.trim()
  }
  return undefined
}

const split = (text: string, at: string): readonly [string, string | undefined] => {
  const index = text.indexOf(at)
  return index === -1 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)]
}

/** Name with its registry and tag; a port of the registry is no tag. */
export const reference = (image: string): readonly [name: string, tag: string] => {
  const undigested = split(image, "@")[0]
  const colon = undigested.lastIndexOf(":")
  return colon > undigested.lastIndexOf("/")
    ? [undigested.slice(0, colon), undigested.slice(colon + 1)]
    : [undigested, "latest"]
}

const tagOf = (image: string): string => reference(image)[1]

const nameOf = (image: string): string => {
  const [name] = reference(image)
  return name.slice(name.lastIndexOf("/") + 1)
}
