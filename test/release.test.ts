/** The script that a release depends on, in copies of the files that it reads. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

const root = new URL("..", import.meta.url).pathname

const changelog = (...sections: ReadonlyArray<string>) => `# Changelog\n\n${sections.join("\n\n")}\n`
const unreleased = "## Unreleased\n\n### Added\n\n- A flag."
const released = "## 1.2.3 - 2026-01-02\n\n### Added\n\n- Another flag."

interface Copy {
  readonly release: (...args: ReadonlyArray<string>) => { readonly code: number | null; readonly said: string }
  readonly read: (path: string) => string
  readonly write: (path: string, text: string) => void
}

/** A repository with the version 1.2.3 everywhere, in a temporary folder. */
const repository = (use: (copy: Copy) => void, env: Readonly<Record<string, string>> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), "release-"))
  const read = (path: string) => readFileSync(join(folder, path), "utf8")
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const release = (...args: ReadonlyArray<string>) => {
    const script = join(root, "scripts/release.mjs")
    const options = { cwd: folder, encoding: "utf8", env: { PATH: process.env["PATH"], ...env } } as const
    const { status, stderr, stdout } = spawnSync(process.execPath, [script, ...args], options)
    return { code: status, said: `${stdout}${stderr}` }
  }
  try {
    spawnSync("git", ["init", "--quiet", folder])
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string }
    const examples = ["examples/README.md", "examples/hello-controller/package.json"]
    for (const path of [
      "src/version.ts",
      "templates/operator/package.json",
      "README.md",
      "docs/operations.md",
      ...examples
    ]) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      cpSync(join(root, path), join(folder, path))
      write(path, read(path).replaceAll(version, "1.2.3"))
    }
    write("package.json", JSON.stringify({ name: "effect-controller-manager", version: "1.2.3" }))
    write("package-lock.json", JSON.stringify({ version: "1.2.3", packages: { "": { version: "1.2.3" } } }))
    write("CHANGELOG.md", changelog("## Unreleased", released))
    use({ release, read, write })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe("release check", () => {
  it("accepts a tag whose version every file has, and prints the release's section of the changelog", () =>
    repository(({ release }) => {
      assert.deepStrictEqual(release("check", "v1.2.3").code, 0)
      assert.deepStrictEqual(release("notes", "v1.2.3"), { code: 0, said: "### Added\n\n- Another flag.\n" })
    }))

  const places = {
    "package.json": JSON.stringify({ version: "1.2.4" }),
    "package-lock.json": JSON.stringify({ version: "1.2.4", packages: { "": { version: "1.2.3" } } }),
    "src/version.ts": 'export const version = "1.2.4"\n',
    "templates/operator/package.json": '{ "dependencies": { "effect-controller-manager": "^1.2.4" } }',
    "examples/hello-controller/package.json": '"file:../../effect-controller-manager-1.2.4.tgz"',
    "README.md": "> effect-controller-manager@1.2.4 start\n"
  }
  for (const [path, text] of Object.entries(places)) {
    it(`refuses a tag when ${path} has another version, and names the file`, () =>
      repository(({ release, write }) => {
        write(path, text)
        const { code, said } = release("check", "v1.2.3")
        assert.strictEqual(code, 1)
        assert.include(said, `${path} has 1.2.4`)
      }))
  }

  for (const [what, text] of Object.entries({
    "no section of the release": changelog("## Unreleased"),
    "an empty section of the release": changelog("## 1.2.3 - 2026-01-02"),
    "a section of the release without a date": changelog("## 1.2.3\n\n- A flag."),
    "changes that are not released": changelog(unreleased, released)
  })) {
    it(`refuses a tag when the changelog has ${what}`, () =>
      repository(({ release, write }) => {
        write("CHANGELOG.md", text)
        assert.strictEqual(release("check", "v1.2.3").code, 1)
      }))
  }

  it("refuses what is not the tag of a version", () =>
    repository(({ release }) => {
      for (const tag of ["1.2.3", "v1.2", "v1.2.3+build", "v1.2.3;true"]) {
        assert.include(release("check", tag).said, `${tag} is not the tag of a version`)
      }
    }))
})

describe("release prepare", () => {
  it("gives the version of the manifest to every file and dates the unreleased section, so that the check passes", () =>
    repository(({ read, release, write }) => {
      write("package.json", JSON.stringify({ version: "1.3.0" }))
      write("package-lock.json", JSON.stringify({ version: "1.3.0", packages: { "": { version: "1.3.0" } } }))
      write("CHANGELOG.md", changelog(unreleased, released))
      assert.strictEqual(release("check", "v1.3.0").code, 1)
      assert.strictEqual(release("prepare").code, 0)
      assert.strictEqual(release("check", "v1.3.0").code, 0)
      assert.strictEqual(release("notes", "v1.3.0").said, "### Added\n\n- A flag.\n")
      assert.match(read("CHANGELOG.md"), /^## Unreleased\n\n## 1\.3\.0 - \d{4}-\d{2}-\d{2}$/m)
    }))

  it("changes nothing when there is nothing to release", () =>
    repository(({ read, release, write }) => {
      write("package.json", JSON.stringify({ version: "1.3.0" }))
      const before = read("src/version.ts")
      assert.strictEqual(release("prepare").code, 1)
      assert.strictEqual(read("src/version.ts"), before)
    }))
})

describe("release address", () => {
  const inWorkflow = { GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: "example-org/fork" }

  it("writes the address of the building repository into the manifest", () =>
    repository(({ read, release }) => {
      assert.strictEqual(release("address").code, 0)
      const url = "https://github.com/example-org/fork"
      assert.deepStrictEqual(JSON.parse(read("package.json")), {
        name: "effect-controller-manager",
        version: "1.2.3",
        homepage: `${url}#readme`,
        bugs: { url: `${url}/issues` },
        repository: { type: "git", url: `git+${url}.git` }
      })
    }, inWorkflow))

  it("refuses to build for another repository than the one that the manifest has", () =>
    repository(({ read, release, write }) => {
      const text = JSON.stringify({ repository: { type: "git", url: "git+https://github.com/example-org/other.git" } })
      write("package.json", text)
      assert.strictEqual(release("address").code, 1)
      assert.strictEqual(read("package.json"), text)
    }, inWorkflow))

  it("refuses to invent an address outside of a workflow", () =>
    repository(({ release }) => assert.strictEqual(release("address").code, 1)))
})
