/**
 * What a release needs of the repository in the current folder; docs/releasing.md says when.
 *
 * - `check <tag>`: the tag, the manifest, the lock, the source, the template, the examples and the changelog have one version
 * - `notes <tag>`: prints the section of the changelog about the release
 * - `prepare`: npm's `version` script. Gives the version of the manifest to the other files, dates the section "Unreleased", and stages them
 * - `address`: writes the address of the building repository into the manifest; npm's provenance requires it
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { main, run } from "./run.mjs"

const name = "effect-controller-manager"
const read = (path) => readFileSync(path, "utf8")
const manifest = () => JSON.parse(read("package.json"))

/** Semantic Versioning 2.0.0, without build metadata: a tag of an image cannot have it. */
const semver = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/

/** The files that name the version, each with a pattern whose first group is what stands before it. */
const places = () => [
  { path: "src/version.ts", pattern: /(export const version = ")([^"]+)/g },
  { path: "templates/operator/package.json", pattern: new RegExp(`("${name}": "\\^)([^"]+)`, "g") },
  { path: "README.md", pattern: new RegExp(`(> ${name}@)(\\S+)`, "g") },
  ...[...exampleManifests(), "examples/README.md", "docs/operations.md"].map((path) => ({
    path,
    pattern: new RegExp(`(${name}-)([\\w.-]+?)(?=\\.tgz)`, "g")
  }))
]

const exampleManifests = () =>
  readdirSync("examples", { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `examples/${entry.name}/package.json`)
    .filter((path) => existsSync(path))

/** The heading of a release, with or without brackets and a date, and the lines below it up to the next release. */
const sectionOf = (title) => {
  const sections = read("CHANGELOG.md").split(/^## /m).slice(1)
  const found = sections.find((section) => headingOf(section).title === title)
  return found === undefined ? undefined : { ...headingOf(found), text: found.slice(found.indexOf("\n")).trim() }
}

const headingOf = (section) => {
  const [, title, date] = /^\[?([^\]\s]+)\]?(?: - (\d{4}-\d{2}-\d{2}))?/.exec(section) ?? []
  return { title, date }
}

const versionOf = (tag) => {
  const version = tag?.replace(/^v/, "")
  if (tag === undefined || version === tag || !semver.test(version))
    throw new Error(`${tag ?? "no tag"} is not the tag of a version, such as v0.2.0`)
  return version
}

const check = (tag) => {
  const version = versionOf(tag)
  const lock = JSON.parse(read("package-lock.json"))
  const named = [
    ["package.json", manifest().version],
    ["package-lock.json", lock.version],
    ["package-lock.json (its first package)", lock.packages[""].version],
    ...places().flatMap(({ path, pattern }) => {
      const found = [...read(path).matchAll(pattern)].map((match) => [path, match[2]])
      return found.length === 0 ? [[path, "no version"]] : found
    })
  ]
  const wrong = named.filter(([, found]) => found !== version).map(([path, found]) => `${path} has ${found}`)
  const section = sectionOf(version)
  if (section === undefined) wrong.push(`CHANGELOG.md has no section ${version}`)
  else if (section.text === "") wrong.push(`the section ${version} of CHANGELOG.md is empty`)
  else if (section.date === undefined) wrong.push(`the section ${version} of CHANGELOG.md has no date`)
  if ((sectionOf("Unreleased")?.text ?? "") !== "") wrong.push('the section "Unreleased" of CHANGELOG.md is not empty')
  if (wrong.length > 0) throw new Error(`${tag} cannot be released:\n${wrong.join("\n")}`)
  process.stdout.write(`${tag}: the manifest, the lock, the source, the examples and the changelog have this version\n`)
}

const notes = (tag) => {
  const section = sectionOf(versionOf(tag))
  if (section === undefined) throw new Error(`CHANGELOG.md has no section ${versionOf(tag)}`)
  process.stdout.write(`${section.text}\n`)
}

const prepare = () => {
  const { version } = manifest()
  const changelog = read("CHANGELOG.md")
  if (!semver.test(version)) throw new Error(`package.json has ${version}, which is not a version such as 0.2.0`)
  if (sectionOf(version) !== undefined) throw new Error(`CHANGELOG.md has a section ${version} already`)
  if ((sectionOf("Unreleased")?.text ?? "") === "")
    throw new Error('the section "Unreleased" of CHANGELOG.md is empty: there is nothing to release')
  const day = new Date().toISOString().slice(0, 10)
  const texts = places().map(({ path, pattern }) => [path, read(path).replace(pattern, `$1${version}`)])
  texts.push(["CHANGELOG.md", changelog.replace(/^## \[?Unreleased\]?.*$/m, `## Unreleased\n\n## ${version} - ${day}`)])
  for (const [path, text] of texts) writeFileSync(path, text)
  run("git", ["add", ...texts.map(([path]) => path)], { cwd: process.cwd() })
  process.stdout.write(`${texts.map(([path]) => path).join("\n")}\n`)
}

/** The variables are those that GitHub sets in a workflow. */
const address = () => {
  const { GITHUB_REPOSITORY: repository = "", GITHUB_SERVER_URL: server = "" } = process.env
  if (!/^https:\/\/[\w.:-]+$/.test(server) || !/^[\w.-]+\/[\w.-]+$/.test(repository))
    throw new Error("GITHUB_SERVER_URL and GITHUB_REPOSITORY do not name a repository: run this in a workflow")
  const url = `${server}/${repository}`
  const present = manifest()
  const known = present.repository?.url ?? present.repository
  if (known !== undefined && known !== `git+${url}.git`)
    throw new Error(
      `package.json says that the repository is ${known}, and this is ${url}: npm would refuse the provenance`
    )
  const fields = {
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
    repository: { type: "git", url: `git+${url}.git` }
  }
  writeFileSync("package.json", `${JSON.stringify({ ...present, ...fields }, null, 2)}\n`)
  process.stdout.write(`${join(process.cwd(), "package.json")} has the address ${url}\n`)
}

const commands = { check, notes, prepare, address }

await main(() => {
  const [command = "", ...args] = process.argv.slice(2)
  if (!Object.hasOwn(commands, command)) throw new Error(`usage: release.mjs ${Object.keys(commands).join("|")} [tag]`)
  commands[command](...args)
})
