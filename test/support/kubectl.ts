/** kubectl with a kubeconfig, in a home directory of its own. */
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import * as Process from "./process.ts"

/** Takes arguments, split at blanks, and standard input; returns the output. Fails unless the command exits with 0. */
export type Kubectl = (line: string, input?: string | object) => Effect.Effect<string>

export const make = Effect.fnUntraced(function* (kubeconfig: string) {
  const home = yield* Process.folder
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: home, KUBECONFIG: kubeconfig }
  const kubectl: Kubectl = (line, input = "") =>
    Effect.promise(
      () =>
        new Promise<string>((resolve, reject) => {
          const child = execFile("kubectl", line.split(" "), { env }, (error, stdout, stderr) =>
            error === null ? resolve(stdout) : reject(new Error(`kubectl ${line}: ${stderr}${stdout}`))
          )
          child.stdin?.end(typeof input === "string" ? input : JSON.stringify(input))
        })
    )
  return kubectl
})
