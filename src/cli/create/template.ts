/** Fills the template of a new operator: a complete project for the kind Widget, whose names are replaced. Pure. */
import type { Names } from "./names.ts"

/** A file of the template or of a project: its path in it, with slashes. */
export interface File {
  readonly path: string
  readonly text: string
}

/** npm does not pack these dot files, so the template stores them without the dot. */
const dotted = new Set(["gitignore", "dockerignore"])

/** `library`: the version of this package in the project's package.json. */
export const fill = (template: ReadonlyArray<File>, names: Names, library: string): ReadonlyArray<File> =>
  template.map(({ path, text }) => {
    const filled = rename(text, names)
    return {
      path: dotted.has(path) ? `.${path}` : rename(path, names),
      text: path === "package.json" ? depending(filled, library) : filled
    }
  })

/** The names that the template's files import. */
export const taken = (template: ReadonlyArray<File>): ReadonlySet<string> =>
  new Set(
    template.flatMap(({ text }) =>
      [...text.matchAll(/^import (?:\* as (\w+)|\{([^{}]*)\}) from\s"(?!\.)/gm)].flatMap(([, all, some = ""]) =>
        all === undefined ? some.split(",").map((name) => name.trim()) : [all]
      )
    )
  )

const rename = (text: string, { group, kind, name, plural, singular }: Names): string => {
  const words: Readonly<Record<string, string>> = {
    "widget-operator": name,
    widgets: plural,
    widget: singular,
    Widget: kind,
    "example.com": group
  }
  return text.replace(/widget-operator|widgets|widget|Widget|example\.com/g, (word) => words[word] ?? word)
}

const depending = (text: string, library: string): string =>
  text.replace(/("effect-controller-manager": )"[^"]*"/, (_, key: string) => key + JSON.stringify(library))
