/**
 * What `create api`, `create webhook` and `create controller` add to a project: new files, and their places in `src/main.ts`. All is decided here, before the
 * first file is written: names that exist, files that exist, places that cannot be edited. Pure.
 */
import * as Result from "effect/Result"
import * as Builtin from "./builtin.ts"
import type { Change } from "./diff.ts"
import * as Names from "./names.ts"
import * as Project from "./project/Project.ts"
import { lineOf, type Unreadable } from "./project/source.ts"
import * as Template from "./template.ts"
import * as Wiring from "./project/wiring.ts"

export type Refusal = Names.InvalidNames | Project.NotAProject | Unreadable

/** The project with changes that are not written yet. */
export class Draft {
  readonly files: ReadonlyMap<string, string>
  /** The files as they are on the disk. */
  private readonly original: ReadonlyMap<string, string>
  readonly isForced: boolean

  constructor(options: Pick<Draft, "files" | "isForced"> & { readonly original?: ReadonlyMap<string, string> }) {
    this.files = options.files
    this.isForced = options.isForced
    this.original = options.original ?? options.files
  }

  get project(): Result.Result<Project.Project, Project.NotAProject | Unreadable> {
    return Project.read(Array.from(this.files, ([path, text]) => ({ path, text })))
  }

  /** Only what differs from the disk. */
  get changes(): ReadonlyArray<Change> {
    return Array.from(this.files, ([path, text]) => ({ path, text, before: this.original.get(path) })).filter(
      ({ before, text }) => before !== text
    )
  }

  private with(more: ReadonlyArray<Template.File>): Draft {
    const files = new Map([...this.files, ...more.map(({ path, text }) => [path, text] as const)])
    return new Draft({ files, original: this.original, isForced: this.isForced })
  }

  changed(change: Wiring.Changed | undefined): Draft {
    return change === undefined ? this : this.with([change])
  }

  /** Refuses to replace a file. File systems that ignore case have one file for two such names. */
  add(more: ReadonlyArray<Template.File>): Result.Result<Draft, Names.InvalidNames> {
    for (const { path } of more) {
      const there = [...this.files.keys()].find((one) => one.toLowerCase() === path.toLowerCase())
      if (there === undefined || (there === path && this.isForced)) continue
      return refuse(
        there === path
          ? `${path} exists already; --force replaces it`
          : `${path} and ${there} differ only in case: choose another name`
      )
    }
    return Result.succeed(this.with(more))
  }
}

export const refuse = (message: string): Result.Result<never, Names.InvalidNames> =>
  Result.fail(new Names.InvalidNames({ message }))

/** The names of a kind that exists. */
export const namesOf = (project: Project.Project, kind: Project.Kind): Names.Names => {
  const { group, kind: name, plural, version } = kind
  return { name: project.name, group, kind: name, singular: name.toLowerCase(), plural, version }
}

/** The kind of this name, in the version in which it is stored. */
export const kindOf = ({ kinds }: Project.Project, name: string): Result.Result<Project.Kind, Refusal> => {
  const [only, other] = kinds.filter((one) => one.kind === name)
  if (only === undefined) {
    const known = kinds.map(({ kind }) => kind).join(", ")
    return refuse(
      `--kind does not take "${name}": the project has ${known === "" ? "no kind yet" : known}; \`create api\` adds one`
    )
  }
  if (other !== undefined) return refuse(`"${name}" is declared twice: ${whereIs(only)} and ${whereIs(other)}`)
  // Files and constants are named for the constant, so that all of them follow from one name.
  return only.name === name
    ? Result.succeed(only)
    : refuse(`${whereIs(only)}: the constant of the kind must be called ${name}, not ${only.name}`)
}

const whereIs = ({ open, source }: Project.Kind): string => `${source.path}:${lineOf(source, open)}`

export interface Api {
  readonly names: Names.Said
  readonly isClusterScoped: boolean
  readonly hasController: boolean
}

export const api = (draft: Draft, templates: Template.Templates, options: Api): Result.Result<Draft, Refusal> =>
  Result.gen(function* () {
    const project = yield* draft.project
    const names = yield* Names.make(project.name, options.names, Template.taken(templates))
    const clash = clashOf(project, names, draft.isForced)
    if (clash !== undefined) return yield* refuse(clash)
    const files = Template.api(templates, names, options.isClusterScoped)
    const own = files.filter(({ path }) => options.hasController || path === `src/${names.kind}.ts`)
    const added = yield* draft.add(own)
    const path = `src/${names.kind}Controller.ts`
    const other = options.hasController ? wrongController(draft, project, names.singular, path) : undefined
    if (other !== undefined) return yield* refuse(`${other}: choose another kind, or --no-controller`)
    const { main } = yield* added.project
    const wired = options.hasController
      ? Wiring.controller(main, exported(`${names.kind}Controller`), `keeps the ConfigMap of each ${names.kind}`)
      : Wiring.kind(main, exported(names.kind))
    return added.changed(yield* wired)
  })

const exported = (name: string): Wiring.Exported => ({ name, path: `src/${name}.ts` })

/** All names of definitions of one group must differ. Source: apiextensions-apiserver pkg/controller/status: calculateNamesAndConditions. */
const clashOf = ({ declarations }: Project.Project, names: Names.Names, isForced: boolean): string | undefined => {
  const isReplaced = (path: string): boolean => isForced && path === `src/${names.kind}.ts`
  for (const other of declarations.filter(({ group, source }) => group === names.group && !isReplaced(source.path))) {
    const where = `${other.kind} of ${other.group} in ${whereIs(other)}`
    if (other.kind === names.kind) return `the kind ${where} exists already; \`create version\` adds a version to it`
    const [kinds, resources] = [
      [other.kind, `${other.kind}List`],
      [other.plural, other.kind.toLowerCase()]
    ]
    if ([names.kind, `${names.kind}List`].some((one) => kinds.includes(one)))
      return `--kind does not take "${names.kind}": the names of the kind ${where} are the same`
    if ([names.plural, names.singular].some((one) => resources.includes(one)))
      return `--plural does not take "${names.plural}": the names of the kind ${where} are the same`
  }
  return undefined
}

const wrongController = (
  draft: Draft,
  { controllers }: Project.Project,
  name: string,
  path: string
): string | undefined => {
  const other = controllers.find((one) => one.name === name && !(draft.isForced && one.path === path))
  return other === undefined ? undefined : `${other.path} has a controller "${name}" already`
}

/** In the order in which the API server calls them. */
export const webhooks = {
  defaulting: "Defaulting",
  validating: "Validation",
  conversion: "Conversion"
} as const

export const webhook = (
  draft: Draft,
  templates: Template.Templates,
  options: { readonly kind: string; readonly type: "defaulting" | "validating" }
): Result.Result<Draft, Refusal> =>
  Result.gen(function* () {
    const project = yield* draft.project
    const kind = yield* kindOf(project, options.kind)
    const files = Template.part(
      templates,
      options.type === "validating" ? "validation" : "defaulting",
      namesOf(project, kind),
      kind
    )
    const added = yield* draft.add(placed(files, kind))
    return yield* wire(added, kind, `${kind.name}${webhooks[options.type]}`)
  })

/** Lists the webhook `name` of a kind, which is in a file of its own beside the kind's. */
export const wire = (draft: Draft, { kind, source }: Project.Kind, name: string): Result.Result<Draft, Refusal> =>
  Result.gen(function* () {
    const project = yield* draft.project
    return draft.changed(
      yield* Wiring.webhook(project, yield* kindOf(project, kind), { name, path: besides(source.path, name) })
    )
  })

/** A file in the folder of another. */
export const besides = (path: string, name: string): string => `${path.slice(0, path.lastIndexOf("/") + 1)}${name}.ts`

/** Files of `src` beside the kind's, and their tests where those of that folder are. */
export const placed = (files: ReadonlyArray<Template.File>, { source }: Project.Kind): ReadonlyArray<Template.File> => {
  const inner = source.path.slice("src/".length, source.path.lastIndexOf("/") + 1)
  if (inner === "") return files
  return files.map(({ path, text }) => {
    const [folder = "", name = ""] = path.split("/")
    const up = "../".repeat(inner.split("/").length - 1)
    return { path: `${folder}/${inner}${name}`, text: text.replaceAll('from "../src/', `from "../${up}src/${inner}`) }
  })
}

export interface Controller {
  readonly name: string
  readonly for: string
}

export const controller = (
  draft: Draft,
  templates: Template.Templates,
  options: Controller
): Result.Result<Draft, Refusal> =>
  Result.gen(function* () {
    const project = yield* draft.project
    const name = yield* Names.controller(options.name)
    const constant = Names.capitalized(name)
    const clash = wrongController(draft, project, name, `src/${constant}Controller.ts`)
    if (clash !== undefined) return yield* refuse(`--name does not take "${name}": ${clash}`)
    if (Builtin.kinds.has(`${constant}Controller`))
      return yield* refuse(`--name does not take "${name}": ${constant}Controller is a kind of Kubernetes`)
    const own = project.kinds.find(({ kind }) => kind === options.for)
    const builtin = Builtin.kinds.get(options.for)
    const scope = (own ?? builtin)?.scope
    if (scope === undefined) {
      const known = [...project.kinds.map(({ kind }) => kind), ...Builtin.kinds.keys()].join(", ")
      return yield* refuse(`--for does not take "${options.for}": it must be one of ${known}`)
    }
    const words = { project: project.name, constant, name, kind: options.for, scope }
    const files =
      own !== undefined
        ? rebased(Template.controller(templates, "controller-custom", words), yield* kindOf(project, options.for))
        : Template.controller(templates, "controller-builtin", words).map(({ path, text }) => ({
            path,
            text: builtin === undefined ? text : sampled(text, builtin)
          }))
    const added = yield* draft.add(files)
    const summary = `records an event on each ${options.for} that asks for one`
    return added.changed(
      yield* Wiring.controller((yield* added.project).main, exported(`${constant}Controller`), summary)
    )
  })

/** The controller stays in `src`; the kind may be in a folder of it. */
const rebased = (files: ReadonlyArray<Template.File>, { name, source }: Project.Kind): ReadonlyArray<Template.File> =>
  files.map(({ path, text }) => ({
    path,
    text: text
      .replaceAll(`from "./${name}.ts"`, () => `from "${Project.specifierOf(path, source.path)}"`)
      .replaceAll(`from "../src/${name}.ts"`, () => `from "${Project.specifierOf(path, source.path)}"`)
  }))

/** With an object of the kind in place of the template's. */
const sampled = (text: string, kind: typeof Builtin.kinds extends ReadonlyMap<string, infer K> ? K : never): string =>
  text.replace(/(?<=const first = `\n)[^`]*/, () => `${Builtin.sampleOf(kind)}\n`)
