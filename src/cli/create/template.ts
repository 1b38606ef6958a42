/**
 * The files of a new operator, from those of the template: a project that works by itself, for the kind Widget, whose names are
 * replaced. Pure.
 */
import type { Names } from "./names.ts"

/** A file of the template or of a project: its path in it, with slashes. */
export interface File {
  readonly path: string
  readonly text: string
}

/** npm does not pack files of these names, so the template has them without their dots. */
const dotted = new Set(["gitignore", "dockerignore"])

/** `library`: what the project depends on, as package.json has it. */
export const fill = (template: ReadonlyArray<File>, names: Names, library: string): ReadonlyArray<File> =>
  template.map(({ path, text }) => {
    const filled = rename(text, names)
    return {
      path: dotted.has(path) ? `.${path}` : rename(path, names),
      text: path === "package.json" ? depending(filled, library) : filled
    }
  })

/** What the template's own files import, and so mean by a name. */
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
