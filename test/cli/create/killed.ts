/** Changes a project and kills its own process at the n-th change of a file: with the arguments FOLDER and N. Also the project and its changes. */
import * as Effect from "effect/Effect"
import process from "node:process"
import type { Change } from "../../../src/cli/create/diff.ts"
import * as Write from "../../../src/cli/create/write.ts"

export const old: Readonly<Record<string, string>> = {
  "package.json": "{}\n",
  "src/main.ts": "run()\n",
  "test/a.test.ts": "it()\n"
}

export const changes: ReadonlyArray<Change> = [
  { path: "src/main.ts", before: old["src/main.ts"], text: "run(1)\n" },
  { path: "src/new.ts", before: undefined, text: "new\n" },
  { path: "src/deep/er/new.ts", before: undefined, text: "new\n" },
  { path: "test/a.test.ts", before: old["test/a.test.ts"], text: "it(1)\n" }
]

const [, , folder, step] = process.argv

if (folder !== undefined && step !== undefined && /^\d+$/.test(step)) {
  let count = 0
  const counted =
    <A extends ReadonlyArray<string>, B>(work: (...args: A) => Promise<B>) =>
    (...args: A): Promise<B> => {
      if (++count === Number(step)) process.kill(process.pid, "SIGKILL")
      return work(...args)
    }
  const { mkdir, remove, removeEmpty, rename, writeFile } = Write.files
  const files: Write.Files = {
    mkdir: counted(mkdir),
    writeFile: counted(writeFile),
    rename: counted(rename),
    remove: counted(remove),
    removeEmpty: counted(removeEmpty)
  }
  await Effect.runPromise(Write.inProject(folder, changes, () => {}, files))
}
