/**
 * A setting of the program, declared once, beside what it configures. Flags, `--help`, completions, environment variables, the configuration file,
 * `/configz` and the table in `docs/operations.md` are derived from a record of settings. Pure data; `setting/sources.ts` reads the sources.
 */
import * as Option from "effect/Option"

/** Parses a text as an `A`; the text has one format, whichever source it comes from. */
export interface Codec<out A> {
  /** What `--help` calls a value: `duration`. */
  readonly metavar: string
  /** Completes "it must be …". */
  readonly expected: string
  /** All valid texts, if they can be listed. */
  readonly choices?: readonly [string, ...Array<string>] | undefined
  /** The flag needs no value: alone it means `true`, and `--no-…` means `false`. */
  readonly isSwitch?: true | undefined
  /** None: the text is invalid. */
  readonly decode: (text: string) => Option.Option<A>
  /** Explains an invalid text, where there is more to explain than what is expected. */
  readonly explain?: ((text: string) => string | undefined) | undefined
}

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
  /** Other spellings of the name, accepted wherever the name is. */
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
  readonly codec: Codec<unknown>
  /** None: the text, or its absence, is invalid. The default must be valid. */
  readonly read: (text: string | undefined) => Option.Option<A>
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
  codec: Codec<A>,
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
export const optional = <A>(codec: Codec<A>, options: Described): Setting<Option.Option<A>> => ({
  ...described(codec, options),
  default: undefined,
  read: (text) =>
    text === undefined || text === "" ? Option.some(Option.none()) : Option.map(codec.decode(text), Option.some)
})

const described = (codec: Codec<unknown>, options: Described) => ({
  name: options.name,
  aliases: options.aliases ?? [],
  env: options.env === false ? undefined : (options.env ?? environmentName(options.name)),
  variable: options.variable,
  group: options.group,
  description: options.description,
  isSecret: options.secret === true,
  codec
})

/** The environment variable of a setting: that of `leader-elect` is `CM_LEADER_ELECT`. */
export const environmentName = (name: string): string => `CM_${name.replaceAll("-", "_").toUpperCase()}`

/** The declared form of a name: underscores become dashes, as in Kubernetes components. Source: k8s.io/component-base WordSepNormalizeFunc. */
export const canonical = (name: string): string => name.replaceAll("_", "-")

/** The default, as the documentation shows it. */
export const defaultText = (setting: Setting<unknown>): string | undefined =>
  setting.default === undefined || setting.default === "" ? undefined : setting.default
