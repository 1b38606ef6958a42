/**
 * A setting of a program, declared once, beside what it configures: for a controller, in its module. Flags, `--help`, completions, environment
 * variables, the configuration file, `/configz` and the table in `docs/operations.md` are derived from records of settings. Pure data;
 * `manager/setting/sources.ts` reads the sources.
 */
import * as Option from "effect/Option"
import * as Codecs from "./setting/codecs.ts"

/** Headings of `--help` and of the table, in their order. */
export const groups = {
  cluster: "Cluster",
  cache: "Watching and caching",
  controllers: "Controllers",
  tuning: "Tuning of controllers",
  leadership: "Leader election",
  servers: "Probes and metrics",
  webhooks: "Webhooks",
  logs: "Logs",
  telemetry: "Telemetry",
  process: "Process",
  command: "This command"
} as const

/** The section of `--help` in which a setting stands. */
export type Group = keyof typeof groups

/** A setting of a program: a flag, an environment variable and a key in the file of `--config`. */
export interface Setting<out A> {
  /** The flag without its dashes, and the key in the configuration file. */
  readonly name: string
  /** Other spellings of the name, accepted wherever the name is; one of a single letter has one dash on a command line. */
  readonly aliases: ReadonlyArray<string>
  /** The environment variable; undefined where there is none. */
  readonly env: string | undefined
  /** A second environment variable, used if the first is not set. */
  readonly variable: Variable | undefined
  /** Its section of `--help`. */
  readonly group: Group
  /** One sentence without a full stop; the default is added to it. */
  readonly description: string
  /** Its text is never shown: not in an error, not by `/configz`. */
  readonly isSecret: boolean
  /** The default; undefined: there is none, and an absent value has a meaning of its own. */
  readonly default: string | undefined
  /** How its text is read and written. */
  readonly codec: Codecs.Codec<unknown>
  /** None: the text, or its absence, is invalid. The default must be valid. */
  readonly read: (text: string | undefined) => Option.Option<A>
  /** A feature gate has no flag of its own: `--feature-gates` sets it. */
  readonly gate?: Gate | undefined
}

/** A feature gate: optional behaviour with a name, a stage and a default. Source: k8s.io/component-base/featuregate. */
export interface Gate {
  /** In capitals at the start of each word: `MaxUnavailableStatefulSet`. */
  readonly name: string
  /** `AllAlpha` and `AllBeta` set the gates of a stage. */
  readonly stage: "ALPHA" | "BETA" | "GA" | "DEPRECATED"
  /** Whether it is on where `--feature-gates` does not name it. */
  readonly byDefault: boolean
  /** The default is locked: setting the gate to another value is an error. */
  readonly isLocked?: boolean | undefined
  /** One line for `--help`. */
  readonly summary: string
}

/** An established environment variable, such as `KUBECONFIG`. */
export interface Variable {
  /** `KUBECONFIG`. */
  readonly name: string
  /** How the documentation shows it. */
  readonly shown: string
  /** Translates the text of the variable into that of the setting. */
  readonly read: (text: string) => string
}

/** Settings by the property name of their values. */
export type Settings = Readonly<Record<string, Setting<unknown>>>

/** The parsed values of settings, by property. */
export type Values<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer A> ? A : never
}

/** What something with settings is made with: values for some of them; the others have their defaults. */
export type Options<S extends Settings> = { readonly [K in keyof S]?: Values<S>[K] | undefined }

/** The values of all settings, with the default of each that is absent or undefined. */
export const complete = <S extends Settings>(settings: S, given: Options<S>): Values<S> =>
  // Safe: each value is given for its setting, or read by it.
  Object.fromEntries(
    Object.entries(settings).map(([property, setting]) => [property, orDefault(given[property], setting)])
  ) as Values<S>

/** The value that is given, or the default of the setting. */
export const orDefault = <A>(given: A | undefined, setting: Setting<A>): A =>
  given ?? Option.getOrThrow(setting.read(undefined))

interface Described {
  readonly name: string
  readonly aliases?: ReadonlyArray<string> | undefined
  /** Absent: `CM_` and the name in capitals. False: none. */
  readonly env?: string | false | undefined
  readonly variable?: Variable | undefined
  readonly group: Group
  readonly description: string
  readonly secret?: boolean | undefined
}

/** A setting with a default, which is a text and must be valid. */
export const make = <A>(
  codec: Codecs.Codec<A>,
  options: Described & {
    readonly default: string
  }
): Setting<A> => ({
  ...described(codec, options),
  default: options.default,
  read: (text) => codec.decode(text ?? options.default)
})

/** The same setting with another text as its default. */
export const withDefault = <A>(setting: Setting<A>, text: string): Setting<A> => ({
  ...setting,
  default: text,
  read: (said) => setting.read(said ?? text)
})

/** A setting without a default: absent and empty text are `None`. */
export const optional = <A>(codec: Codecs.Codec<A>, options: Described): Setting<Option.Option<A>> => ({
  ...described(codec, options),
  default: undefined,
  read: (text) =>
    text === undefined || text === "" ? Option.some(Option.none()) : Option.map(codec.decode(text), Option.some)
})

/** How many keys a controller reconciles at once. `what`: the plural that begins its description. */
export const concurrency = (name: string, initial: number, what: string): Setting<number> =>
  make(Codecs.concurrency, {
    name,
    group: "tuning",
    description: `${what} worked on at once`,
    default: String(initial)
  })

/** Whether a feature gate is on. */
export const gate = (declared: Gate): Setting<boolean> => ({
  ...make(Codecs.boolean, {
    name: declared.name,
    env: false,
    group: "controllers",
    description: declared.summary,
    default: String(declared.byDefault)
  }),
  gate: declared
})

const described = (codec: Codecs.Codec<unknown>, options: Described) => ({
  name: options.name,
  aliases: options.aliases ?? [],
  env: options.env === false ? undefined : (options.env ?? environmentName(options.name)),
  variable: options.variable,
  group: options.group,
  description: options.description,
  isSecret: options.secret === true,
  codec
})

/** An alias as it is written on a command line: `--log-level`, `-o`. */
export const flagOf = (alias: string): string => (alias.length === 1 ? `-${alias}` : `--${alias}`)

/** The environment variable of a setting: that of `leader-elect` is `CM_LEADER_ELECT`. */
export const environmentName = (name: string): string => `CM_${name.replaceAll("-", "_").toUpperCase()}`
