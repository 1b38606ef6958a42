/**
 * A program as a value: its name, its controllers, its own settings, and the services that its controllers need beyond those that every program
 * provides. The command line, permissions, manifests and messages are derived from it. Nothing runs here.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type { Missing } from "../kube/Access.ts"
import type * as Resource from "../kube/Resource.ts"
import type { CloudProvider } from "../layers/CloudProvider.ts"
import type { ClusterAuthority } from "../layers/ClusterAuthority.ts"
import type { Descriptor, Services } from "../layers/Controller.ts"
import type { Discovery } from "../layers/Discovery.ts"
import type { Transport } from "../layers/Transport.ts"
import type { Webhook } from "../layers/Webhook.ts"
import * as Manifests from "./manifests/settings.ts"
import * as Registry from "./registry.ts"
import type { Configured, Entry } from "./registry.ts"
import * as Setting from "../layers/Setting.ts"
import type { Resolved } from "./setting/sources.ts"
import * as Settings from "./settings.ts"
import * as Output from "./settings/output.ts"
import { featureGates, gates as commonGates } from "./settings/controllers.ts"

/** What a program provides to every controller. */
export type Available = Services | CloudProvider | ClusterAuthority | Discovery | Transport

/** A descriptor alone is on by default; an entry also has aliases, defaults and webhooks. */
export type Member<R> = Descriptor<R> | Entry<R>

/** A kind of the program that no controller of it reads. Its definition is printed and installed, and its webhooks are served. */
export interface KindEntry<out R = never> {
  /** The kind. */
  readonly kind: Resource.AnyCustom
  /** Webhooks for it. Default: none. */
  readonly webhooks?: ReadonlyArray<Webhook<R>> | undefined
}

type Common = typeof Settings.common

/** What a program is. */
export interface Options<S extends Setting.Settings = {}, R = never, E = never> {
  /**
   * At most 50 lower-case letters, digits and dashes. It is the program's name in messages and `--help`, its User-Agent, and the default for the
   * name of its Lease, its image, and the objects of its manifests.
   */
  readonly name: string
  /** What `--version` prints. Default: 0.0.0. */
  readonly version?: string | undefined
  /** One sentence, the first of `--help`. */
  readonly description?: string | undefined
  /** Its own settings, beside those of its controllers; each is a flag, an environment variable and a key of the configuration file. */
  readonly settings?: S | undefined
  /** All controllers, in the order in which they start; a function if they depend on settings of the program. */
  readonly controllers:
    | ReadonlyArray<
        | Member<NoInfer<R> | Available | Missing<"a layer of it in services">>
        | Configured<NoInfer<R> | Available | Missing<"a layer of it in services">>
      >
    | ((
        resolved: Resolved<Common & S>
      ) => ReadonlyArray<Member<NoInfer<R> | Available | Missing<"a layer of it in services">>>)
  /** Kinds without a controller. Those of the controllers need not be listed. Default: none. */
  readonly kinds?:
    | ReadonlyArray<Resource.AnyCustom | KindEntry<NoInfer<R> | Available | Missing<"a layer of it in services">>>
    | undefined
  /**
   * Services that the controllers need, in addition to those of every program or instead of them; a function if they depend on settings. Built once
   * in each process, before the first controller, and closed after the last.
   */
  readonly services?:
    | Layer.Layer<R, E, Available>
    | ((resolved: Resolved<Common & S>) => Layer.Layer<R, E, Available>)
    | undefined
}

/** The declaration of the program is invalid. */
export class InvalidProgram extends Data.TaggedError("InvalidProgram")<{ readonly message: string }> {}

export class Program extends Context.Service<
  Program,
  {
    readonly name: string
    readonly version: string
    readonly description: string
    /** Its own settings, and those of every program, with the defaults that follow from its name. */
    readonly settings: Common
    /** The feature gates of every program, and those of its controllers. */
    readonly gates: ReadonlyArray<Setting.Gate>
    /** The same for the manifests it prints. */
    readonly manifests: typeof Manifests.settings
    /** All controllers, configured by the settings. */
    readonly table: (resolved: Resolved<Common>) => ReadonlyArray<Entry<Available>>
    /** The kinds without a controller. */
    readonly kinds: ReadonlyArray<KindEntry<Available>>
    readonly services: (resolved: Resolved<Common>) => Layer.Layer<never, unknown, Available>
  }
>()("effect-controller-manager/Program") {}

export const make = <S extends Setting.Settings = {}, R = never, E = never>(
  options: Options<S, R, E>
): Result.Result<Program["Service"], InvalidProgram> => {
  const { controllers, name, version = "0.0.0" } = options
  const own: Setting.Settings = options.settings ?? {}
  const { flags, gates } = collected(typeof controllers === "function" ? [] : controllers)
  const wrong = wrongName(name) ?? clash([...Object.entries(own), ...flags]) ?? gateTwice(gates)
  if (wrong !== undefined) return Result.fail(new InvalidProgram({ message: wrong }))
  const complete = <T extends Common>(common: T): T => ({
    ...named(common, name),
    featureGates: featureGates(gates),
    ...own,
    ...Object.fromEntries(flags)
  })
  return Result.succeed({
    name,
    version,
    description:
      options.description ?? "Runs Kubernetes controllers: watches an API server, leads if asked to, and reconciles.",
    settings: complete(Settings.common),
    gates,
    manifests: complete(Manifests.settings),
    // Safe: `resolved` was made from the settings above, which include the program's own; and `services` provides what its controllers need.
    table: (resolved) => {
      const members = typeof controllers === "function" ? controllers(resolved as Resolved<Common & S>) : controllers
      return members.map((one) => entryOf(one, resolved)) as ReadonlyArray<Entry<Available>>
    },
    // Safe: as above.
    kinds: (options.kinds ?? []).map((one) => ("declaration" in one ? { kind: one } : one)) as ReadonlyArray<
      KindEntry<Available>
    >,
    // Built in isolation, so that a client that it creates for another cluster is not shared with the program's client.
    services: (resolved) => {
      const services = options.services ?? Layer.empty
      return Layer.fresh(typeof services === "function" ? services(resolved as Resolved<Common & S>) : services)
    }
  })
}

const entryOf = <R>(member: Member<R> | Configured<R>, resolved: Resolved<Common>): Entry<R> => {
  if ("entryOf" in member) return member.entryOf(resolved)
  return "controller" in member ? member : { controller: member, byDefault: "on", summary: "" }
}

/** The settings of controllers, each once: one that several controllers share is one flag. */
const collected = (members: ReadonlyArray<Member<unknown> | Configured<unknown>>) => {
  const all = new Set(members.flatMap((one) => ("entryOf" in one ? Object.values(one.settings) : [])))
  const flags = Array.from(all).flatMap((setting) =>
    setting.gate === undefined ? [[Registry.propertyOf(setting), setting] as const] : []
  )
  return { flags, gates: [...commonGates, ...Array.from(all).flatMap(({ gate }) => gate ?? [])] }
}

const gateTwice = (gates: ReadonlyArray<Setting.Gate>): string | undefined => {
  const names = gates.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  return twice === undefined ? undefined : `the feature gate "${twice}" is declared twice: name one of them otherwise`
}

const wrongName = (name: string): string | undefined =>
  /^[a-z]([-a-z0-9]{0,48}[a-z0-9])?$/.test(name)
    ? undefined
    : `"${name}" cannot be the name of a program: it must be lower-case letters, digits and dashes, at most 50, beginning with a letter`

/** The name of the first setting that is declared twice, here or in every program. */
const clash = (own: ReadonlyArray<readonly [string, Setting.Setting<unknown>]>): string | undefined => {
  const common: Setting.Settings = { ...Manifests.settings, ...Output.settings }
  const everywhere = new Set(Object.values(common).flatMap(namesOf))
  const taken = new Set<string>()
  for (const [property, setting] of own) {
    const reserved = namesOf(setting).find((name) => everywhere.has(name))
    if (reserved !== undefined) return `the setting "${reserved}" is one that every program has: name it otherwise`
    const twice = namesOf(setting).find((name) => taken.has(name))
    if (twice !== undefined) return `the setting "${twice}" is declared twice: name one of them otherwise`
    if (property in common)
      return `the property "${property}" is of a setting that every program has: name it otherwise`
    for (const name of namesOf(setting)) taken.add(name)
  }
  return undefined
}

const namesOf = ({ aliases, name }: Setting.Setting<unknown>): ReadonlyArray<string> => [name, ...aliases]

/** The settings whose default derives from the program's name. */
const byName: Readonly<Record<string, (name: string) => string>> = {
  leaseName: (name) => name,
  image: (name) => `${name}:latest`,
  installNamespace: (name) => name
}

const named = <S extends Setting.Settings>(settings: S, name: string): S =>
  // Only the default of each setting changes, so the type stays.
  Object.fromEntries(
    Object.entries(settings).map(([property, setting]) => {
      const choose = byName[property]
      return [property, choose === undefined ? setting : Setting.withDefault(setting, choose(name))]
    })
  ) as S
