/**
 * Loads the files of the program together with V8's compiled code of an earlier run. The build puts it between the entry and the files, which are
 * CommonJS, because Node 20 accepts compiled code for scripts alone; they cannot call `import()`. Node keeps code by itself from 22.1 on, but a start with
 * that needs a third more of the processor.
 *
 * The code is in the folder that `NODE_COMPILE_CACHE` names, or beside the program: whoever can write there can change the program as well. A folder
 * that cannot be written is not used. V8 rejects code of another version or other flags, but trusts the rest, and code that is damaged or of another
 * text ends the process. So it is kept with a hash of itself and of the text. `NODE_DEBUG=compile-cache` prints what is used.
 */
import { createHash, type Hash } from "node:crypto"
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { debuglog } from "node:util"
import { cachedDataVersionTag } from "node:v8"
import { Script } from "node:vm"
import { threadId } from "node:worker_threads"

/** What a file exports. */
type Exports = Readonly<Record<string, unknown>>

/** `files`: the folder of the program's files. */
export const make = (files: URL): ((name: string) => Exports) => {
  const folder = fileURLToPath(files)
  const cache = process.env["NODE_COMPILE_CACHE"] ?? join(folder, "cache")
  const require = createRequire(files)
  if (!isNode || process.env["NODE_DISABLE_COMPILE_CACHE"] !== undefined)
    return (name) => require(`./${name}`) as Exports
  const { load, save } = withCache(folder, join(cache, `${process.version}-${cachedDataVersionTag()}`), require)
  // At the end, because V8 has then compiled the functions that a run needs.
  process.once("exit", save)
  return load
}

/** And not Bun or Deno, which have no compiled code of V8 for scripts, or none at all. */
const isNode = !("bun" in process.versions || "deno" in process.versions)

const debug = debuglog("compile-cache")

/** The function in which a file of CommonJS runs. */
type Body = (exports: Exports, require: (id: string) => unknown, module: { exports: Exports }, path: string) => void

/** `require`: for everything outside the folder. `save` returns the names of the files whose code it has written. */
export const withCache = (folder: string, cache: string, require: (id: string) => unknown) => {
  const modules = new Map<string, { exports: Exports }>()
  /** Files that need their code kept, with the hash of their text: V8 has the text itself. */
  const compiled = new Map<string, { readonly script: Script; readonly hash: Hash }>()
  const load = (name: string): Exports => {
    const known = modules.get(name)
    if (known !== undefined) return known.exports
    const module: { exports: Exports } = { exports: {} }
    modules.set(name, module)
    const filename = join(folder, name)
    // The build writes ASCII, which needs no decoding.
    const text = readFileSync(filename)
    const hash = createHash("sha256").update(text)
    const cachedData = codeOf(join(cache, name), hash)
    const script = new Script(`(function (exports, require, module, __filename) {${text.toString("latin1")}\n})`, {
      filename,
      ...(cachedData === undefined ? {} : { cachedData })
    })
    const isAccepted = script.cachedDataRejected === false
    debug("%s: %s", name, isAccepted ? "accepted" : "compiled")
    if (!isAccepted) compiled.set(name, { script, hash })
    const body = script.runInThisContext() as Body
    body(module.exports, (id) => (id.startsWith("./") ? load(id.slice(2)) : require(id)), module, filename)
    return module.exports
  }
  const save = () => {
    const written: Array<string> = []
    for (const [name, { hash, script }] of compiled) {
      const code = script.createCachedData()
      if (!write(cache, name, [withCode(hash, code), code])) break
      written.push(name)
    }
    return written
  }
  return { load, save }
}

const withCode = (text: Hash, code: Buffer): Buffer => text.copy().update(code).digest()

/** The code that was kept for this text, if there is any. */
const codeOf = (path: string, text: Hash): Buffer | undefined => {
  try {
    const kept = readFileSync(path)
    const code = kept.subarray(32)
    return withCode(text, code).equals(kept.subarray(0, 32)) ? code : undefined
  } catch {
    return undefined
  }
}

/** False if the folder cannot be written. Another process or thread may write the same file, so each writes one of its own and renames it. */
const write = (folder: string, name: string, parts: ReadonlyArray<Buffer>): boolean => {
  const path = join(folder, name)
  const draft = `${path}.${process.pid}-${threadId}`
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 })
    writeFileSync(draft, Buffer.concat(parts))
    renameSync(draft, path)
    return true
  } catch {
    return false
  }
}
