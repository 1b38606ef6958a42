/**
 * `create`: writes a new operator into a folder, or adds a kind, a version, a webhook or a controller to the one in a folder. All input is validated, and all
 * changes are decided, before the first file is written. It does not install dependencies and does not prompt.
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { join } from "node:path"
import { printable } from "../../kube/printable.ts"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"
import type { Host } from "../../manager/process/Host.ts"
import * as Flags from "../../manager/setting/flags.ts"
import * as Sources from "../../manager/setting/sources.ts"
import { version as libraryVersion } from "../../version.ts"
import * as Add from "./additions.ts"
import * as Diff from "./diff.ts"
import * as Run from "./run.ts"
import type * as Template from "./template.ts"
import * as Versions from "./versions.ts"

const declared = { env: false, group: "command" } as const

const needed = (name: string, metavar: string, description: string) =>
  Setting.optional(Codecs.text(metavar), { ...declared, name, description })

const isSet = (name: string, description: string) =>
  Setting.make(Codecs.boolean, { ...declared, name, description, default: "false" })

const dryRun = isSet("dry-run", "Write nothing, and print what would be written as a diff that git apply takes")

const kindSettings = {
  group: needed("group", "domain", "API group of the kind, a domain that you own: apps.example.com"),
  kind: needed("kind", "word", "The kind: BlogPost"),
  plural: needed("plural", "word", "Its plural in lower case; default is the English plural"),
  version: Setting.make(Codecs.text("version"), {
    ...declared,
    name: "version",
    description: "Its version: v1, v1beta1",
    default: "v1alpha1"
  }),
  isClusterScoped: isSet("cluster-scoped", "Its objects are not in namespaces")
}

const newSettings = {
  ...kindSettings,
  library: Setting.make(Codecs.text("specifier"), {
    ...declared,
    name: "library",
    description: "Version of this package that the project depends on, or a file:…tgz",
    default: `^${libraryVersion}`
  }),
  force: isSet("force", "Write into the folder even if it is not empty; files of the same names are replaced"),
  dryRun
}

const inProject = {
  project: Setting.make(Codecs.text("folder"), {
    ...declared,
    name: "project",
    description: "The folder of the project",
    default: "."
  }),
  force: isSet("force", "Replace files of the same names"),
  dryRun
}

const apiSettings = {
  ...kindSettings,
  hasController: Setting.make(Codecs.boolean, {
    ...declared,
    name: "controller",
    description: "Also write a controller of the kind",
    default: "true"
  }),
  ...inProject
}

const versionSettings = {
  kind: needed("kind", "word", "The kind, which exists"),
  version: needed("version", "version", "The new version: v1, v2beta1"),
  storage: isSet("storage", "Objects are stored in the new version, and controllers work with it"),
  ...inProject
}

const webhookSettings = {
  kind: needed("kind", "word", "The kind, which exists"),
  defaulting: isSet("defaulting", "Sets missing fields"),
  validating: isSet("validating", "Denies invalid objects"),
  conversion: isSet("conversion", "Converts between versions that exist"),
  ...inProject
}

const controllerSettings = {
  name: needed("name", "name", "The name of the controller: pod-janitor"),
  for: needed("for", "kind", "The kind that it reconciles: one of the project, or of Kubernetes, like Deployment"),
  ...inProject
}

/** Of all its commands, for the normalization of the command line. */
export const settings: Setting.Settings = {
  ...newSettings,
  ...apiSettings,
  ...versionSettings,
  ...webhookSettings,
  ...controllerSettings
}

export const summary =
  "Writes a new operator into a folder: a kind, its controller, a test, a Dockerfile, CI. Its subcommands add to an operator that exists"

/** `templates`: the folder of all templates. */
export const command = (host: Host, templates: URL) =>
  Command.make(
    "create",
    { path: Argument.String("folder"), flags: Flags.of(newSettings) },
    Effect.fnUntraced(function* ({ flags, path }) {
      const values = yield* valuesOf(newSettings, flags)
      const kind = yield* namesOf(newSettings, values)
      const changes = yield* Run.create({ ...values, path, kind }, templates)
      if (values.dryRun) return void host.stdout.write(printable(Diff.unified(changes)))
      const said = changes.map((file) => join(path, file.path))
      host.stdout.write(`${said.join("\n")}\n\nNext: cd ${path} && npm install && npm run check\n`)
    })
  ).pipe(
    Command.withDescription(summary),
    Command.withSubcommands(
      [
        addition("api", "Adds a kind, its controller and a test to an operator", apiSettings, (values) =>
          Effect.map(
            namesOf(apiSettings, values),
            (names): Plan =>
              (draft, all) =>
                Add.api(draft, all, { ...values, names })
          )
        ),
        addition(
          "version",
          "Adds a version to a kind, with its conversion both ways and a test that it loses nothing",
          versionSettings,
          (values) =>
            Effect.gen(function* () {
              const kind = yield* given(versionSettings.kind, values.kind)
              const version = yield* given(versionSettings.version, values.version)
              return (draft, all) => Versions.version(draft, all, { kind, version, isStored: values.storage })
            })
        ),
        addition("webhook", "Adds webhooks for a kind, each with a test", webhookSettings, (values) =>
          Effect.gen(function* () {
            const kind = yield* given(webhookSettings.kind, values.kind)
            const types = (["defaulting", "validating", "conversion"] as const).filter((type) => values[type])
            if (types.length > 0) return webhooks(kind, types)
            const flags = "--defaulting, --validating and --conversion"
            return yield* new Sources.SettingError({ message: `${flags} are missing: name one or more of them` })
          })
        ),
        addition(
          "controller",
          "Adds a controller for a kind of Kubernetes, or of the project, and a test",
          controllerSettings,
          (values) =>
            Effect.gen(function* () {
              const name = yield* given(controllerSettings.name, values.name)
              const kind = yield* given(controllerSettings.for, values.for)
              return (draft, all) => Add.controller(draft, all, { name, for: kind })
            })
        )
      ].map((make) => make(host, templates))
    )
  )

/** What a command adds to a project. */
type Plan = (draft: Add.Draft, templates: Template.Templates) => Result.Result<Add.Draft, Add.Refusal>

const webhooks =
  (kind: string, types: ReadonlyArray<keyof typeof Add.webhooks>): Plan =>
  (draft, all) =>
    types.reduce<ReturnType<Plan>>(
      (changed, type) =>
        Result.flatMap(changed, (one) =>
          type === "conversion" ? Versions.conversion(one, all, kind) : Add.webhook(one, all, { kind, type })
        ),
      Result.succeed(draft)
    )

const addition =
  <S extends typeof inProject>(
    name: string,
    summary: string,
    settings: S,
    planOf: (values: Setting.Values<S>) => Effect.Effect<Plan, Sources.SettingError>
  ) =>
  (host: Host, templates: URL) =>
    Command.make(
      name,
      Flags.of(settings),
      Effect.fnUntraced(function* (flags) {
        const values = yield* valuesOf<S>(settings, flags)
        const plan = yield* planOf(values)
        // Safe: each of these commands has these settings.
        const common = values as Setting.Values<typeof inProject>
        const { changes, isRecovered } = yield* Run.add(common, templates, plan)
        if (isRecovered) host.stderr.write("An earlier create did not end: its changes were undone.\n")
        host.stdout.write(common.dryRun ? printable(Diff.unified(changes)) : said(common.project, changes))
      })
    ).pipe(Command.withDescription(summary))

const said = (project: string, changes: ReadonlyArray<Diff.Change>): string => {
  const lines = changes.map(
    ({ before, path }) => `${before === undefined ? "created" : "changed"} ${join(project, path)}`
  )
  const there = project === "." ? "" : `cd ${project} && `
  return `${lines.join("\n")}\n\nNext: ${there}npm run typecheck && npm test\n`
}

const valuesOf = <S extends Setting.Settings>(settings: S, flags: Parameters<typeof Flags.given>[0]) =>
  Effect.map(
    Effect.fromResult(Sources.resolve(settings, { flags: Flags.given(flags), env: {} })),
    ({ values }) => values
  )

const given = ({ description, name }: Setting.Setting<unknown>, value: Option.Option<string>) =>
  Option.isSome(value)
    ? Effect.succeed(value.value)
    : Effect.fail(new Sources.SettingError({ message: `--${name} is missing: ${description}` }))

const namesOf = Effect.fnUntraced(function* (
  settings: typeof kindSettings,
  { group, kind, plural, version }: Setting.Values<typeof kindSettings>
) {
  return {
    group: yield* given(settings.group, group),
    kind: yield* given(settings.kind, kind),
    plural: Option.getOrUndefined(plural),
    version
  }
})
