import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Change } from "../../../src/cli/create/diff.ts"
import * as Write from "../../../src/cli/create/write.ts"
import * as Bundle from "../../support/bundle.ts"
import * as Process from "../../support/process.ts"
import { filesIn } from "./drafts.ts"
import { changes, old } from "./killed.ts"

const nothing = (): void => {}

/** A folder with the old files. */
const project = Effect.map(Process.folder, (folder) => {
  for (const [path, text] of Object.entries(old)) {
    mkdirSync(join(folder, path, ".."), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
})

const sorted = (entries: ReadonlyArray<readonly [string, string]>): ReadonlyMap<string, string> =>
  new Map(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))

const before = sorted(Object.entries(old))
const after = sorted([...new Map([...before, ...changes.map(({ path, text }) => [path, text] as const)])])

/** Fails or stops at the n-th call, from 1. */
const at = (n: number, end: () => Promise<never>): { readonly files: Write.Files; readonly calls: () => number } => {
  let count = 0
  const wrap =
    <A extends ReadonlyArray<string>, B>(work: (...args: A) => Promise<B>) =>
    (...args: A): Promise<B> =>
      ++count === n ? end() : work(...args)
  const { mkdir, remove, removeEmpty, rename, writeFile } = Write.files
  return {
    calls: () => count,
    files: {
      mkdir: wrap(mkdir),
      writeFile: wrap(writeFile),
      rename: wrap(rename),
      remove: wrap(remove),
      removeEmpty: wrap(removeEmpty)
    }
  }
}

const full = () => Promise.reject(new Error("ENOSPC: no space left on device"))

/** How many calls a whole run makes. */
const steps = (work: (folder: string, files: Write.Files) => Effect.Effect<unknown, Write.CreateFailed>) =>
  Effect.gen(function* () {
    const { calls, files } = at(0, full)
    yield* work(yield* project, files)
    return calls()
  })

const write = (folder: string, files: Write.Files) => Write.inProject(folder, changes, nothing, files)

describe("changes of a project", () => {
  it.effect("are written, new folders too, and leave nothing else", () =>
    Effect.gen(function* () {
      const folder = yield* project
      yield* Write.inProject(folder, changes, nothing)
      assert.deepStrictEqual(filesIn(folder), after)
      assert.isFalse(yield* Write.recover(folder))
    }).pipe(Effect.scoped)
  )

  it.effect("leave the project as it was when any single step fails, until all files are written", () =>
    Effect.gen(function* () {
      const total = yield* steps(write)
      assert.isAbove(total, 15)
      for (let step = 1; step <= total; step++) {
        const folder = yield* project
        const error = yield* Effect.flip(write(folder, at(step, full).files))
        assert.match(error.message, /^cannot use .*: ENOSPC/)
        yield* Write.recover(folder)
        // The last steps remove the journal.
        assert.deepStrictEqual(filesIn(folder), step === total ? after : before, `step ${step} of ${total}`)
        assert.deepStrictEqual(readdirSync(folder).sort(), [
          ...new Set([...filesIn(folder).keys()].map((path) => path.split("/")[0]))
        ])
      }
    }).pipe(Effect.scoped)
  )

  it.effect("are undone by the next create when the process ends at any step, and stay when it ends after that", () =>
    Effect.gen(function* () {
      const total = yield* steps(write)
      for (let step = 1; step <= total; step++) {
        const folder = yield* project
        // As for a killed process, nothing of it runs after this step.
        yield* Effect.promise(
          () =>
            new Promise<void>((stopped) => {
              const never = () => {
                stopped()
                return new Promise<never>(nothing)
              }
              void Effect.runPromise(write(folder, at(step, never).files))
            })
        )
        yield* Write.recover(folder)
        assert.deepStrictEqual(filesIn(folder), step === total ? after : before, `step ${step} of ${total}`)
        yield* Write.inProject(folder, changes, nothing)
        assert.deepStrictEqual(filesIn(folder), after)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("stay half written only until the next create after SIGKILL", () =>
    Effect.gen(function* () {
      const program = yield* Bundle.make("test/cli/create/killed.ts")
      const seen = new Set<string>()
      for (let step = 1; step <= 24; step += 3) {
        const folder = yield* project
        const { signal } = spawnSync(process.execPath, [program, folder, String(step)])
        assert.strictEqual(signal, "SIGKILL", `step ${step}`)
        const isUnfinished = existsSync(join(folder, ".create-journal"))
        yield* Write.recover(folder)
        const now = filesIn(folder)
        const isDone = JSON.stringify([...now]) === JSON.stringify([...after])
        assert.isTrue(isDone || JSON.stringify([...now]) === JSON.stringify([...before]), `step ${step}`)
        seen.add(isUnfinished ? "undone" : isDone ? "written" : "not begun")
      }
      assert.include([...seen], "undone")
      assert.include([...seen], "not begun")
    }).pipe(Effect.scoped)
  )

  it.effect("keep a file that was changed after the interruption", () =>
    Effect.gen(function* () {
      const folder = yield* project
      mkdirSync(join(folder, ".create-journal"))
      const listed = {
        files: [
          { path: "src/main.ts", isNew: false },
          { path: "src/new.ts", isNew: true }
        ],
        folders: []
      }
      const entries = { "changes.json": JSON.stringify(listed), "0.new": "new", "0.old": "old", "1.new": "new" }
      for (const [name, text] of Object.entries(entries)) writeFileSync(join(folder, ".create-journal", name), text)
      writeFileSync(join(folder, "src/new.ts"), "new, and mine")
      assert.isTrue(yield* Write.recover(folder))
      assert.deepStrictEqual(filesIn(folder), sorted([...before, ["src/new.ts", "new, and mine"]]))
    }).pipe(Effect.scoped)
  )

  it.effect("are never undone outside the project", () =>
    Effect.gen(function* () {
      const folder = yield* project
      for (const path of ["../outside", "/etc/hostname", "a/../../b", 1]) {
        mkdirSync(join(folder, ".create-journal"), { recursive: true })
        writeFileSync(
          join(folder, ".create-journal/changes.json"),
          JSON.stringify({ files: [{ path, isNew: true }], folders: [] })
        )
        const error = yield* Effect.flip(Write.recover(folder))
        assert.match(error.message, /it is damaged; remove it/)
      }
    }).pipe(Effect.scoped)
  )
})

describe("a new project", () => {
  const all = Object.entries(old).map(([path, text]): Change => ({ path, text, before: undefined }))

  it.effect("is there with all its files or not at all, and nothing is left beside it", () =>
    Effect.gen(function* () {
      const make = (folder: string, files: Write.Files) => Write.asProject(join(folder, "new"), all, nothing, files)
      const total = yield* steps(make)
      for (let step = 1; step <= total; step++) {
        const folder = yield* Process.folder
        yield* Effect.flip(make(folder, at(step, full).files))
        assert.deepStrictEqual(readdirSync(folder), [], `step ${step}`)
        yield* make(folder, Write.files)
        assert.deepStrictEqual(filesIn(join(folder, "new")), before)
        assert.deepStrictEqual(readdirSync(folder), ["new"])
      }
    }).pipe(Effect.scoped)
  )
})
