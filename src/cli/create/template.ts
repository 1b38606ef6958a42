/**
 * Fills templates: projects and single files for the kind Widget and the controller Example, whose names are replaced. The folders of `templates`
 * are type-checked as they are. Pure.
 */
import type { Names } from "./names.ts"

/** A file of a template or of a project: its path in it, with slashes. */
export interface File {
  readonly path: string
  readonly text: string
}

/** All templates: the files of each folder of `templates`, by its name. */
export type Templates = ReadonlyMap<string, ReadonlyArray<File>>

/** npm does not pack some dot files, so the template stores them without the dot. */
const dotted = new Set(["gitignore", "dockerignore", "github"])

/** The files of a new project. `library`: the version of this package in the project's package.json. */
export const project = (
  templates: Templates,
  names: Names,
  { isClusterScoped, library }: Options
): ReadonlyArray<File> => {
  const [kind, rest] = [api(templates, names, isClusterScoped), templates.get("operator") ?? []]
  const others = rest
    .map((file) => fill(file, wordsOf(names)))
    .map(({ path, text }) => ({
      path: dotted.has(path.split("/")[0] ?? "") ? `.${path}` : path,
      text: path === "package.json" ? depending(text, library) : text
    }))
  const own = new Set(kind.map(({ path }) => path))
  return [...others.filter(({ path }) => !own.has(path)), ...kind].sort((a, b) => (a.path < b.path ? -1 : 1))
}

interface Options {
  readonly isClusterScoped: boolean
  readonly library: string
}

/** The declaration of a kind, its controller, and a test. */
export const api = (templates: Templates, names: Names, isClusterScoped: boolean): ReadonlyArray<File> => {
  const whole = templates.get("operator") ?? []
  const own = isClusterScoped ? (templates.get("cluster") ?? []) : []
  return whole
    .filter(({ path }) => /^(src|test)\/Widget/.test(path))
    .map((file) => fill(own.find(({ path }) => path === file.path) ?? file, wordsOf(names)))
    .map((file) => ({
      path: file.path,
      text: isClusterScoped ? file.text.replace('scope: "Namespaced"', 'scope: "Cluster"') : file.text
    }))
}

/** Of a kind that exists: a webhook, or conversions. `spoke`: the constant of a further version. */
export const part = (
  templates: Templates,
  folder: string,
  names: Names,
  { scope, spoke = "" }: Part
): ReadonlyArray<File> =>
  (templates.get(folder) ?? []).map((file) => scoped(fill(file, { ...wordsOf(names), WidgetV2: spoke }), scope))

interface Part {
  readonly scope: string
  readonly spoke?: string | undefined
}

/** In tests, the template's objects are in the namespace `default`. */
const scoped = ({ path, text }: File, scope: string): File => ({
  path,
  text: scope === "Cluster" ? text.replaceAll('{ namespace: "default", ', "{ ") : text
})

/** A controller for a kind. */
export const controller = (templates: Templates, folder: string, words: Controller): ReadonlyArray<File> =>
  (templates.get(folder) ?? []).map((file) =>
    scoped(
      fill(file, {
        "widget-operator": words.project,
        Example: words.constant,
        example: words.name,
        Widget: words.kind,
        Deployment: words.kind
      }),
      words.scope
    )
  )

interface Controller {
  readonly project: string
  /** `PodJanitor`. */
  readonly constant: string
  /** `pod-janitor`. */
  readonly name: string
  readonly kind: string
  readonly scope: string
}

/** The names that the templates' files import. */
export const taken = (templates: Templates): ReadonlySet<string> =>
  new Set(
    [...templates.values()]
      .flat()
      .flatMap(({ text }) =>
        [...text.matchAll(/^import (?:\* as (\w+)|\{([^{}]*)\}) from\s"(?!\.)/gm)].flatMap(([, all, some = ""]) =>
          all === undefined ? some.split(",").map((name) => name.trim()) : [all]
        )
      )
      // Replaced where it is a placeholder.
      .filter((name) => name !== "Deployment")
  )

type Words = Readonly<Record<string, string>>

const wordsOf = ({ group, kind, name, plural, singular, version }: Names): Words => ({
  "widget-operator": name,
  widgets: plural,
  widget: singular,
  Widget: kind,
  "example.com": group,
  v1alpha1: version
})

/** Longer words first. */
const placeholders = /widget-operator|widgets|widget|WidgetV2|Widget|example\.com|Example|example|Deployment|v1alpha1/g

/** All at once, so that a name is not replaced in a name. */
const fill = ({ path, text }: File, words: Words): File => {
  const replaced = (from: string): string => from.replace(placeholders, (word) => words[word] ?? word)
  return { path: replaced(path), text: replaced(text) }
}

const depending = (text: string, library: string): string =>
  text.replace(/("effect-controller-manager": )"[^"]*"/, (_, key: string) => key + JSON.stringify(library))
