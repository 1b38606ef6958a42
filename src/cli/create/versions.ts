/**
 * What `create version` adds to a project: a version of a kind as a copy of the present declaration, which from then on changes by itself, its conversion
 * to the stored version and back, and a test that the way there and back loses nothing. The stored version keeps the name of the kind, so that
 * controllers and webhooks need no change. Pure.
 */
import * as Result from "effect/Result"
import * as Add from "./additions.ts"
import * as Edit from "./project/edit.ts"
import * as Names from "./names.ts"
import type { Kind, Project } from "./project/Project.ts"
import { specifierOf } from "./project/Project.ts"
import type { Source, Unreadable } from "./project/source.ts"
import * as Read from "./project/source.ts"
import * as Template from "./template.ts"
import * as Wiring from "./project/wiring.ts"

export interface Version {
  readonly kind: string
  readonly version: string
  /** Whether objects are stored in the new version. */
  readonly isStored: boolean
}

export const version = (
  draft: Add.Draft,
  templates: Template.Templates,
  options: Version
): Result.Result<Add.Draft, Add.Refusal> =>
  Result.gen(function* () {
    const project = yield* draft.project
    const kind = yield* Add.kindOf(project, options.kind)
    const version = yield* Names.version(options.version)
    const existing = project.declarations.find((one) => isVersionOf(kind, one) && one.version === version)
    if (existing !== undefined) {
      return yield* Add.refuse(
        `${kind.kind} has the version ${version} already: ${existing.source.path}:${Read.lineOf(existing.source, existing.open)}`
      )
    }
    // The file that is copied has the version that is not stored.
    const copied = options.isStored ? kind.version : version
    const constant = `${kind.name}${Names.capitalized(copied)}`
    const path = Add.besides(kind.source.path, constant)
    const copy = yield* copyOf(kind, constant, copied)
    const added = yield* draft.add([{ path, text: copy.text }])
    const listed = added.changed(
      yield* listing(kind, { name: constant, path }, options.isStored ? version : kind.version)
    )
    return yield* converted(listed, templates, { name: kind.kind, versions: [constant], isRewritten: false })
  })

const isVersionOf = (kind: Kind, one: Kind): boolean => one.group === kind.group && one.kind === kind.kind

/** `create webhook --conversion`: for a kind with versions that nothing converts yet. */
export const conversion = (
  draft: Add.Draft,
  templates: Template.Templates,
  name: string
): Result.Result<Add.Draft, Add.Refusal> =>
  Result.gen(function* () {
    const kind = yield* Add.kindOf(yield* draft.project, name)
    const own = Add.besides(kind.source.path, `${kind.name}Conversion`)
    if (draft.files.has(own) && !draft.isForced)
      return yield* Add.refuse(`${own} exists already: \`create version\` writes it; --force replaces it`)
    if (kind.versions.length === 0) {
      return yield* Add.refuse(
        `${name} has one version, ${kind.version}, so there is nothing to convert: \`create version --kind ${name} --version …\` adds another with its conversion`
      )
    }
    return yield* converted(draft, templates, { name, versions: kind.versions, isRewritten: true })
  })

/** The declaration under another name and in another version, without a list of further versions. */
const copyOf = (kind: Kind, constant: string, version: string): Result.Result<Wiring.Changed, Add.Refusal> => {
  const { name, source } = kind
  const declared = Read.calls(source).filter(({ callee }) => callee === "Resource.make")
  const place = Read.property(source, kind.open, "version")
  if (declared.length !== 1 || place === undefined) {
    const what = `a file with the kind in version ${version}, export const ${constant} = Resource.make({ … }), and versions: [${constant}.declaration] to this one`
    return Result.fail(
      Wiring.byHand(source, kind.open, "the file declares several kinds, so it cannot be copied for one", what)
    )
  }
  const versions = Read.property(source, kind.open, "versions")
  const edits = [
    Edit.replace(source, { from: place.value, to: place.value + 1 }, JSON.stringify(version)),
    ...(versions === undefined ? [] : [Edit.removing(source, versions)]),
    ...Read.imports(source)
      .filter((one) => one.names.length > 0 && one.names.every((imported) => kind.versions.includes(imported)))
      .map((range) => Edit.removingLine(source, range)),
    ...renamed(source, name, constant),
    ...heading(
      source,
      `/** The kind ${name} in version ${version}: ${name}Conversion.ts converts it to the stored version and back. */`
    )
  ]
  return Wiring.changed({ ...source, path: Add.besides(source.path, constant) }, edits)
}

/** Wherever the name is an identifier: not in a string, a comment, after a dot, or as a key. */
const renamed = (source: Source, from: string, to: string): ReadonlyArray<Edit.Edit> =>
  source.tokens.flatMap(({ kind, text }, index) =>
    kind === "word" && text === from && !isNotVariable(source, index)
      ? [Edit.replace(source, { from: index, to: index + 1 }, to)]
      : []
  )

/** After a dot, or the key of a property. */
const isNotVariable = (source: Source, index: number): boolean => {
  const before = Read.textAt(source, index - 1) ?? ""
  return before === "." || (["{", ","].includes(before) && Read.textAt(source, index + 1) === ":")
}

/** In place of the comment at the beginning of the file, if it has one. */
const heading = (source: Source, text: string): ReadonlyArray<Edit.Edit> => {
  const first = source.comments[0]
  const isFirst =
    first !== undefined && first.start < (source.tokens[0]?.start ?? 0) && source.text.startsWith("/*", first.start)
  return isFirst ? [{ ...first, text }] : [{ start: 0, end: 0, text: `${text}\n` }]
}

/** The kind's own file: the version in which it is stored, and the list of its further versions. */
const listing = (
  kind: Kind,
  copy: Wiring.Exported,
  version: string
): Result.Result<Wiring.Changed, Unreadable | Add.Refusal> => {
  const { open, source } = kind
  const item = `${copy.name}.declaration`
  const list = Read.property(source, open, "versions")
  const place = Read.property(source, open, "version")
  if (list !== undefined && Read.textAt(source, list.value) !== "[") {
    return Result.fail(
      Wiring.byHand(source, list.from, "versions is not a list that is written out", `${item} to versions`)
    )
  }
  const imported = Edit.importing(source, copy.name, specifierOf(source.path, copy.path))
  return Wiring.changed(source, [
    ...(imported === undefined ? [] : [imported]),
    ...(place === undefined || version === kind.version
      ? []
      : [Edit.replace(source, { from: place.value, to: place.value + 1 }, JSON.stringify(version))]),
    list === undefined ? Edit.append(source, open, `versions: [${item}]`) : Edit.append(source, list.value, item)
  ])
}

interface Converted {
  readonly name: string
  /** Their constants. */
  readonly versions: ReadonlyArray<string>
  /** Whether a file that is there is replaced. */
  readonly isRewritten: boolean
}

/** Adds conversions for versions, in a new file with a test or in the one that is there, and lists the webhook. */
const converted = (
  draft: Add.Draft,
  templates: Template.Templates,
  { isRewritten, name, versions }: Converted
): Result.Result<Add.Draft, Add.Refusal> =>
  Result.gen(function* () {
    const project = yield* draft.project
    const kind = yield* Add.kindOf(project, name)
    const own = `${kind.name}Conversion`
    const path = Add.besides(kind.source.path, own)
    let all = draft
    let rest = versions
    if (!draft.files.has(path) || isRewritten) {
      const files = Template.part(templates, "conversion", Add.namesOf(project, kind), {
        scope: kind.scope,
        spoke: versions[0]
      })
      const written = files.filter((file) => !/V2\.ts$|^src\/(?!.*Conversion\.ts$)/.test(file.path))
      all = yield* draft.add(Add.placed(written, kind))
      rest = versions.slice(1)
    }
    for (const version of rest) all = all.changed(yield* spoke(yield* all.project, kind, { path, version }))
    return yield* Add.wire(all, kind, own)
  })

/** Adds a version to `Webhook.converting(Widget, [ … ])`. */
const spoke = (
  project: Project,
  kind: Kind,
  options: { readonly path: string; readonly version: string }
): Result.Result<Wiring.Changed, Add.Refusal> => {
  const { path, version } = options
  const source = project.sources.find((one) => one.path === path)
  const item = `Webhook.spoke(${version}, { of: ${kind.name}, toHub: Effect.succeed, fromHub: Effect.succeed })`
  const call = source && Read.calls(source).find(({ callee }) => callee === "Webhook.converting")
  const list = source && call && Read.elements(source, call.open)[1]
  if (
    source === undefined ||
    list === undefined ||
    Read.textAt(source, list.from) !== "[" ||
    source.partners.get(list.from) !== list.to - 1
  ) {
    const what = `${item} to Webhook.converting(${kind.name}, [ … ]) in ${path}`
    return Result.fail(
      Wiring.byHand(source ?? kind.source, list?.from ?? 0, "there is no list of conversions that is written out", what)
    )
  }
  const imported = Edit.importing(source, version, specifierOf(path, Add.besides(path, version)))
  return Wiring.changed(source, [...(imported === undefined ? [] : [imported]), Edit.append(source, list.from, item)])
}
