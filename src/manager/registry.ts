/**
 * Which controllers run: the registry of all controllers, and the `--controllers` list that selects from it. Its items are `*` (all controllers
 * that are on by default), `name` and `-name`. The first item that names a controller or one of its aliases decides, wherever the `*` stands. An
 * unknown name is an error that lists the known ones. Source: k8s.io/controller-manager/app: IsControllerEnabled.
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type * as Resource from "../kube/Resource.ts"
import { nameOf } from "../layers/controller/defaults.ts"
import type { Descriptor, Services } from "../layers/Controller.ts"
import type * as Setting from "../layers/Setting.ts"
import type { Webhook } from "../layers/Webhook.ts"
import type { Origin, Resolved } from "./setting/sources.ts"
import type { common } from "./settings.ts"

/** A controller and what a program needs to offer it. */
export interface Entry<out R = never> {
  /** Its descriptor. */
  readonly controller: Descriptor<R>
  /** Other names, such as those of kube-controller-manager: accepted, never shown as the name. */
  readonly aliases?: ReadonlyArray<string> | undefined
  /**
   * `core`: a controller of kube-controller-manager. These run under the Lease of kube-controller-manager, so that never two programs write. All
   * others run under the Lease of this program.
   */
  readonly group?: "core" | undefined
  /** Its service account in `kube-system`, where it has one; by default its name. Source: cmd/kube-controller-manager/app: ControllerContext.NewClient. */
  readonly account?: string | undefined
  /**
   * The limit of its client, in multiples of `--kube-api-qps` and `--kube-api-burst`, where each controller has a client of its own: in
   * kube-controller-manager mode. Default 1.
   */
  readonly clientLimits?: { readonly qps: number; readonly burst: number } | undefined
  /** `embedded`: on by default on the embedded cluster, off on a real one. */
  readonly byDefault: "on" | "off" | "embedded"
  /** It acts on the absence of objects, so it is off when only some namespaces are watched: see `cli/selection.ts`. */
  readonly needsAllNamespaces?: boolean | undefined
  /** Why it runs on the embedded cluster only, with these settings; undefined: it may run anywhere. */
  readonly embeddedOnly?: string | undefined
  /** Webhooks for its kinds. They are served whether the controller itself runs or not. Default: none. */
  readonly webhooks?: ReadonlyArray<Webhook<Services | R>> | undefined
  /** One line for `--help`. */
  readonly summary: string
}

/** A controller with settings of its own: a program adds them to its flags, variables, keys of the configuration file, help and documentation. */
export interface Configured<out R = never> {
  /** By any property. */
  readonly settings: Setting.Settings
  /** The entry for the values that the program has read. */
  readonly entryOf: (resolved: Resolved<typeof common>) => Entry<R>
}

/** The module of a controller: its settings, feature gates among them, and how it is made with their values. */
export interface Configurable<R, S extends Setting.Settings = {}> {
  /** By the properties of their values. Default: none. */
  readonly settings?: S | undefined
  /** Makes the controller; called once for each program, and once more for the concurrency that other settings give it. Must have no effects. */
  readonly make: (values: Setting.Values<S>) => Descriptor<R>
}

/**
 * A controller that is made with the values of its settings. One of them may be called `concurrency`: where it is not set, the program's
 * `group-kind-concurrency` and `max-concurrent-reconciles` take precedence over its default. `entry`: what the program needs to know
 * besides, which may depend on the values.
 */
export const configured = <R, S extends Setting.Settings = {}>(
  { make, settings: declared }: Configurable<R, S>,
  entry: About<R> | ((values: Setting.Values<S>) => About<R>)
): Configured<R> => {
  const settings: Setting.Settings = declared ?? {}
  const entryOf = (resolved: Resolved<typeof common>): Entry<R> => {
    const own = Object.fromEntries(
      Object.entries(settings).map(([property, setting]) => [property, valueOf(resolved, setting)])
    )
    // Safe: there is a value for each setting, read by it.
    const made = (values: Readonly<Record<string, unknown>>) => make(values as Setting.Values<S>)
    const concurrency = concurrencyIn(resolved, settings["concurrency"], made(own).for)
    const values = concurrency === undefined ? own : { ...own, concurrency }
    const about = typeof entry === "function" ? entry(values as Setting.Values<S>) : entry
    return { ...about, controller: made(values) }
  }
  return { settings, entryOf }
}

/** All of an entry but its controller. */
export type About<R> = Omit<Entry<R>, "controller">

/** The property of a controller's setting among all settings of a program: no other property is like a flag. */
export const propertyOf = ({ name }: Setting.Setting<unknown>): string => `--${name}`

/** The value that a program has read for a setting of one of its controllers. */
export const valueOf = <A>({ values }: Pick<Resolved<typeof common>, "values">, setting: Setting.Setting<A>): A => {
  const all: Readonly<Record<string, unknown>> = values
  // Safe: the program has read it by this setting.
  return (setting.gate === undefined ? all[propertyOf(setting)] : values.featureGates.get(setting.name)) as A
}

/** The concurrency of a controller by its own flag, its kind, or the setting for all; undefined: that of its own default. */
const concurrencyIn = (
  { origins, values }: Resolved<typeof common>,
  setting: Setting.Setting<unknown> | undefined,
  kind: Resource.Any | undefined
): number | undefined => {
  const all: Readonly<Record<string, Origin>> = origins
  if (setting === undefined || all[propertyOf(setting)]?._tag !== "Default") return undefined
  const ofKind = kind === undefined ? undefined : values.concurrencyOf.get(nameOf(kind))
  return ofKind ?? (origins.concurrency._tag === "Default" ? undefined : values.concurrency)
}

/** The table, or the selection from it, is invalid. */
export class RegistryError extends Data.TaggedError("RegistryError")<{ readonly message: string }> {}

/** What a list of patterns chooses. */
export interface Selection<out R = never> {
  /** In the order of the table. */
  readonly chosen: ReadonlyArray<Entry<R>>
  /** Off, by default or by the list. */
  readonly disabled: ReadonlyArray<string>
  /** Controllers that the list enables although they are off, each with the reason. */
  readonly unmet: ReadonlyMap<string, string>
}

/** Validates the list for any cluster; returns all names. */
export const check = (
  table: ReadonlyArray<Entry<unknown>>,
  patterns: ReadonlyArray<string>
): Result.Result<ReadonlyArray<string>, RegistryError> => {
  const names = table.map((entry) => entry.controller.name)
  const all = table.flatMap(namesOf)
  const twice = all.find((name, index) => all.indexOf(name) !== index)
  if (twice !== undefined) return fail(`two controllers are named "${twice}"`)
  const unknown = patterns.find((pattern) => pattern !== "*" && !all.includes(nameIn(pattern)))
  return unknown === undefined
    ? Result.succeed(names)
    : fail(`"${nameIn(unknown)}" is not a controller; there are: ${names.join(", ")}`)
}

/** Selects from the table by patterns, for the embedded cluster or a real one. */
export const select = <R>(
  table: ReadonlyArray<Entry<R>>,
  patterns: ReadonlyArray<string>,
  cluster: { readonly embedded: boolean }
): Result.Result<Selection<R>, RegistryError> => {
  const checked = check(table, patterns)
  if (Result.isFailure(checked)) return Result.fail(checked.failure)
  const isOn = (entry: Entry<R>): boolean => {
    const explicit = mentioned(entry, patterns)
    if (entry.embeddedOnly !== undefined && !cluster.embedded) return false
    if (explicit !== undefined) return explicit
    return patterns.includes("*") && (entry.byDefault === "on" || (entry.byDefault === "embedded" && cluster.embedded))
  }
  const chosen = table.filter(isOn)
  return Result.succeed({
    chosen,
    disabled: checked.success.filter((name) => !chosen.some((entry) => entry.controller.name === name)),
    unmet: new Map(
      table.flatMap((entry) =>
        !chosen.includes(entry) && entry.embeddedOnly !== undefined && mentioned(entry, patterns) === true
          ? [[entry.controller.name, entry.embeddedOnly] as const]
          : []
      )
    )
  })
}

/** Whether the first explicit mention of a controller enables it; undefined where there is none. */
export const mentioned = (entry: Entry<unknown>, patterns: ReadonlyArray<string>): boolean | undefined => {
  const explicit = patterns.find((pattern) => namesOf(entry).includes(nameIn(pattern)))
  return explicit === undefined ? undefined : !explicit.startsWith("-")
}

const namesOf = (entry: Entry<unknown>): ReadonlyArray<string> => [entry.controller.name, ...(entry.aliases ?? [])]

const nameIn = (pattern: string): string => (pattern.startsWith("-") ? pattern.slice(1) : pattern)

const fail = (message: string) => Result.fail(new RegistryError({ message }))
