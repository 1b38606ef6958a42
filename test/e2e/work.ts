/** Jobs as that suite makes them: two pods at once, four to succeed, and what becomes of each pod. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Job, Pod } from "../../src/kube/resources.ts"
import * as Harness from "./harness.ts"

export const succeeds = ["true"]
export const fails = ["false"]
export const endure = ["sleep", "1000000"]

/** Lets a pod's container end with that code from now on, whatever its command is: simulated machines read it there, since no shell is run. */
export const exit = (pod: Pod, code: number) =>
  Harness.patch(Pod, pod.metadata.name, { metadata: { annotations: { "simulation/exit": `main=${code}` } } })

/** How long that suite waits for a Job. */
export const timeout = "15 minutes"

export const job = (command: ReadonlyArray<string>, spec: object = {}, pod: object = {}, metadata: object = {}) => ({
  metadata: { name: "work", ...metadata },
  spec: {
    parallelism: 2,
    completions: 4,
    template: { spec: Harness.spec("work:1", command, { restartPolicy: "Never", ...pod }) },
    ...spec
  }
})

export const podsOf = Harness.list(Pod, "job-name=work")

/** Waits until a condition holds for that reason. */
export const condition = (type: string, reason: string) =>
  Harness.until(
    Effect.map(Harness.get(Job, "work"), ({ status }) =>
      assert.deepInclude(
        status?.conditions?.find((one) => one.type === type),
        { status: "True", reason }
      )
    ),
    timeout
  )
