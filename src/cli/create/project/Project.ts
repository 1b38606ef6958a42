/**
 * What `create` has to know of an existing project, derived from its sources alone: the kinds and controllers that its files declare, and the
 * list of controllers in `src/main.ts`. There is no file beside the sources that could disagree with them. Pure.
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import type { Property, Source } from "./source.ts"
import * as Read from "./source.ts"
import type { File } from "../template.ts"

/** `export const Widget = Resource.make({ … })`. */
export interface Kind {
  /** The constant; the stored version has the name of the kind. */
  readonly name: string
  readonly source: Source
  /** The bracket of the declaration. */
  readonly open: number
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly scope: string
  /** The constants of its further versions. */
  readonly versions: ReadonlyArray<string>
}

/** `export const WidgetController = Controller.make({ … })`. */
export interface Controller {
  readonly constant: string
  readonly path: string
  /** Undefined where they are not written out. */
  readonly name: string | undefined
  readonly for: string | undefined
}

export interface Project {
  /** Of package.json. */
  readonly name: string
  readonly sources: ReadonlyArray<Source>
  /** Kinds in the version in which they are stored. */
  readonly kinds: ReadonlyArray<Kind>
  /** All declarations, further versions too. */
  readonly declarations: ReadonlyArray<Kind>
  readonly controllers: ReadonlyArray<Controller>
  readonly main: Main
  /** The paths of all files in `src` and `test`. */
  readonly paths: ReadonlyArray<string>
}

/** The call of `run` in `src/main.ts`. */
export interface Main {
  readonly source: Source
  /** The bracket of its options. */
  readonly options: number
  /** The bracket of the list of controllers. */
  readonly controllers: number
}

/** The folder is not a project that `create` can add to. Nothing was written. */
export class NotAProject extends Data.TaggedError("NotAProject")<{ readonly message: string }> {}

export const mainPath = "src/main.ts"

/** `files`: package.json, and the TypeScript files of `src` and `test`. */
export const read = (files: ReadonlyArray<File>): Result.Result<Project, NotAProject | Read.Unreadable> =>
  Result.gen(function* () {
    const name = yield* nameIn(files.find(({ path }) => path === "package.json"))
    const sources: Array<Source> = []
    for (const file of files) {
      if (/^src\/.*\.ts$/.test(file.path)) sources.push(yield* Read.read(file.path, file.text))
    }
    const main = yield* mainOf(sources.find(({ path }) => path === mainPath))
    const declarations = sources.flatMap(kindsIn)
    const further = new Set(declarations.flatMap(({ versions }) => versions))
    return {
      name,
      sources,
      declarations,
      kinds: declarations.filter((one) => !further.has(one.name)),
      controllers: sources.flatMap(controllersIn),
      main,
      paths: files.map(({ path }) => path)
    }
  })

const refuse = (message: string) => Result.fail(new NotAProject({ message }))

const nameIn = (manifest: File | undefined): Result.Result<string, NotAProject> => {
  if (manifest === undefined) return refuse(`there is no package.json: ${wanted}`)
  try {
    const { name }: { readonly name?: unknown } = JSON.parse(manifest.text) ?? {}
    if (typeof name === "string" && /^[a-z]([-a-z0-9]{0,48}[a-z0-9])?$/.test(name)) return Result.succeed(name)
    return refuse(
      "package.json: its name must be lower-case letters, digits and dashes, at most 50, beginning with a letter"
    )
  } catch (cause) {
    return refuse(`package.json is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

const wanted =
  "this command adds to a project; `create FOLDER --group … --kind …` writes a new one, and --project names the folder of another"

const mainOf = (source: Source | undefined): Result.Result<Main, NotAProject> => {
  if (source === undefined) return refuse(`there is no ${mainPath}: ${wanted}`)
  const run = Read.calls(source).filter(({ callee, name }) => name === undefined && callee === "run")
  const [only, other] = run
  if (only === undefined || other !== undefined || Read.textAt(source, only.open + 1) !== "{") {
    return refuse(
      `${mainPath}: there must be one call of run({ … }) at the top level, with the controllers of the program; add to it by hand`
    )
  }
  const options = only.open + 1
  const list = Read.property(source, options, "controllers")
  if (
    list === undefined ||
    Read.textAt(source, list.value) !== "[" ||
    source.partners.get(list.value) !== list.to - 1
  ) {
    return refuse(
      `${mainPath}:${Read.lineOf(source, list?.from ?? options)}: create adds to a list that is written out, controllers: [ … ]; this one is something else: add to it by hand`
    )
  }
  return Result.succeed({ source, options, controllers: list.value })
}

const kindsIn = (source: Source): ReadonlyArray<Kind> =>
  Read.calls(source).flatMap(({ callee, name, open }) => {
    if (callee !== "Resource.make" || name === undefined || Read.textAt(source, open + 1) !== "{") return []
    const text = (key: string): string | undefined => {
      const found = Read.property(source, open + 1, key)
      return found?.to === (found?.value ?? 0) + 1 ? Read.literal(source, found?.value ?? 0) : undefined
    }
    const [group, version, kind, plural] = [text("group"), text("version"), text("kind"), text("plural")]
    if (group === undefined || version === undefined || kind === undefined || plural === undefined) return []
    const versions = versionsOf(source, Read.property(source, open + 1, "versions"))
    return [
      { name, source, open: open + 1, group, version, kind, plural, scope: text("scope") ?? "Namespaced", versions }
    ]
  })

/** `versions: [WidgetV2.declaration]`. */
const versionsOf = (source: Source, property: Property | undefined): ReadonlyArray<string> =>
  property === undefined || Read.textAt(source, property.value) !== "["
    ? []
    : Read.elements(source, property.value).flatMap(({ from, to }) =>
        to === from + 3 && Read.matches(source, from, [undefined, ".", "declaration"])
          ? [Read.wordAt(source, from) ?? ""]
          : []
      )

const controllersIn = (source: Source): ReadonlyArray<Controller> =>
  Read.calls(source).flatMap(({ callee, name, open }) => {
    if (callee !== "Controller.make" || name === undefined || Read.textAt(source, open + 1) !== "{") return []
    const own = Read.property(source, open + 1, "name")
    const kind = Read.property(source, open + 1, "for")
    return [
      {
        constant: name,
        path: source.path,
        name: own === undefined ? undefined : Read.literal(source, own.value),
        for: kind?.to === (kind?.value ?? 0) + 1 ? Read.wordAt(source, kind?.value ?? 0) : undefined
      }
    ]
  })

/** The import specifier of a file in another. */
export const specifierOf = (from: string, to: string): string => {
  const [here, there] = [from.split("/").slice(0, -1), to.split("/")]
  while (here.length > 0 && here[0] === there[0]) {
    here.shift()
    there.shift()
  }
  return here.length === 0 ? `./${there.join("/")}` : [...here.map(() => ".."), ...there].join("/")
}
