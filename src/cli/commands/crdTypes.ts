/**
 * The command `crds types`: TypeScript modules with Effect Schemas for the CustomResourceDefinitions in files, at addresses or in a cluster. All
 * faults are reported before anything is written.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Definition from "../../kube/crd/types/definition.ts"
import * as Module from "../../kube/crd/types/Module.ts"
import { oneLine } from "../../kube/printable.ts"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import { CustomResourceDefinition } from "../../manager/crds/Definitions.ts"
import type { Host } from "../../manager/process/Host.ts"
import { complain } from "../../manager/process/Host.ts"
import { Program } from "../../manager/Program.ts"
import * as SettingSources from "../../manager/setting/sources.ts"
import * as Settings from "../../manager/settings.ts"
import { connect } from "../connect.ts"
import { tableOf } from "../selection.ts"
import * as Documents from "../types/documents.ts"
import * as Source from "../types/source.ts"
import * as Write from "../types/write.ts"

/** No types can be made of a definition; the lines before on standard error have the faults. */
export class BadDefinitions extends Data.TaggedError("BadDefinitions")<{ readonly message: string }> {}

const declared = { env: false, group: "command" } as const

/** Settings of the command itself. */
export const settings = {
  fromCluster: Setting.make(Codecs.boolean, {
    ...declared,
    name: "from-cluster",
    description: "Read the definitions from the cluster: those that are named, or all of them",
    default: "false"
  }),
  allowHttp: Setting.make(Codecs.boolean, {
    ...declared,
    name: "allow-http",
    description: "Read addresses that begin with http:// too, where anybody on the way can change what is read",
    default: "false"
  }),
  out: Setting.optional(Codecs.text("directory"), {
    ...declared,
    name: "out",
    description: "Directory to write a module for each kind to, instead of printing one module for all"
  }),
  force: Setting.make(Codecs.boolean, {
    ...declared,
    name: "force",
    description: "Replace files that this command has not generated",
    default: "false"
  })
}

const allSettings = { ...Settings.common, ...settings }

type Resolved = SettingSources.Resolved<typeof allSettings>

/** `inputs`: files, addresses and `-`, or the names of definitions in the cluster. */
export const types = Effect.fnUntraced(function* (host: Host, resolved: Resolved, inputs: ReadonlyArray<string>) {
  const { force, fromCluster, out } = resolved.values
  if (inputs.length === 0 && !fromCluster) {
    const message =
      "give a file, an address or - for standard input, or --from-cluster for the definitions of a cluster"
    return yield* new SettingSources.SettingError({ message })
  }
  const contents = fromCluster
    ? yield* inCluster(host, resolved, inputs)
    : yield* Effect.forEach(inputs, (input) =>
        Effect.flatMap(Source.read(host, input, resolved.values), (text) =>
          Documents.read(text, input === "-" ? "standard input" : input)
        )
      )
  const found = contents.flatMap((one) => one.found).toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const faults = [...contents.flatMap((one) => one.faults), ...repeated(found)]
  const { name } = yield* Program
  for (const fault of faults) complain(host, name, fault)
  if (faults.length > 0) {
    const count = faults.length === 1 ? "one fault" : `${faults.length} faults`
    return yield* new BadDefinitions({ message: `nothing was generated: ${count} in the definitions` })
  }
  const modules = (Option.isSome(out) ? found.map((one) => [one]) : [found]).map((group) => ({
    module: Module.make(group.map(({ definition }) => definition)),
    names: group.map(nameOf)
  }))
  for (const { module } of modules) {
    for (const { definition, field, message } of module.warnings) {
      const place = found.find((one) => nameOf(one) === definition)?.placeOf(field) ?? ""
      complain(host, name, `warning: ${place}: ${definition}: ${field}: ${message}`)
    }
  }
  const files = modules.map(({ module, names }) => ({
    name: `${names[0] ?? ""}.ts`,
    text: Module.source(module, names)
  }))
  if (Option.isNone(out)) return void host.stdout.write(files.map(({ text }) => text).join(""))
  const paths = yield* Write.write(out.value, files, force)
  for (const path of paths) host.stdout.write(`${path}\n`)
})

const nameOf = ({ definition }: Documents.Found): string => definition.metadata.name

/** In the order of their names, equal ones are neighbours. */
const repeated = (found: ReadonlyArray<Documents.Found>): ReadonlyArray<string> =>
  found.flatMap((one, index) => {
    const before = found[index - 1]
    return before !== undefined && nameOf(before) === nameOf(one)
      ? [`${one.placeOf("")}: ${nameOf(one)}: is also at ${before.placeOf("")}: give it once`]
      : []
  })

/** An object of the cluster that cannot be read names the definition in place of a line. */
const inCluster = (host: Host, resolved: Resolved, names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const table = yield* tableOf(resolved)
    const { cluster } = yield* connect(host, resolved, table, "administrator")
    const objects = yield* Effect.provide(stored(names), Layer.provide(KubeClient.layer, cluster.transport))
    return objects.map((object): Documents.Contents => {
      const placeOf = () => cluster.server
      return Result.match(Definition.read(object), {
        onSuccess: (definition) => ({ found: [{ definition, placeOf }], faults: [] }),
        onFailure: (causes) => ({
          found: [],
          faults: causes.map(({ field, message }) =>
            oneLine(`${cluster.server}: ${object.metadata.name}: ${field}: ${message}`)
          )
        })
      })
    })
  }).pipe(Effect.scoped)

/** The definitions of these names, or all. */
const stored = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  const client = yield* KubeClient
  if (names.length > 0) {
    return yield* Effect.forEach(names, (name) => client.get(CustomResourceDefinition, { name }))
  }
  const { items } = yield* client.list(CustomResourceDefinition)
  if (items.length > 0) return items
  return yield* new BadDefinitions({ message: "the cluster has no CustomResourceDefinitions" })
})
