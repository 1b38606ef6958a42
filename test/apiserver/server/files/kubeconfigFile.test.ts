import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { parse } from "yaml"
import * as Kubeconfig from "../../../../src/apiserver/server/files/kubeconfigFile.ts"

const access: Kubeconfig.Access = {
  server: "https://127.0.0.1:1",
  ca: "-----BEGIN CERTIFICATE-----\n",
  token: Redacted.make("secret")
}

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8)

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "kubeconfig-test-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

it.live("writes a file for its owner only, and removes it with its directory", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const path = yield* Kubeconfig.write(access).pipe(Scope.provide(scope))
    assert.deepStrictEqual([mode(path), mode(dirname(path))], ["600", "700"])
    assert.deepStrictEqual(readdirSync(dirname(path)), ["kubeconfig"])
    const config = parse(readFileSync(path, "utf8"))
    assert.strictEqual(config["current-context"], "embedded")
    assert.strictEqual(config.users[0].user.token, "secret")
    const { "certificate-authority-data": ca, server } = config.clusters[0].cluster
    assert.deepStrictEqual([server, Buffer.from(ca, "base64").toString()], [access.server, access.ca])
    yield* Scope.close(scope, Exit.void)
    assert.isFalse(existsSync(dirname(path)))
  })
)

it.live("replaces an old file in a given directory, and does not remove one that was replaced meanwhile", () =>
  Effect.gen(function* () {
    const directory = join(yield* temporary, "deep", "own")
    const scope = yield* Scope.make()
    const path = yield* Kubeconfig.write(access, directory).pipe(Scope.provide(scope))
    assert.deepStrictEqual([mode(directory), mode(path)], ["700", "600"])
    const second = yield* Scope.make()
    yield* Kubeconfig.write({ ...access, server: "https://127.0.0.1:2" }, directory).pipe(Scope.provide(second))
    yield* Scope.close(scope, Exit.void)
    assert.include(readFileSync(path, "utf8"), "127.0.0.1:2")
    yield* Scope.close(second, Exit.void)
    assert.deepStrictEqual(readdirSync(directory), [])
  })
)

it.live("fails with one sentence when it cannot write", () =>
  Effect.gen(function* () {
    const file = join(yield* temporary, "file")
    writeFileSync(file, "")
    const error = yield* Effect.flip(Kubeconfig.write(access, join(file, "below")))
    assert.strictEqual(error._tag, "KubeconfigError")
    assert.match(error.message, /^cannot use the directory for the kubeconfig: .*ENOTDIR/)
  })
)

describe("a directory in which another user could replace the kubeconfig is rejected before anything is written", () => {
  const isRoot = process.getuid?.() === 0
  const nobody = 65_534

  /** The given directory is `{folder}/a/b`. */
  const tree = Effect.map(temporary, (folder) => {
    const parent = join(folder, "a")
    const directory = join(parent, "b")
    mkdirSync(directory, { recursive: true, mode: 0o755 })
    return { folder, parent, directory }
  })

  const refused = Effect.fnUntraced(function* (directory: string, why: RegExp) {
    const error = yield* Effect.flip(Kubeconfig.write(access, directory))
    assert.match(error.message, why)
    assert.include(error.message, "for the kubeconfig")
  })

  it.live("because others may write to it", () =>
    Effect.gen(function* () {
      const { directory } = yield* tree
      for (const mode of [0o775, 0o757, 0o777, 0o1777]) {
        chmodSync(directory, mode)
        yield* refused(directory, new RegExp(`${directory} .*0${mode.toString(8)}.*chmod go-w`))
      }
      assert.deepStrictEqual(readdirSync(directory), [])
      chmodSync(directory, 0o755)
      assert.strictEqual(yield* Kubeconfig.write(access, directory), join(directory, "kubeconfig"))
    })
  )

  it.live("because others may replace the directory, unless a sticky bit prevents it", () =>
    Effect.gen(function* () {
      const { directory, parent } = yield* tree
      chmodSync(parent, 0o777)
      yield* refused(directory, new RegExp(`${parent} .*0777`))
      yield* refused(join(directory, "to", "be", "made"), new RegExp(`${parent} .*0777`))
      yield* refused(join(parent, "new"), new RegExp(`${parent} .*0777`))
      assert.deepStrictEqual(readdirSync(parent), ["b"])
      chmodSync(parent, 0o1777)
      yield* Kubeconfig.write(access, directory)
      yield* Kubeconfig.write(access, join(parent, "new"))
    })
  )

  it.live("through symbolic links and relative paths", () =>
    Effect.gen(function* () {
      const { directory, folder, parent } = yield* tree
      const link = join(folder, "link")
      symlinkSync("a/b", link)
      assert.strictEqual(yield* Kubeconfig.write(access, link), join(link, "kubeconfig"))
      const open = join(folder, "open")
      mkdirSync(open)
      symlinkSync(directory, join(open, "link"))
      chmodSync(open, 0o777)
      yield* refused(join(open, "link"), new RegExp(`${open} .*0777`))
      chmodSync(open, 0o755)
      chmodSync(parent, 0o777)
      yield* refused(link, new RegExp(`${parent} .*0777`))
      yield* refused(join(open, "link", "new"), new RegExp(`${parent} .*0777`))
      symlinkSync("round", join(folder, "round"))
      yield* refused(join(folder, "round"), /symbolic links/)
    })
  )

  it.live.skipIf(!isRoot)("because it, what is above it, or a link on the way belongs to another user", () =>
    Effect.gen(function* () {
      const { directory, folder, parent } = yield* tree
      chownSync(directory, nobody, nobody)
      yield* refused(directory, new RegExp(`${directory} belongs to another user .*65534`))
      yield* refused(join(directory, "new"), new RegExp(`${directory} belongs to another user`))
      chownSync(directory, 0, 0)
      chownSync(parent, nobody, nobody)
      yield* refused(directory, new RegExp(`${parent} belongs to another user`))
      chownSync(parent, 0, 0)
      // In a directory like /tmp any user may create a link and change it.
      const link = join(folder, "link")
      symlinkSync(directory, link)
      lchownSync(link, nobody, nobody)
      yield* refused(link, new RegExp(`${link} belongs to another user`))
    })
  )

  it.live.skipIf(isRoot)("because it is root's", () => refused("/usr", /\/usr belongs to another user/))
})
