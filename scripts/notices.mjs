/**
 * The third-party notices of the bundle: name, version and license text of every package with a module in it. The bundler's own list of modules is the
 * source, so no package is missing and none is superfluous.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join, sep } from "node:path"

const marker = `${sep}node_modules${sep}`

/** The folder of the package that a module belongs to; undefined for the project's own modules. */
const packageOf = (module) => {
  const at = module.lastIndexOf(marker)
  if (at === -1) return undefined
  const [first, second] = module.slice(at + marker.length).split(sep)
  return join(module.slice(0, at), "node_modules", first.startsWith("@") ? join(first, second) : first)
}

const licenceOf = (folder) =>
  readdirSync(folder)
    .filter((name) => /^(licen[cs]e|notice|copying|thirdpartynotice)/i.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8").trim())

const author = ({ author }) => (typeof author === "string" ? author : author?.name)

const notice = (folder) => {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const texts = licenceOf(folder)
  const by = author(manifest)
  const none = `(The package carries no licence file${by === undefined ? "" : `; its author is ${by}`}.)`
  return {
    name: `${manifest.name} ${manifest.version}`,
    text: [`Licence: ${manifest.license}`, ...(texts.length === 0 ? [none] : texts)].join("\n\n")
  }
}

/** The whole text, for the modules of a bundle. */
export const notices = (modules) => {
  const folders = new Set(modules.map(packageOf).filter((folder) => folder !== undefined))
  const entries = [...folders].map(notice).sort((a, b) => (a.name < b.name ? -1 : 1))
  const rule = "-".repeat(80)
  const head = "The program (main.js and the files in program/ and console/) contains parts of the following packages."
  return `${[head, ...entries.map(({ name, text }) => `${rule}\n${name}\n${text}`)].join("\n\n")}\n`
}
